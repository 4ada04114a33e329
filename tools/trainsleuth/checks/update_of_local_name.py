"""An update of parameters changes a local name, not the parameters.

In `for p, q in zip(a.parameters(), b.parameters()): p = ...` the assignment gives the name p a new tensor; the
parameter that it stood for stays as it was. An average of weights or a target network that is updated like
this never moves.

Fix: p.data.copy_(...), p.lerp_(...), or p.data = ... inside torch.no_grad().

Cannot see: updates in functions that get single parameters, names that are bound through other containers.

Bad:
    import torch

    @torch.no_grad()
    def update(average, model, decay):
        for a, p in zip(average.parameters(), model.parameters()):
            a = decay * a + (1 - decay) * p

Bad (over the state dict):
    import torch

    class EMA:
        def __init__(self, model, decay=0.999):
            self.decay = decay
            self.shadow = {k: v.clone() for k, v in model.state_dict().items()}

        def update(self, model):
            state = model.state_dict()
            for name, value in self.shadow.items():
                value = self.decay * value + (1 - self.decay) * state[name]

Good:
    import torch

    @torch.no_grad()
    def update(average, model, decay):
        for a, p in zip(average.parameters(), model.parameters()):
            p = p.detach()
            a.mul_(decay).add_(p, alpha=1 - decay)
        state = average.state_dict()
        for name, value in model.state_dict().items():
            value = value.float()
            state[name].copy_(value)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, Loop, is_test, mentions, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "update-of-local-name",
    "training-procedure",
    "error",
    "parameter_table",
    suspects=("another-loop-fault",),
    claims=("updates-not-applied",),
)
_VALUES = ("items", "values")
_SOURCES = frozenset(("parameters", "named_parameters", "state_dict", "buffers", "named_buffers", *_VALUES))
_PARAMETERS = re.compile(r"(^|\.)(parameters|named_parameters|state_dict|buffers|named_buffers)\(")
_KEPT = re.compile(r"shadow|ema|target|average|avg|state", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if not is_test(function.path) and not function.called.isdisjoint(_SOURCES):
            for loop in function.loops:
                if loop.kind == "for" and loop.target is not None and loop.source is not None and _is_over(loop.source):
                    yield _examined(function, loop)


def _is_over(source: Expr) -> bool:
    """The loop goes over parameters, or over the values of a state."""
    text = written(source, 200)
    if _PARAMETERS.search(text):
        return True
    return source.last in _VALUES and bool(_KEPT.search(text))


def _examined(function: Function, loop: Loop) -> Finding:
    names = {part.text for part in _values(loop) if part.kind == "path"}
    inside = [
        (position, event) for position, event in enumerate(function.events) if event.block.loops[-1:] == (loop.id,)
    ]
    for position, event in inside:
        name = _rebound(event, names)
        if name and not _is_used(function, loop, position, name):
            return _failure(function, loop, event, name)
    return SAY.passed(function.path, loop.line, "no parameter's name is given a new value in vain")


def _values(loop: Loop) -> Iterator[Expr]:
    """What of the loop's target holds tensors: of pairs of a name and a value, the value alone."""
    target, source = loop.target, loop.source
    if target is None or source is None:
        return
    if target.kind == "tuple" and (source.last == "items" or source.last.startswith("named_")):
        target = target.parts[-1]
    yield from target.walk()


def _rebound(event: Event, names: set[str]) -> str:
    """The loop's name that gets a value computed from itself; "" for any other event."""
    if event.kind != "assign" or event.value is None or event.value.kind not in ("binary", "call"):
        return ""
    for target in event.targets:
        if target.kind == "path" and target.text in names and _computes(event.value, target.text):
            return target.text
    return ""


def _computes(value: Expr, name: str) -> bool:
    """Arithmetic on the name itself, not its device, type or shape, and not in place."""
    if value.kind == "call" and (value.last.endswith("_") or value.keyword("out") is not None or _is_opaque(value)):
        return False
    arithmetic = [part for part in value.walk() if part.kind == "binary" and part.text in ("+", "-", "*", "/")]
    methods = [
        part for part in value.walk() if part.kind == "call" and part.last in ("add", "mul", "sub", "lerp", "mul_add")
    ]
    return any(mentions(part, [name]) for part in (*arithmetic, *methods))


def _is_opaque(call: Expr) -> bool:
    """A function that may change what it is given: neither of torch nor a method."""
    return "." not in call.callee and bool(call.callee)


def _is_used(function: Function, loop: Loop, position: int, name: str) -> bool:
    """The new value goes somewhere: read later in the round, or after the loop."""
    for event in function.events[position + 1 :]:
        if mentions(event.value, [name]) or any(
            mentions(target, [name]) for target in event.targets if target.text != name
        ):
            return True
    return False


def _failure(function: Function, loop: Loop, event: Event, name: str) -> Finding:
    path = function.path
    chain = (
        Link(path, loop.line, f"{name} stands for one parameter after the other"),
        Link(path, event.line, f"{name} gets a new tensor, and the parameter stays as it was"),
    )
    assert event.value is not None
    message = (
        f"{name} = {written(event.value)} at {path}:{event.line} gives the loop's name a new tensor and nothing uses it: the "
        f"parameter is not changed; expected {name}.data.copy_(...) or an in-place update."
    )
    return SAY.fail(path, event.line, message, chain)
