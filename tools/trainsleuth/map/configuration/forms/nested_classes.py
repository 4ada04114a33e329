"""Settings of a class that holds classes of settings: class Config: class optimizer: lr = 0.1 is optimizer.lr."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainsleuth.facts import Class, Index

from ...loop.networks import is_dataset, is_network
from ...recipe.recipes import Choice, Setting
from .literals import is_literal, text_of


def nested_settings(index: Index, chosen: Iterable[Choice]) -> Iterator[Setting]:
    """Of the classes that settings choose: what a class sets, before what it inherits."""
    for cls in dict.fromkeys(one.target for one in chosen if isinstance(one.target, Class)):
        if not is_network(index, cls) and not is_dataset(index, cls):
            known: dict[str, Setting] = {}
            for base in index.lineage(cls):
                for one in _of(index, base, ""):
                    known.setdefault(one.key, one)
            yield from known.values() if any("." in key for key in known) else ()


def _of(index: Index, cls: Class, prefix: str) -> Iterator[Setting]:
    for event in cls.body.events:
        value = event.value if event.kind == "assign" else None
        for target in event.targets if value is not None and is_literal(value) else ():
            if value is not None and target.kind == "path" and "." not in target.text:
                yield Setting(cls.path, event.line, prefix + target.text, text_of(value))
    for inner in index.files[cls.path].classes.values():
        if inner.qualname == f"{cls.qualname}.{inner.name}" and not inner.methods:
            yield from _of(index, inner, f"{prefix}{inner.name}.")
