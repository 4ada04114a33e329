"""What code takes for a key that the recipe does not have, where it asks the whole recipe: cfg.get("clip.norm", None)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index

from ...recipe.branches import whole_key
from ...recipe.recipes import Setting
from ..forms.literals import is_literal, text_of
from ..records import Definition

SEEN = 3  # names at the top of the recipe that are asked of one thing: it is the recipe


class _Asked(NamedTuple):
    """`key` is asked of `holder`; `fallback` is what counts without it, None when that is not said."""

    function: Function
    line: int
    holder: str
    key: str
    fallback: str | None
    is_by_key: bool = False  # not as an attribute, which objects of all kinds have


class Absent(NamedTuple):
    """`keys` by their whole names, each with what all code that is reached takes for it; `holders` of the whole recipe."""

    keys: tuple[Definition, ...] = ()
    holders: frozenset[str] = frozenset()

    def decided(self) -> dict[str, str]:
        """As settings decide branches: the values in small letters, and of what they are asked."""
        return {**{whole_key(one): "" for one in self.holders}, **{one.name: one.value.lower() for one in self.keys}}


def absent(index: Index, reached: Iterable[Function], given: Iterable[Setting]) -> Absent:
    """Of the keys that are asked of the whole recipe those that it does not have, and that no code sets."""
    keys = {one.key for one in given}
    tops = {key.partition(".")[0] for key in keys}
    functions = list(reached) if len(tops) >= SEEN else []
    asked = [one for function in functions for one in _asked(function)]
    seen: dict[tuple[str, Class | Function], set[str]] = {}
    for one in asked:
        for place in _places(index, one):
            seen.setdefault((one.holder, place), set()).update({one.key.partition(".")[0]} & tops)
    by_key = {one.holder for one in asked if one.is_by_key}
    whole = {mark for mark, found in seen.items() if len(found) >= SEEN and mark[0] in by_key}
    found: dict[str, list[_Asked]] = {}
    for one in asked:
        if one.fallback is not None and any((one.holder, place) in whole for place in _places(index, one)):
            found.setdefault(one.key, []).append(one)
    return Absent(tuple(_agreed(found, keys, functions)), frozenset(holder for holder, _ in whole))


def _agreed(found: Mapping[str, list[_Asked]], keys: set[str], functions: list[Function]) -> Iterator[Definition]:
    changed = {target.last for function in functions for event in function.events for target in event.targets if "." in target.text}  # fmt: skip
    for key, alike in found.items():
        if len({one.fallback for one in alike}) == 1 and not _is_given(key, keys):
            if key.rpartition(".")[2] not in changed or "." not in key:
                first = alike[0]
                yield Definition(key, first.function.path, first.line, first.fallback or "")


def _is_given(key: str, keys: set[str]) -> bool:
    """Itself, something in it, or a value above it that may be a section which code reads elsewhere."""
    words = key.split(".")
    above = {".".join(words[:end]) for end in range(1, len(words) + 1)}
    return bool(above & keys) or any(one.startswith(f"{key}.") for one in keys)


def _places(index: Index, asked: _Asked) -> Iterator[Class | Function]:
    """The function, or for what an object holds its class with those above."""
    function = asked.function
    owner = index.class_of(function) if asked.holder.partition(".")[0] == function.self_name else None
    yield from index.lineage(owner) if owner is not None and "." in asked.holder else (function,)


def _asked(function: Function) -> Iterator[_Asked]:
    for event in function.events:
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "call" and part.last == "get" and part.receiver is not None and part.arguments:
                name, rest = part.arguments[0], part.arguments[1:]
                if name.kind == "string" and part.receiver.kind == "path" and len(rest) < 2:
                    yield _Asked(function, part.line, part.receiver.text, name.text, _fallback(rest), True)
            elif part.kind == "path" and "." in part.text:
                words = part.text.split(".")
                for cut in range(1, min(len(words), MAX_WORDS)):
                    yield _Asked(function, part.line, ".".join(words[:cut]), words[cut], None)


MAX_WORDS = 3  # self.cfg.model


def _fallback(rest: Iterable[Expr]) -> str | None:
    for one in rest:
        return text_of(one) if is_literal(one) else None
    return "None"
