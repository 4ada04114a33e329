"""Subclasses that register by a name: @Base.register_subclass("act"), chosen by policy.type for a field `policy: Base`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index

from .tables import Entry, Table

_IS_FIELD = rb"(?m)^[ \t]+(\w+)[ \t]*:[^=\n#]*\b%s\b"


def subclass_tables(index: Index) -> Iterator[Table]:
    """One for each field that a registered base annotates."""
    found: dict[str, dict[str, Entry]] = {}
    for cls in index.classes():
        for decorator in cls.decorators:
            if decorator.last == "register_subclass" and decorator.receiver is not None and decorator.arguments:
                found.setdefault(decorator.receiver.last, {})[decorator.arguments[0].text] = cls
    for base, entries in found.items():
        field = re.compile(_IS_FIELD % base.encode())
        names = {name.decode() for cls in index.classes() for name in cls.body.source.found(field)}
        for name in sorted(names):
            yield Table(entries, f"{name}.type", base)
