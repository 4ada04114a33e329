"""Options that say nothing until they are given, where a field then stays what it is: if args.epochs: config.epochs = args.epochs"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from trainsleuth.facts import Event, Expr

from ...program import Program
from ..records import Definition
from ..use.reads import subscripts

_NOTHING = ("0", "0.0", "None", "", "False")


def kept_fields(program: Program, defined: Sequence[Definition], given: Collection[str]) -> frozenset[Definition]:
    """Those that are not `given`, and that all code hands to a field of the same name, under a test of themselves."""
    fields = {one.name.rpartition(".")[2] for one in defined if one.group}
    options = [one for one in defined if one.flags and not one.group and one.value in _NOTHING and one.name in fields]
    open_ = {one.name: one for one in options if one.name not in given and not any(flag in given for flag in one.flags)}
    if not open_:
        return frozenset()
    filled: set[str] = set()
    read: set[str] = set()
    says = re.compile(rf"\.(?:{'|'.join(map(re.escape, open_))})\b".encode())
    for function in (function for function, _ in program.functions() if function.source.holds(says)):
        for event in function.events:
            if not (path := _handed(event)):
                read.update(_read(event))
            elif any(subscripts(target).rpartition(".")[2] == path.rpartition(".")[2] for target in event.targets):
                filled.add(path)
    return frozenset(open_[last] for path in filled - read if (last := path.rpartition(".")[2]) in open_)


def _handed(event: Event) -> str:
    """ "args.epochs" of if args.epochs: config.epochs = args.epochs"""
    value = event.value
    if event.kind != "assign" or value is None or value.kind != "path" or "." not in value.text:
        return ""
    into = all("." in subscripts(target) and target.text != value.text for target in event.targets)
    return value.text if into and any(_tests(branch.test, value.text) for branch in event.block.branches) else ""


def _tests(test: Expr | None, path: str) -> bool:
    """args.epochs, args.epochs is not None"""
    if test is None:
        return False
    is_compared = test.kind == "compare" and test.text in ("is not", "!=", ">")
    asked = test.parts[0] if is_compared and test.parts else test
    return asked.kind == "path" and asked.text == path


def _read(event: Event) -> Iterator[str]:
    """What a statement reads besides as its own test."""
    exprs = [*event.targets, *((event.value,) if event.value is not None else ())]
    for part in (part for expr in exprs for part in expr.walk() if part.kind == "path"):
        if event.kind != "if" or event.value is None or not _tests(event.value, part.text):
            yield part.text
