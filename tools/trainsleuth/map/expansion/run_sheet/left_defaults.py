"""Defaults that this run reads and of which no topic of the sheet says a word, those that say something first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from ...configuration import Key, Truth
from ...drawing.wording import clean
from ..settings.sections import NOTHING, is_set
from .tails import Tails
from .told_keys import defaults_read, nearness, short
from .topics import TAGS

WIDTH = 48  # characters of one value
ROW = 240  # characters of one line
FIRST = 3  # lines before further places of the code
_ASIDE = re.compile(
    r"(?:^|[._])(?:version|url|port|rank|root|path|dir|file|help|username|project|name|hub|token|cache|revision|debug|verbose|wandb|api|key|log)(?:[._]|$)",
    re.I,
)


def left_defaults(truth: Truth, told: Collection[str], tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """ "A: packing_strategy=bfd :232, truncation_mode=keep_start :213", of one file each; `told` are names of keys."""
    keys = [key for key in defaults_read(truth) if key.name not in told and _is_of_run(truth, key)]
    keys.sort(key=lambda key: -_worth(truth, key))
    rows: list[list[Key]] = []
    rooms: list[int] = []
    for key in keys:
        cost = len(_said(truth, key, tails)) + 2
        place = next((at for at, row in enumerate(rows) if _path(row[0]) == _path(key) and rooms[at] >= cost), None)
        if place is None:
            place = len(rows)
            rows.append([])
            rooms.append(ROW - len(tails.of(_path(key))) - 2)
        rows[place].append(key)
        rooms[place] -= cost
    for row in rows:
        text = ", ".join(_said(truth, key, tails) for key in row)
        yield f"{tails.of(_path(row[0]))}: {text}", {"keys": [key.to_dict() for key in row]}


def _is_of_run(truth: Truth, key: Key) -> bool:
    """An option, or a field of a class that is filled or made, and nothing else of that name is set."""
    last = key.name.rpartition(".")[2]
    if key.name not in truth.offered or last in TAGS or any(is_set(one) for one in truth.named(last)):
        return False
    cls = truth.owners.holder(key)
    return cls is None or cls in truth.owners.made


def _path(key: Key) -> str:
    return key.source.path if key.source is not None else ""


def _said(truth: Truth, key: Key, tails: Tails) -> str:
    line = key.source.line if key.source is not None else 0
    maybe = next((one for one in key.layers if not one.certain and one.value != key.value), None)
    home = tails.of(maybe.path) if maybe is not None and maybe.path != _path(key) else ""
    then = f" (may become {clean(maybe.value, WIDTH)} {home}:{maybe.line})" if maybe is not None else ""
    return f"{short(truth, key)}={(clean(key.value, WIDTH) or repr(''))} :{line}{then}"


def _worth(truth: Truth, key: Key) -> float:
    """An option, a value before nothing, what is read near the frame of the program and often, places of files last."""
    cls = truth.owners.holder(key)
    said = 1.0 * (cls is None or cls in truth.owners.parsed) + 2.0 * (cls in truth.owners.of_chosen)
    said += 2.0 * (key.value not in NOTHING) - 2.0 * (_ASIDE.search(key.name) is not None)
    return said + nearness(truth.program, key) + 0.1 * len(key.reads)
