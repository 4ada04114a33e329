"""Methods by which a network does its work besides forward(): those that forward() calls, and those that others call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from trainsleuth.facts import Class, Function

from .program import Program

MOST = 3  # methods of one network
SHORT = 4  # lines of a method that says nothing of its own


def parts_of_forward(program: Program, cls: Class) -> Iterator[Function]:
    """self.encode(x) in forward(): longest first."""
    runs = program.index.method(cls, "forward")
    events = runs.events if runs is not None else ()
    names = (
        call.last
        for event in events
        for call in event.calls
        if runs is not None and call.receiver is not None and call.receiver.text == runs.self_name
    )
    found = (program.index.method(cls, name) for name in dict.fromkeys(names))
    own = [one for one in found if one is not None and one is not runs and one.end_line - one.line >= SHORT]
    yield from sorted(own, key=lambda one: one.line - one.end_line)[:MOST]


def asked_for(program: Program, networks: Iterable[Class]) -> Iterator[Function]:
    """Methods of a network that code outside of its class calls: policy.act(obs), policy.evaluate(obs)."""
    lineages = {cls: set(program.index.lineage(cls)) for cls in networks}
    found: dict[Class, dict[Function, None]] = {}
    for called in program.reached_calls:
        owner = program.index.class_of(called.function)
        for target in called.targets:
            home = program.index.class_of(target) if isinstance(target, Function) else None
            if home is None or not isinstance(target, Function) or target.name.startswith("__"):
                continue
            for cls, above in lineages.items():
                if home in above and owner not in above and target.end_line - target.line >= 2:
                    found.setdefault(cls, {})[target] = None
    for methods in found.values():
        yield from islice(methods, MOST)
