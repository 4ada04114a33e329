"""The statements that read a setting, as far as they stand in code that was read."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Function, Index

from ...configuration import Key
from ...drawing.statements import enclosing, event_at


def readers(index: Index, key: Key) -> Iterator[tuple[Function, Event]]:
    """Each with the function around it."""
    for use in key.reads:
        function = enclosing(index.files[use.path], use.line) if use.path in index.files else None
        found = event_at(function, use.line) if function is not None else None
        if function is not None and found is not None:
            yield function, found[1]
