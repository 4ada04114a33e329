"""A target network or an average of the weights is the trained network itself, under a second name.

`target = net` gives one network two names. What was to stay behind moves with every step, and the update that
copies or averages the weights copies them onto themselves.

Fix: target = copy.deepcopy(net), or a second network with load_state_dict(net.state_dict()).

Cannot see: networks that are handed through functions, or held in lists and tables.

Bad:
    import torch
    from torch import nn

    def learn(batches):
        online = nn.Linear(4, 2)
        target = online
        optimizer = torch.optim.Adam(online.parameters())
        for step, (s, r, n) in enumerate(batches):
            with torch.no_grad():
                wished = r + 0.9 * target(n).max(1).values
            loss = (online(s).max(1).values - wished).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                target.load_state_dict(online.state_dict())

Bad (an average of the weights):
    import torch

    class Average:
        def __init__(self, model, decay=0.999):
            self.decay = decay
            self.model = model
            self.shadow = self.model

        @torch.no_grad()
        def update(self):
            for mine, theirs in zip(self.shadow.parameters(), self.model.parameters()):
                mine.lerp_(theirs, 1 - self.decay)

Good:
    import copy
    import torch
    from torch import nn

    def learn(batches):
        online = nn.Linear(4, 2)
        target = copy.deepcopy(online)
        optimizer = torch.optim.Adam(online.parameters())
        for step, (s, r, n) in enumerate(batches):
            with torch.no_grad():
                wished = r + 0.9 * target(n).max(1).values
            loss = (online(s).max(1).values - wished).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                target.load_state_dict(online.state_dict())
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, bindings, is_test
from trainsleuth.facts.reading.scopes import Binding
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "copy-that-is-none",
    "training-procedure",
    "error",
    "parameter_table",
    suspects=("another-loop-fault",),
    claims=("updates-not-applied",),
    sure=("",),
)
_LISTING = ("parameters", "named_parameters", "buffers")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if not is_test(function.path) and not function.called.isdisjoint(("load_state_dict", "zip")):
            for line, mine, theirs in _updates(function):
                yield _examined(index, function, line, mine, theirs)


def _updates(function: Function) -> Iterator[tuple[int, str, str]]:
    """(line, what is updated, from what): mine.load_state_dict(theirs.state_dict()), zip(mine.parameters(), theirs.parameters())"""
    for event in function.events:
        for call in event.calls:
            given = call.arguments[0] if len(call.arguments) == 1 else None
            if call.last == "load_state_dict" and given is not None and given.last == "state_dict":
                yield from _pair(call.line, call.receiver, given.receiver)
    for loop in function.loops:
        for call in loop.source.walk() if loop.source is not None else ():
            both = call.arguments if call.callee == "zip" else ()
            if len(both) == 2 and all(one.kind == "call" and one.last in _LISTING for one in both):
                yield from _pair(loop.line, both[0].receiver, both[1].receiver)


def _pair(line: int, mine: Expr | None, theirs: Expr | None) -> Iterator[tuple[int, str, str]]:
    if mine is not None and theirs is not None and mine.kind == theirs.kind == "path" and mine.text != theirs.text:
        yield line, mine.text, theirs.text


def _examined(index: Index, function: Function, line: int, mine: str, theirs: str) -> Finding:
    for name, other in ((mine, theirs), (theirs, mine)):
        found = list(_bound(index, function, name))
        last = found[-1:] if "." not in name else found  # methods may run in any order
        if not last or not all(_gives(scope, binding, other) for scope, binding in last):
            continue
        scope, binding = last[0]
        if "." not in other and scope is not function:
            return SAY.open(function.path, line, f"whether {name} is this {other} is for who makes it to say")
        return _failure(function, line, (name, other), scope, scope.events[binding.position].line)
    return SAY.passed(function.path, line, f"{mine} is not seen to be {theirs} under another name")


def _gives(scope: Function, binding: Binding, other: str) -> bool:
    """It binds the other name as it is, in every case."""
    value = binding.value if binding.kind == "assign" and not binding.items else None
    always = not scope.events[binding.position].block.branches
    return always and value is not None and value.kind == "path" and value.text == other


def _bound(index: Index, function: Function, name: str) -> Iterator[tuple[Function, Binding]]:
    """Where a name of the function, of its object or of its file gets its value, the first time and later."""
    cls = index.class_of(function)
    own = name.removeprefix(f"{function.self_name}.") if function.self_name else name
    if cls is not None and own != name and "." not in own:
        yield from index.hierarchy.attribute_bindings(cls, own)
    elif "." not in name and function.parameter(name) is None:
        here = bindings(function).get(name, ())
        yield from ((function, one) for one in here)
        body = index.files[function.path].body
        yield from ((body, one) for one in (bindings(body).get(name, ()) if not here and body is not function else ()))


def _failure(function: Function, line: int, names: tuple[str, str], scope: Function, bound: int) -> Finding:
    name, other = names
    chain = (
        Link(scope.path, bound, f"{name} is {other}, not a copy"),
        Link(function.path, line, "its weights are brought onto themselves"),
    )
    message = (
        f"{name} = {other} at {scope.path}:{bound} gives one network two names, so {name} moves with every step and the update at "
        f"{function.path}:{line} changes nothing; expected copy.deepcopy({other})."
    )
    return SAY.fail(scope.path, bound, message, chain)
