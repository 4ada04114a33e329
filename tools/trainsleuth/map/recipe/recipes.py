"""What configuration files set, one value after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from trainsleuth.facts import Class, ConfigValue, Function, Index
from trainsleuth.facts.reading.config import BUILDING_TAGS

from ..naming.tables import Table
from .composition import Part, file_of

RECIPE_DISTANCE = 3  # how far from the entry a class is that the recipe chose
CLASS_KEYS = ("_target_", "class_path", "target", "class", "cls", "class_name", "_component_", *BUILDING_TAGS)
REFERENCE = re.compile(r"\$\{(?:oc\.select:)?([\w.]+)(?:,[^{}]*)?\}|<([\w.]+)>")  # of OmegaConf, of HyperPyYAML


def refers_to(value: str) -> str:
    """The key that a value is a reference to, "" when it is none: "${optim.lr}" and "<lr>"."""
    match = REFERENCE.fullmatch(value)
    return (match[1] or match[2]) if match is not None else ""


class Choice(NamedTuple):
    """`value` at `path`:`line` under `key` selects `target` (None when it is of another library)."""

    path: str
    line: int
    key: str
    value: str
    target: Class | Function | None
    table: Table | None = None
    sites: tuple[tuple[Function, int], ...] = ()  # where the code looks it up


class Setting(NamedTuple):
    """One value of a configuration file; `key` starts with its group: "model.optimizer.lr"."""

    path: str
    line: int
    key: str
    value: str


def settings(index: Index, parts: Sequence[Part], removed: Iterable[str] = ()) -> Iterator[Setting]:
    """Every value of the files of `parts`, later ones override; none under the keys `removed`.

    A list that a later file sets takes the place of the whole list before it, a section that of nothing (`fm: null`),
    and nothing that of a section.
    """
    out = tuple(f"{key}." for key in removed)
    tables = [dict(_below(index, part)) for part in parts]
    lists = [{match[1] for key in table if (match := _ITEM.match(key))} for table in tables]
    sections = [set(chain.from_iterable(map(_above, table))) for table in tables] if tables[1:] else [set()]
    anywhere = set[str]().union(*sections)
    for place, (part, table) in enumerate(zip(parts, tables, strict=True)):
        again = set().union(*lists[place + 1 :]) & lists[place]
        filled = set[str]().union(*sections[place + 1 :])
        emptied = tuple(
            f"{key}." for other in tables[place + 1 :] for key, one in other.items() if one.value in _NOTHING
        )
        for key, found in table.items():
            match = _ITEM.match(key) if again else None
            has_more = filled if found.value in _NOTHING else anywhere if found.value == _TO_BE_GIVEN else ()
            if key in has_more or (emptied and key.startswith(emptied)):
                continue
            if not f"{key}.".startswith(out) and (match is None or match[1] not in again):
                yield Setting(found.path or file_of(part.path), found.line, key, found.value)


def _above(key: str) -> Iterator[str]:
    """The sections that a key stands in: a and a.b of a.b.c."""
    end = key.find(".")
    while end >= 0:
        yield key[:end]
        end = key.find(".", end + 1)


_NOTHING = ("null", "None", "~", "")
_TO_BE_GIVEN = "???"  # overrides nothing
_ITEM = re.compile(r"^(.+?)\.\d+(?:\.|$)")  # what stands in a list


def _below(index: Index, part: Part) -> Iterator[tuple[str, ConfigValue]]:
    for key, found in index.configs[part.path].items():
        if part.taken:
            head, dot, rest = key.partition(".")
            yield from ((here, found) for name, here in part.taken if name == key and dot)
            yield from ((f"{here}{dot}{rest}", found) for name, here in part.taken if name == head)
        elif not part.package:
            yield key, found
        elif not key.startswith("defaults."):
            yield f"{part.package}.{key}", found
