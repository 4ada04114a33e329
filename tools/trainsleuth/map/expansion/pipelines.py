"""Lists of things that a configuration builds one after the other: transforms, schedules, hooks, in their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..configuration import Key, Truth
from ..wording import clean
from .kinds import kind_of
from .unset import defaults_of

MOST_ARGUMENTS = 12  # of one item
WIDTH = 1000  # characters of a list with its arguments; a longer one is named with fewer of them
_ITEM = re.compile(r"^(.+)\.(\d+)\.(?:type|_target_|class_path|class_name|_component_|target)$")


class Pipeline(NamedTuple):
    """`items` are the keys that name what each item is, in order; `given` its other keys, by the item's number."""

    name: str
    items: tuple[Key, ...]
    given: Mapping[str, tuple[Key, ...]]
    kind: str = ""  # the component that most of the items belong to

    def line(self, truth: Truth) -> str:
        """All of its items in one line: "train_pipeline a.py: 0 Load :13 · 1 Crop(size=224) :14"."""
        source = self.items[0].source
        base = source.path if source is not None else ""
        head = f"{self.name} {base}: "
        full = " · ".join(self._items(truth, base, True))
        return head + (full if len(full) <= WIDTH else " · ".join(self._items(truth, base, False)))

    def defaults(self, truth: Truth) -> str:
        """What it leaves out of its items, each once; "" when there is nothing."""
        chosen = {choice.key: choice for choice in truth.program.choices}
        said = (
            defaults_of(truth, chosen[key.name], key.name.rpartition(".")[0])
            for key in self.items
            if key.name in chosen
        )
        return " · ".join(dict.fromkeys(filter(None, said)))

    def _items(self, truth: Truth, base: str, with_arguments: bool) -> Iterator[str]:
        for key in self.items:
            number = key.name.split(".")[len(self.name.split("."))]
            given = self.given.get(number, ()) if with_arguments else ()
            said = [f"{_rest(one, self.name)}={clean(truth.end(one.value), 40)}" for one in given[:MOST_ARGUMENTS]]
            said += [f"+{len(given) - MOST_ARGUMENTS}"] if len(given) > MOST_ARGUMENTS else []
            source = key.source
            where = f" {_place(source.path, source.line, base)}" if source is not None else ""
            yield f"{number} {key.value.rpartition('.')[2]}" + (f"({', '.join(said)})" if said else "") + where


def pipelines(truth: Truth) -> Iterator[Pipeline]:
    """Every list of two items or more of which each names what it is."""
    found: dict[str, dict[str, Key]] = {}
    for key in truth.keys:
        match = _ITEM.match(key.name)
        if match is not None and key.value:
            found.setdefault(match[1], {}).setdefault(match[2], key)
    for name, items in found.items():
        numbers = sorted(items, key=int)
        if len(numbers) < 2 or [int(one) for one in numbers] != list(range(len(numbers))):
            continue
        given: dict[str, list[Key]] = {}
        for key in truth.keys:
            if key.name.startswith(f"{name}.") and key not in items.values() and key.source is not None:
                given.setdefault(key.name.removeprefix(f"{name}.").partition(".")[0], []).append(key)
        built = tuple(items[one] for one in numbers)
        yield Pipeline(name, built, {one: tuple(keys) for one, keys in given.items()}, _kind(truth, built))


def _kind(truth: Truth, items: Sequence[Key]) -> str:
    names = {key.name for key in items}
    kinds = Counter(kind_of(truth, choice) for choice in truth.program.choices if choice.key in names)
    return kinds.most_common(1)[0][0] if kinds else ""


def _rest(key: Key, name: str) -> str:
    """The name of a key behind the number of its item."""
    return key.name.removeprefix(f"{name}.").partition(".")[2]


def _place(path: str, line: int, base: str) -> str:
    return f":{line}" if path == base else f"{path}:{line}"
