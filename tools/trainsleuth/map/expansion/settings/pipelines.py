"""Lists of things that a configuration builds one after the other: transforms, schedules, hooks, in their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...configuration import Key, Truth
from ...drawing.wording import clean
from .kinds import kind_of
from .unset import defaults_of

FEWER_ARGUMENTS = (12, 4, 2, 1, 0)  # of one item
WIDTH = 1000  # characters of a list with its arguments; a longer one is named with fewer of them
_NUMBER = re.compile(r"\.(\d+)(?=\.|$)")
_TAGS = ("type", "_target_", "class_path", "class_name", "_component_", "target")
_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")


class Pipeline(NamedTuple):
    """`items` are the keys that name what each item is, in order, called `names`; `given` its other keys, by number."""

    name: str
    items: tuple[Key, ...]
    names: tuple[str, ...]
    given: Mapping[str, tuple[Key, ...]]
    kind: str = ""  # the component that most of the items belong to

    def line(self, truth: Truth, named: Callable[[str], str] = str, width: int = WIDTH) -> str:
        """All of its items in one line: "train_pipeline a.py: 0 Load :13 · 1 Crop(size=224) :14".

        `named` gives the name under which a file is shown; with fewer arguments where it is longer than `width`.
        """
        source = self.items[0].source
        base = source.path if source is not None else ""
        head = f"{self.name if named is str else '.'.join(self.name.split('.')[-2:])} {named(base)}: "
        texts = (head + " · ".join(self._items(truth, base, most)) for most in FEWER_ARGUMENTS)
        return next((text for text in texts if len(text) <= width), "") or head + " · ".join(self.names)

    def defaults(self, truth: Truth) -> str:
        """What it leaves out of its items, each once; "" when there is nothing."""
        chosen = {choice.key: choice for choice in truth.program.choices}
        said = (
            defaults_of(truth, chosen[key.name], key.name.rpartition(".")[0])
            for key in self.items
            if key.name in chosen
        )
        return " · ".join(dict.fromkeys(filter(None, said)))

    def _items(self, truth: Truth, base: str, most: int) -> Iterator[str]:
        for number, (key, name) in enumerate(zip(self.items, self.names, strict=True)):
            given = self.given.get(str(number), ())
            kept = [one for one in given if truth.end(one.value) not in ("", "None", "null")]
            above = f"{self.name}.{number}.{name}."
            said = [
                f"{one.name.removeprefix(above).removeprefix(f'{self.name}.{number}.')}={clean(truth.end(one.value), 40)}"
                for one in kept[:most]
            ]
            said += [f"+{len(kept) - most}"] if 0 < most < len(kept) else []
            source = key.source
            where = f" {_place(source.path, source.line, base)}" if source is not None else ""
            yield f"{number} {name.rpartition('.')[2]}" + (f"({', '.join(said)})" if said else "") + where


def pipelines(truth: Truth) -> Iterator[Pipeline]:
    """Every list of two items or more of which each names what it is: by a tag, as its only key, or as a plain name."""
    found: dict[str, dict[str, list[Key]]] = {}
    for key in truth.keys:
        for name, number in _lists_around(key.name) if key.source is not None else ():
            found.setdefault(name, {}).setdefault(number, []).append(key)
    for name, held in found.items():
        numbers = sorted(held, key=int)
        named = [_named(name, number, held[number]) for number in numbers]
        items = [one for one in named if one is not None]
        if len(items) < 2 or len(items) < len(named) or [int(one) for one in numbers] != list(range(len(numbers))):
            continue
        keys = tuple(key for key, _ in items)
        given = {one: tuple(key for key in held[one] if not _is_name(name, key)) for one in numbers}
        yield Pipeline(name, keys, tuple(word for _, word in items), given, _kind(truth, keys))


def _lists_around(name: str) -> Iterator[tuple[str, str]]:
    """(list, number) of every list that a key stands in."""
    yield from ((name[: match.start()], match[1]) for match in _NUMBER.finditer(name))


def _named(name: str, number: str, keys: Sequence[Key]) -> tuple[Key, str] | None:
    """The key that says what an item is, and what it says."""
    above = f"{name}.{number}"
    for key in keys:
        if key.name.removeprefix(f"{above}.") in _TAGS and key.value:
            return key, key.value
    heads = {key.name.removeprefix(f"{above}.").partition(".")[0] for key in keys if key.name != above}
    if len(keys) == 1 and keys[0].name == above and _CLASS.fullmatch(keys[0].value):
        return keys[0], keys[0].value
    head = heads.pop() if len(heads) == 1 else ""
    return (keys[0], head) if _CLASS.fullmatch(head) else None


def _is_name(name: str, key: Key) -> bool:
    rest = key.name.removeprefix(f"{name}.").partition(".")[2]
    return not rest or rest in _TAGS


def _kind(truth: Truth, items: Sequence[Key]) -> str:
    names = {key.name for key in items}
    kinds = Counter(kind_of(truth, choice) for choice in truth.program.choices if choice.key in names)
    return kinds.most_common(1)[0][0] if kinds else ""


def _place(path: str, line: int, base: str) -> str:
    return f":{line}" if path == base else f"{path}:{line}"
