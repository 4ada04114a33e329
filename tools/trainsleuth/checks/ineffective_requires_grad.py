"""A line that means to freeze or thaw parameters has no effect.

Python lets any attribute be set: `p.require_grad = False` makes a new attribute that nobody reads, and
`model.requires_grad = False` sets a flag on the module that its parameters never see. Nothing fails; the
layers that were to stay fixed are trained along.

Fix: `p.requires_grad = False` for each parameter, or `model.requires_grad_(False)`.

Cannot see: modules that are not resolved, names that are built at run time.

Bad:
    import torch
    from torch import nn

    backbone = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    for p in backbone.parameters():
        p.require_grad = False

Bad (the flag is set on a module):
    from torch import nn

    class Tuner(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(8, 8)
            self.head = nn.Linear(8, 2)
            self.encoder.requires_grad = False

        def forward(self, x):
            return self.head(self.encoder(x))

Good:
    from torch import nn

    backbone = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    for p in backbone.parameters():
        p.requires_grad = False

Good (whole modules, single tensors, an attribute of one's own):
    import torch
    from torch import nn

    class Tuner(nn.Module):
        def __init__(self, needs_grad, requires_grad=False):
            super().__init__()
            self.encoder = nn.Linear(8, 8)
            self.encoder.requires_grad_(requires_grad)
            self.encoder.weight.requires_grad = True
            self.needs_grad = needs_grad
            self._requires_grad = requires_grad

        def forward(self, x):
            x = x if torch.is_tensor(x) else torch.tensor(x)
            x.requires_grad = self.needs_grad
            return self.encoder(x)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from trainsleuth.facts import Event, Expr, Function, Index, Instance, Spot, is_module, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "ineffective-requires-grad",
    "optimizer",
    "error",
    "parameter_table",
    suspects=("freeze-without-effect",),
    claims=("frozen-layers",),
)
_OF_TENSORS = ("ParameterDict", "ParameterList")  # a name may stand for one of what they hold
_LIKE = re.compile(rb"req\w*gr")
_ALIKE = 0.84  # of difflib: requires_gradient and required_grad are above, requires and needs_grad below


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_LIKE):
        if not is_test(function.path):
            for position, event in enumerate(function.events):
                for what, value in _set(event):
                    yield _examined(index, Spot(function, position), what, value)


def _set(event: Event) -> Iterator[tuple[Expr, Expr | None]]:
    """Attributes that are set, or were meant to be, and that are called requires_grad or nearly so."""
    for target in event.targets if event.kind == "assign" else ():
        if target.kind in ("path", "attr") and target.receiver is not None and _is_like(target.last):
            yield target, event.value
    value = event.value
    if event.kind == "expression" and value is not None and value.kind == "compare" and value.text == "==":
        if value.parts[0].kind in ("path", "attr") and value.parts[0].last == "requires_grad":
            yield value, value.parts[1]
    for call in event.calls:
        named = call.argument(1) if call.callee == "setattr" else None
        if named is not None and named.kind == "string" and _is_like(named.text):
            yield Expr("attr", named.text, (call.arguments[0],), call.line), call.argument(2)


def _is_like(name: str) -> bool:
    return "gr" in name and "req" in name and SequenceMatcher(None, name, "requires_grad").ratio() > _ALIKE


def _examined(index: Index, spot: Spot, what: Expr, value: Expr | None) -> Finding:
    path, line, shown = spot.function.path, spot.line, written(what)
    if what.kind == "compare":
        return _failure(spot, f"{shown} compares and sets nothing", "one = instead of two")
    if what.last != "requires_grad":
        if value is not None and value.kind not in ("constant", "compare", "unary", "path"):
            return SAY.passed(path, line, f"{shown} is not set to a flag")
        if value is not None and _sets_itself(spot.function, what.receiver) and spot.function.parameter(value.text):
            return SAY.passed(path, line, f"{shown} keeps an argument")
        if _is_read(index, what.last):
            return SAY.passed(path, line, f"{what.last} is an attribute of this project's own")
        if value is not None and value.text == "False" and _needs_none(index, what.receiver, spot):
            return SAY.passed(path, line, f"{shown} is never read, and what it is set on needs no gradient anyway")
        said = f"{shown} is an attribute that torch never reads"
        return _failure(spot, said, "requires_grad", _is_parameter(index, what.receiver, spot))
    owner = what.receiver
    things = index.objects.of(owner, spot) if owner is not None else ()
    modules = [thing for thing in things if isinstance(thing, Instance) and is_module(index, thing)]
    modules = [module for module in modules if not module.name.endswith(_OF_TENSORS)]
    if modules and len(modules) == len(things) and not _sets_itself(spot.function, owner):
        said = f"{shown} sets a flag on the module {modules[0].name.rpartition('.')[2]}, not on its parameters"
        return _failure(spot, said, f"{written(owner)}.requires_grad_(...)" if owner else "requires_grad_()")
    return SAY.passed(path, line, f"{shown} is set on a tensor, as far as can be seen")


def _needs_none(index: Index, owner: Expr | None, spot: Spot) -> bool:
    """A tensor made of plain numbers: a table of positions is not trained in any case."""
    return owner is not None and all(value.grad == "constant" for value in index.values.of(owner, spot))


def _sets_itself(function: Function, owner: Expr | None) -> bool:
    """A module with a property of that name of its own."""
    return owner is not None and owner.text == function.self_name


def _is_read(index: Index, name: str) -> bool:
    return any(
        part.kind in ("path", "attr") and part.last == name
        for function in index.functions_holding(re.compile(re.escape(name).encode()))
        for event in function.events
        if event.value is not None
        for part in event.value.walk()
    )


def _is_parameter(index: Index, owner: Expr | None, spot: Spot) -> bool:
    """It surely belongs to a module: one of its parameters(), its .weight, or itself."""
    if owner is None or owner.last in ("weight", "bias"):
        return owner is not None
    loops = (spot.function.loops[place] for place in spot.function.events[spot.position].block.loops)
    sources = [loop.source for loop in loops if loop.source is not None and loop.target is not None]
    if any(part.last in ("parameters", "named_parameters") for source in sources for part in source.walk()):
        return True
    things = index.objects.of(owner, spot)
    return any(
        isinstance(thing, Instance) and (thing.name.endswith("nn.Parameter") or is_module(index, thing))
        for thing in things
    )


def _failure(spot: Spot, said: str, better: str, is_sure: bool = True) -> Finding:
    path, line = spot.function.path, spot.line
    message = f"{said}, at {path}:{line}: what it means to freeze or thaw stays as it was; expected {better}."
    if not is_sure:
        message += " Where it is a plain tensor that nothing trains, nothing is lost."
        return SAY.fail(path, line, message, (Link(path, line, said),), "low", "note")
    return SAY.fail(path, line, message, (Link(path, line, said),))
