"""Parameters that are frozen for good are given to an optimizer.

Handing a frozen module to an optimizer is no error: its parameters have no gradient and stay as they are.
Mostly it is a leftover, but it may also be that the module was meant to learn and is never thawed, so it is
asked as a question.

Fix: thaw the module when it should learn, or leave it out of the optimizer.

Cannot see: parameters that are thawed by a schedule or by a library, or through names that are not resolved.

Bad:
    import torch
    from torch import nn

    def main(loader):
        body, head = nn.Linear(8, 8), nn.Linear(8, 2)
        body.requires_grad_(False)
        optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()])
        return optimizer

Bad (frozen in a loop, in a class):
    import torch

    class Tuner:
        def __init__(self, encoder, decoder):
            self.encoder, self.decoder = encoder, decoder
            for p in self.encoder.parameters():
                p.requires_grad = False
            groups = [{"params": self.encoder.parameters(), "lr": 1e-5}, {"params": self.decoder.parameters()}]
            self.optimizer = torch.optim.AdamW(groups)

Good:
    import torch
    from torch import nn

    def main(loader):
        body, head = nn.Linear(8, 8), nn.Linear(8, 2)
        body.requires_grad_(False)
        return torch.optim.Adam(head.parameters())

Good (a teacher that is trained first):
    import torch
    from torch import nn

    def main(loader):
        teacher = nn.Linear(8, 2)
        optimizer = torch.optim.Adam(teacher.parameters())
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(teacher(x), y).backward()
            optimizer.step()
        for p in teacher.parameters():
            p.requires_grad_(False)
        return teacher

Good (thawed later; only some of its parameters frozen; those that need no gradient left out):
    import torch

    class Tuner:
        def __init__(self, encoder, other):
            self.encoder, self.other = encoder, other
            self.encoder.requires_grad_(False)
            for name, p in self.other.named_parameters():
                if "norm" in name:
                    p.requires_grad = False
            self.optimizer = torch.optim.AdamW([*self.encoder.parameters(), *self.other.parameters()])

        def unfreeze(self):
            for p in self.encoder.parameters():
                p.requires_grad = True
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Built, Function, Index, Switch, bindings, built_optimizers, never_meet, switches, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "frozen-in-optimizer",
    "optimizer",
    "note",
    "parameter_table",
    suspects=("frozen-parameters",),
    claims=("frozen-layers",),
)
_PLAIN = ("number", "string", "constant", "compare")
_NUMBERS = ("abs", "float", "int", "len", "max", "min", "round", "sum")


def check(index: Index) -> Iterator[Finding]:
    for built in built_optimizers(index):
        yield _examined(index, built)


def _examined(index: Index, built: Built) -> Finding:
    site = built.site
    path, line = site.function.path, site.call.line
    if not built.owned:
        return SAY.open(path, line, f"what {written(site.call)} owns is not resolved: {built.why}")
    near = _near(index, site.function)
    found = [switch for function in near for switch in switches(index, function)]
    for module, function in built.owned:
        off = [s for s in found if s.on is False and s.is_whole and s.path == module and s.spot.function in near]
        off = [s for s in off if not never_meet(s.spot, built.spot)]
        if (
            off
            and function in near
            and not _steps_before(built, off[0])
            and not _chooses(built)
            and not _has_new_layers(module, near)
            and not _is_thawed(index, module, found)
        ):
            return _failure(built, module, off[0])
    return SAY.passed(path, line, f"nothing that {written(site.call)} owns is seen to be frozen for good")


def _near(index: Index, function: Function) -> tuple[Function, ...]:
    """The function, or all methods of its class."""
    cls = index.class_of(function)
    return tuple(cls.methods.values()) if cls is not None else (function,)


def _steps_before(built: Built, off: Switch) -> bool:
    """It was trained first, and frozen after: a teacher."""
    function, line = built.site.function, built.site.call.line
    steps = (call.line for event in function.events for call in event.calls if call.last == "step")
    return off.spot.function is function and any(line < step < off.spot.line for step in steps)


def _has_new_layers(module: str, near: tuple[Function, ...]) -> bool:
    """Layers are put into it: whether those are frozen is a question of its own."""
    return any(
        binding.value is None or not (binding.value.kind in _PLAIN or binding.value.callee in _NUMBERS)
        for function in near
        for name, found in bindings(function).items()
        if name.startswith(f"{module}.")
        for binding in found
    )


def _chooses(built: Built) -> bool:
    """Only parameters with requires_grad are taken."""
    return any(
        part.last == "requires_grad"
        for event in built.site.function.events
        if event.value is not None
        for part in event.value.walk()
    )


def _is_thawed(index: Index, module: str, found: list[Switch]) -> bool:
    """Something turns it, or anything around or inside it, on again, here or by that name in the project."""
    last = module.rpartition(".")[2]
    if any(switch.on is not False and f"{module}.".startswith(switch.path) for switch in found):
        return True
    if any(switch.on is not False and switch.path.startswith(module) for switch in found):
        return True
    sites = index.calls("requires_grad_", "parameters", "named_parameters", "unfreeze", "freeze")
    functions = {site.function for site in sites if last in written(site.call)}
    return any(switch.on is not False for function in functions for switch in switches(index, function))


def _failure(built: Built, module: str, off: Switch) -> Finding:
    path, line = built.site.function.path, built.site.call.line
    chain = (
        Link(off.spot.function.path, off.spot.line, f"{module} is frozen"),
        Link(path, line, f"{written(built.site.call)} is given its parameters"),
    )
    message = (
        f"{module} is frozen at {off.spot.function.path}:{off.spot.line}, is never thawed, and is given to the "
        f"optimizer at {path}:{line}: should it learn?"
    )
    return SAY.fail(path, line, message, chain, "medium")
