"""An average of the weights is made and used, and nothing ever updates it.

AveragedModel and its like begin as a copy of the model and move only when they are told to, after each step of the
optimizer. Without it, what is evaluated or saved are the weights from before training.

Fix: average.update_parameters(model), or update(model), behind optimizer.step().

Cannot see: averages of the project's own classes, target networks that are copies, and averages that a library updates.

Bad:
    import torch
    from torch.optim.swa_utils import AveragedModel

    def train(model, loader, test_loader, loss_of):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        average = AveragedModel(model)
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
        average.eval()
        with torch.no_grad():
            return sum(loss_of(average(x), y).item() for x, y in test_loader)

Good:
    import torch
    from torch.optim.swa_utils import AveragedModel

    def train(model, loader, test_loader, loss_of):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        average = AveragedModel(model)
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
            average.update_parameters(model)
        average.eval()
        with torch.no_grad():
            return sum(loss_of(average(x), y).item() for x, y in test_loader)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index, Site, Spot, called, is_test, written
from trainsleuth.facts.training.steps import stepping
from trainsleuth.finding import Finding, Link

from ._uses import CALL, first_use, holder_of, library_above, mentions_of
from ._verdicts import Verdicts

SAY = Verdicts(
    "average-not-updated",
    "training-procedure",
    "error",
    "parameter_table",
    suspects=("another-loop-fault",),
    claims=("averaged-model-needs-updates",),
    sure=("",),
)
_UPDATES = {
    "torch.optim.swa_utils.AveragedModel": "update_parameters",
    "timm.utils.ModelEma": "update", "timm.utils.ModelEmaV2": "update", "timm.utils.ModelEmaV3": "update",
    "torch_ema.ExponentialMovingAverage": "update", "ema_pytorch.EMA": "update",
    "diffusers.training_utils.EMAModel": "step",
}  # fmt: skip
_ASKED = (
    CALL, "average_parameters", "copy_to", "cpu", "cuda", "decay", "ema", "ema_model", "eval", "forward", "module", "print",
    "requires_grad_", "restore", "save_pretrained", "state_dict", "store", "to", "train", "update_bn",
)  # fmt: skip
_BY_HAND = re.compile(rb"state_dict\(\)\.(?:values|items)|state_dict\(\)\[")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*{name.rpartition(".")[2] for name in _UPDATES}):
        if not is_test(site.function.path):
            name = called(index, site.call, Spot(site.function, site.position))
            if (update := _UPDATES.get(name)) is not None:
                yield _examined(index, site, name.rpartition(".")[2], update)


def _examined(index: Index, site: Site, name: str, update: str) -> Finding:
    path, line = site.function.path, site.call.line
    holder = holder_of(site)
    if holder is None:
        return SAY.open(path, line, f"{name} is handed on where it is made")
    if holder.function is None and (library := library_above(index, site.function)):
        return SAY.open(path, line, f"{library}, which its class is made of, may update it")
    if (use := first_use(index, holder, _ASKED)) is not None:
        return SAY.passed(path, line, f"{use.spot.function.path}:{use.expr.line} may update it")
    used = next(mentions_of(index, holder), None)
    if used is None:
        return SAY.passed(path, line, "nothing uses it")
    if index.files[used.spot.function.path].body.source.holds(_BY_HAND):
        return SAY.open(path, line, "tensors of a state are written by hand")
    step = next((one for one in stepping(index).values() if index.part(one.function.path) == index.part(path)), None)
    if step is None:
        return SAY.open(path, line, "no optimizer is seen to step")
    shown = written(site.event.targets[0])
    chain = (
        Link(path, line, f"{shown} is a copy of the model as it is here"),
        Link(step.function.path, step.call.line, f"{written(step.call)} moves the model"),
        Link(used.spot.function.path, used.expr.line, f"{shown} is used"),
    )
    message = (
        f"{shown} ({name}) at {path}:{line} is never updated, so what is used at {used.spot.function.path}:{used.expr.line} are the weights "
        f"from before training: expected {shown}.{update}(...) after {written(step.call)}."
    )
    return SAY.fail(path, line, message, chain)
