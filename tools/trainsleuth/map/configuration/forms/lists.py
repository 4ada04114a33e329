"""Items of a list, which a flat table holds one by one, as one value again: betas.0, betas.1 are betas = [0.8, 0.99]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from ...recipe.recipes import Setting

_ITEM = re.compile(r"^(.*?)((?:\.\d+)+)$")
_HOLDS_TABLE = re.compile(r"\.\d+\.(?=[^\d.])")


def together(settings: Iterable[Setting]) -> Iterator[Setting]:
    """The settings, each list of plain values as one; not the plain ones of a list that holds tables, too."""
    every = list(settings)
    mixed = {(one.path, one.key[: match.start()]) for one in every for match in _HOLDS_TABLE.finditer(one.key)}

    def held(one: Setting) -> tuple[str, str]:
        name = _list_of(one.key)
        return one.path, one.key if (one.path, name) in mixed else name

    for (path, key), group in groupby(every, key=held):
        items = list(group)
        if key == items[0].key:
            yield from items
        else:
            yield Setting(path, items[0].line, key, _nested(items, len(key)))


def _list_of(key: str) -> str:
    match = _ITEM.match(key)
    return match[1] if match is not None and match[1] else key


def _nested(items: list[Setting], start: int) -> str:
    """[1, [2, 3]] of the keys .0, .1.0, .1.1 behind `start`."""
    if len(items) == 1 and len(items[0].key) == start:
        return items[0].value
    parts = []
    for number, group in groupby(items, key=lambda one: one.key[start + 1 :].partition(".")[0]):
        parts.append(_nested(list(group), start + 1 + len(number)))
    return f"[{', '.join(parts)}]"
