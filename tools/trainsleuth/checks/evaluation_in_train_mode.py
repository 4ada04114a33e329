"""A model is evaluated without eval().

In training mode dropout keeps dropping and batch normalisation uses the statistics of the batch, and updates
its running ones from the evaluation data: the score depends on the batch size, is a little too low, and the
evaluation leaks into the model. torch.no_grad() does not change the mode.

Question to answer: is the model in evaluation mode when the score is computed?

Fix: model.eval() before, model.train() after; torch.no_grad() around.

Cannot see: modes set by frameworks, models without dropout or batch normalisation in code that is not
resolved, evaluation code that is not named so and keeps no score without gradients.

Bad:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def evaluate(loader):
        right = 0
        with torch.no_grad():
            for x, y in loader:
                right += (model(x).argmax(1) == y).sum().item()
        return right

Bad (a method):
    import torch
    from torch import nn

    class Trainer:
        def __init__(self):
            self.net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.LazyLinear(2))

        def validate(self, loader):
            total = 0.0
            for x, y in loader:
                total += nn.functional.cross_entropy(self.net(x), y).item()
            return total

        def run(self, loader):
            return self.validate(loader)

Bad (another function of the file calls eval(), for a model of its own):
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))

        def forward(self, x):
            return self.layers(x)

    def check(loader, path, device):
        net = Net().to(device)
        net.load_state_dict(torch.load(path))
        correct = 0
        with torch.no_grad():
            for x, y in loader:
                correct += (net(x).argmax(1) == y).sum().item()
        print(correct)

    def predict(x, path):
        net = Net()
        net.load_state_dict(torch.load(path))
        net.eval()
        return net(x)

Good:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def evaluate(model, loader):
        right = 0
        with torch.no_grad():
            for x, y in loader:
                right += (model(x).argmax(1) == y).sum().item()
        return right

    def main(loader):
        model.eval()
        print(evaluate(model, loader))

Good (the mode is put back to what it was):
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def validate(model, loader):
        mode = model.training
        model.train(mode=False)
        right = 0
        with torch.no_grad():
            for x, y in loader:
                right += (model(x).argmax(1) == y).sum().item()
        model.train(mode=mode)
        return right

    def main(loader):
        print(validate(model, loader))
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Expr,
    Function,
    Index,
    Instance,
    Spot,
    bound_names,
    is_module,
    is_test,
    written,
)
from trainsleuth.finding import Finding, Link

from ._modes import modal_layer, reaches_eval
from ._verdicts import Verdicts

SAY = Verdicts(
    "evaluation-in-train-mode",
    "eval",
    "note",
    "modes",
    suspects=("eval-mode",),
    claims=("train-eval-mode", "no-grad-is-not-eval"),
)
_EVALUATING = re.compile(
    r"^_?(eval|evaluate|validate|validation|test|val|do_eval|run_eval)(_|$|uate|idat)", re.IGNORECASE
)
_SCORES = re.compile(r"(^|_)(correct|hits|accuracy|acc|f1|auc|confusion|conf_?mat)(_|$)", re.IGNORECASE)
_NO_GRAD = tuple(map(re.compile, (rb"no_grad", rb"inference_mode", rb"set_grad_enabled")))
_KEEPS_MODE = ("DataParallel", "DistributedDataParallel", "len", "print", "id", "type", "isinstance", "summary")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        is_named = bool(_EVALUATING.search(function.name))
        if is_test(function.path) or function.path.endswith("test.py") or not (is_named or _keeps_score(function)):
            continue
        for position, call, model in _forwards(index, function):
            if is_named or index.values.is_without_grad(Spot(function, position)):
                yield _examined(index, function, position, call, model)
                break


def _keeps_score(function: Function) -> bool:
    """It does something without gradients, and has a name for a score."""
    return any(map(function.source.holds, _NO_GRAD)) and any(
        _SCORES.search(name) for event in function.events for name in bound_names(event)
    )


def _forwards(index: Index, function: Function) -> Iterator[tuple[int, Expr, Instance]]:
    """Calls of a surely resolved model in a loop over data."""
    if any(effect.kind == "backward" for effect in index.effects.of(function)):
        return
    for position, event in enumerate(function.events):
        for call in event.calls if event.block.loops else ():
            things = index.objects.of(call.parts[0], Spot(function, position)) if call.callee else ()
            models = [t for t in things if isinstance(t, Instance) and t.call is not None and is_module(index, t)]
            if models and len(models) == len(things) and not models[0].name.endswith(("Loss", "loss")):
                yield position, call, models[0]


def _examined(index: Index, function: Function, position: int, call: Expr, model: Instance) -> Finding:
    path, line, shown = function.path, call.line, written(call.parts[0])
    layer = modal_layer(index, model)
    if layer is None:
        return SAY.passed(path, line, f"no dropout or batch normalisation was found in {shown}")
    if reaches_eval(index, path) and not _stays_as_made(index, function, call, model):
        if _switched(index, function, 3):
            return SAY.passed(path, line, f"{shown} is put into evaluation mode")
        return SAY.open(path, line, f"whether eval() is called before {function.name} is not resolved")
    chain = (
        layer,
        Link(path, function.line, f"{function.name} evaluates"),
        Link(path, line, f"{written(call)} runs in the mode that it is in"),
    )
    message = (
        f"{written(call)} at {path}:{line} evaluates a model with {layer.why} ({layer.path}:{layer.line}), and no eval() "
        "was found: is it in training mode? Expected eval() before and train() after."
    )
    return SAY.fail(path, line, message, chain, "medium")


def _stays_as_made(index: Index, function: Function, call: Expr, model: Instance) -> bool:
    """The function makes the model itself and loads its weights, switches no mode, and hands it to nobody who might."""
    cls, name = model.kind, call.callee
    if not isinstance(cls, Class) or model.spot is None or model.spot.function is not function:
        return False
    if set(index.external_bases(cls)) - {"object", "torch.nn.Module"} or _switched(index, function, 0):
        return False
    calls = [one for event in function.events for one in event.calls]
    if not any(one.callee.startswith(f"{name}.load") for one in calls):
        return False  # nothing that anybody wants to score: its weights are drawn
    if any("eval" in method.called for one in index.lineage(cls) for method in one.methods.values()):
        return False
    return not any(
        one.last not in _KEEPS_MODE and (part.parts[0] if part.kind == "keyword" else part).text == name
        for one in calls
        for part in one.parts[1:]
    )


def _switched(index: Index, function: Function, depth: int) -> bool:
    if any(effect.kind in ("eval", "train") for effect in index.effects.of(function)):
        return True
    return depth > 0 and any(_switched(index, caller.spot.function, depth - 1) for caller in index.callers(function))
