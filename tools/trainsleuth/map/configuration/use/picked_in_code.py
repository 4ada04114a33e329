"""What a table holds under the name that code gives a setting: args.net = "Tower", below which globals()[args.net]()."""

from __future__ import annotations

from trainsleuth.facts import Class, Function

from ..records import Key
from ..truth import Truth


def picked_in_code(truth: Truth, key: Key) -> Class | Function | None:
    """None where no table is asked by the key, or they hold different things under its value."""
    if key.source is None or key.source.how != "code":
        return None
    tables = (one for one in truth.program.tables if one.key == key.name and one.site is not None)
    held = {
        one.entries.get(key.value) for one in tables if one.site is not None and truth.program.is_reached(one.site[0])
    }
    found = held.pop() if len(held) == 1 else None
    return found if isinstance(found, Class | Function) else None
