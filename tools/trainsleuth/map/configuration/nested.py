"""Settings of a class that holds classes of settings: class Config: class optimizer: lr = 0.1 is optimizer.lr."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class

from ..networks import is_dataset, is_network
from ..program import Program
from .literals import is_literal, text_of
from .records import Definition


def nested(program: Program) -> Iterator[Definition]:
    """Of the classes that settings choose: what a class sets, before what it inherits."""
    chosen = (one for one in program.chosen if isinstance(one, Class))
    for cls in sorted(chosen, key=lambda one: (one.path, one.line)):
        if is_network(program.index, cls) or is_dataset(program.index, cls):
            continue
        found = [one for base in program.index.lineage(cls) for one in _of(program, base, base, "")]
        known: set[str] = set()
        for one in found if any("." in one.name for one in found) else ():
            if one.name not in known:
                known.add(one.name)
                yield one._replace(group=cls.name)


def _of(program: Program, top: Class, cls: Class, prefix: str) -> Iterator[Definition]:
    for event in cls.body.events:
        for target in event.targets if event.kind == "assign" and event.value is not None else ():
            if target.kind == "path" and "." not in target.text and event.value is not None and is_literal(event.value):
                yield Definition(
                    prefix + target.text, cls.path, event.line, text_of(event.value), (), "", top.name, how="file"
                )
    for inner in program.index.files[cls.path].classes.values():
        if inner.qualname == f"{cls.qualname}.{inner.name}" and not inner.methods:
            yield from _of(program, top, inner, f"{prefix}{inner.name}.")
