"""Layers are put into the model after the optimizer was built.

An optimizer holds the parameters that it was given, not the model. A head that is replaced, an adapter that
is added or an embedding that is enlarged later is in the model and in no optimizer: it gets gradients, and
keeps its random values. The optimizer goes on updating layers that are gone.

Fix: change the model first and build the optimizer last, or use optimizer.add_param_group.

Cannot see: models that are changed through names that are not resolved, or by libraries other than those
that it knows (peft, resize_token_embeddings).

Bad:
    import torch
    from torch import nn
    from torchvision import models

    def main(loader):
        model = models.resnet18(weights="DEFAULT")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model.fc = nn.Linear(512, 5)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

Bad (in a trainer, through a helper):
    import torch
    from torch import nn

    def new_head(model, classes):
        model.head = nn.Linear(64, classes)

    class Trainer:
        def __init__(self, model, classes):
            self.model = model
            self.optimizer = torch.optim.Adam(self.model.parameters())
            new_head(self.model, classes)

Good:
    import torch
    from torch import nn
    from torchvision import models

    def main(loader):
        model = models.resnet18(weights="DEFAULT")
        model.fc = nn.Linear(512, 5)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model.fc.weight.data.zero_()
        model = model.cuda()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

Good (told to the optimizer; a layer without parameters):
    import torch
    from torch import nn

    def grow(model, data):
        optimizer = torch.optim.Adam(model.parameters())
        model.extra = nn.Linear(4, 4)
        model.act = nn.ReLU()
        optimizer.add_param_group({"params": model.extra.parameters()})
        return optimizer
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Block,
    Built,
    Event,
    Expr,
    Index,
    Instance,
    Spot,
    Target,
    built_optimizers,
    encloses,
    is_sibling,
    mentions,
    owns_parameters,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "optimizer-before-replacement",
    "optimizer",
    "error",
    "parameter_table",
    suspects=("optimizer-misses-parameters",),
    claims=("updates-not-applied", "frozen-layers"),
)
_GROWING = ("get_peft_model", "inject_adapter_in_model", "prepare_model_for_kbit_training")


def check(index: Index) -> Iterator[Finding]:
    for built in built_optimizers(index):
        yield _examined(index, built)


def _examined(index: Index, built: Built) -> Finding:
    function, path, line = built.site.function, built.site.function.path, built.site.call.line
    owned = [one for one, where in built.owned if where is function]
    here = built.site.event.block
    anew: dict[str, list[Block]] = {one: [] for one in owned}  # where another is made under the name
    for position in range(built.site.position + 1, len(function.events)):
        event = function.events[position]
        if is_sibling(event.block, here):
            continue
        if _tells_optimizer(event):
            break
        same = [one for one in owned if not any(encloses(block, event.block) for block in anew[one])]
        for what, made in _changes(index, event, Spot(function, position), same):
            if not _is_followed_by_optimizer(built, position) and not _has_one_of_its_own(index, what):
                return _failure(built, Spot(function, position), what, made)
        for one in same:
            if _is_made_anew(event, one):
                anew[one].append(event.block)
    if not owned:
        return SAY.open(path, line, f"which modules {written(built.site.call)} owns is not resolved: {built.why}")
    return SAY.passed(path, line, f"nothing is put into {', '.join(owned)} after its optimizer was built")


def _is_made_anew(event: Event, path: str) -> bool:
    """After it the path, or what it begins with, surely names another thing: the next model of a notebook."""
    names = [one.text for one in event.targets if event.kind == "assign" and f"{path}.".startswith(f"{one.text}.")]
    return bool(names) and event.value is not None and not mentions(event.value, names)


def _tells_optimizer(event: Event) -> bool:
    return any(call.last == "add_param_group" for call in event.calls)


def _changes(index: Index, event: Event, spot: Spot, owned: list[str]) -> Iterator[tuple[str, Expr]]:
    """(path, what is put there): parts of an owned module that are set to a fresh layer, or that grow."""
    for target in event.targets if event.kind == "assign" else ():
        if target.kind == "path" and event.value is not None and target.text != spot.function.self_name:
            if any(target.text.startswith(f"{one}.") for one in owned) and _is_fresh(index, event.value, spot):
                yield target.text, event.value
    for call in event.calls:
        receiver = call.receiver
        if call.last == "resize_token_embeddings" and receiver is not None and receiver.text in owned:
            yield receiver.text, call
        elif call.last in _GROWING and call.arguments and call.arguments[0].text in owned:
            yield call.arguments[0].text, call
        elif any(part.kind == "path" and part.text in owned for part in (*call.arguments, receiver) if part):
            yield from _changed_by(index, call, spot, owned)


def _changed_by(index: Index, call: Expr, spot: Spot, owned: list[str]) -> Iterator[tuple[str, Expr]]:
    """A helper that puts a fresh layer into the model that it is given, or a method of the model."""
    for target in index.calling.targets(call, spot):
        if not isinstance(target, Target) or target.function.name == "__init__":
            continue
        for position, event in enumerate(target.function.events):
            for one in event.targets if event.kind == "assign" and event.value is not None else ():
                head = one.text.partition(".")[0] if one.kind == "path" and "." in one.text else ""
                given = index.flow.given(target.function, call, head, target.owner is not None) if head else None
                given = call.receiver if head and head == target.function.self_name else given
                inside = Spot(target.function, position)
                if given is not None and given.text in owned and event.value is not None:
                    if _is_fresh(index, event.value, inside):
                        yield f"{given.text}.{one.text.partition('.')[2]}", event.value


def _is_fresh(index: Index, value: Expr, spot: Spot) -> bool:
    """Surely a layer with parameters that is made right there."""
    things = index.objects.of(value, spot)
    return bool(things) and all(
        isinstance(thing, Instance)
        and thing.call is not None
        and thing.call.line >= value.line
        and thing.spot is not None
        and thing.spot.function is spot.function
        and (thing.name.endswith("nn.Parameter") or owns_parameters(index, thing))
        for thing in things
    )


def _is_followed_by_optimizer(built: Built, position: int) -> bool:
    """Another optimizer is built, or a function that may do so is called, after the change."""
    names = {built.name.rpartition(".")[2]} - {""}
    for event in built.site.function.events[position:]:
        if event.kind == "assign" and any(target.last in names for target in event.targets):
            return True
        if any(call.last == "add_param_group" or "optim" in call.last.lower() for call in event.calls):
            return True
    return False


def _has_one_of_its_own(index: Index, what: str) -> bool:
    """Somewhere the parameters of a thing of that name are asked for by themselves, most likely for an optimizer."""
    owner, _, last = what.rpartition(".")
    sites = index.calls("parameters", "named_parameters")
    return bool(owner) and any(one.call.receiver is not None and one.call.receiver.last == last for one in sites)


def _failure(built: Built, spot: Spot, what: str, made: Expr) -> Finding:
    path, line = spot.function.path, spot.line
    chain = (
        Link(path, built.site.call.line, f"{written(built.site.call)} takes the parameters that are there"),
        Link(path, line, f"{what} gets new ones: {written(made)}"),
    )
    message = (
        f"{what} at {path}:{line} gets new parameters ({written(made)}) after the optimizer was built at line "
        f"{built.site.call.line}: they are in the model and in no optimizer; expected the optimizer last."
    )
    return SAY.fail(path, line, message, chain)
