"""Methods by which a network does its work besides forward(): those that forward() calls, and those that others call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from trainsleuth.facts import Class, Function

from ..program import Program

MOST = 3  # methods of one network
SHORT = 4  # lines of a method that says nothing of its own


def own_called(program: Program, cls: Class, by: Iterable[Function], short: int) -> list[Function]:
    """Methods of a class, of `short` lines or more, that its methods `by` call on their own object, in the order of the calls."""
    by = list(by)
    names = (
        call.last
        for method in by
        for event in method.events
        for call in event.calls
        if call.receiver is not None and call.receiver.text == method.self_name
    )
    found = (program.index.method(cls, name) for name in dict.fromkeys(names))
    return [one for one in found if one is not None and one not in by and one.end_line - one.line >= short]


def parts_of_forward(program: Program, cls: Class) -> Iterator[Function]:
    """self.encode(x) in forward(): longest first."""
    runs = program.index.method(cls, "forward")
    own = own_called(program, cls, [runs], SHORT) if runs is not None else []
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
