"""Methods by their name, and which of those that override each other may run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from trainsleuth.facts import Class, Expr, Function, Index

from ..naming.named_choice import is_named
from .knowledge import Knowledge

MAX_NAMESAKES = 4
MAX_OVERRIDES = 8


class Methods:
    """Of all classes that the settings leave open."""

    def __init__(self, index: Index, known: Knowledge, made: Iterable[Class], words: frozenset[str]) -> None:
        """`made` and `words` are those of `Graph`."""
        self._index = index
        self._known = known
        self._words = words
        self._lines = {cls: frozenset(index.lineage(cls)) for cls in made}

    def named(self, name: str) -> list[Function]:
        """Methods of that name of all classes that may be made."""
        return [one for one in self.by_name.get(name, ()) if self._is_of_open(one)]

    def few(self, name: str) -> list[Function]:
        """The same in files of the program, without those that override another; none where it may be one of many."""
        found = self._roots([one for one in self.named(name) if self._known.is_loaded(one.path)])
        return found if len(found) <= MAX_NAMESAKES else []

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        table: dict[str, list[Function]] = {}
        for cls in self._index.classes():
            for method in cls.methods.values():
                table.setdefault(method.name, []).append(method)
        return table

    def overrides(self, method: Function) -> Iterator[Function]:
        """The same method in project classes below: which one runs, the instance decides."""
        owner = self._index.class_of(method)
        if owner is None:
            return
        of_made = [line for line in self._lines.values() if owner in line]
        below = (
            one
            for one in self._index.subclasses(owner)
            if method.name in one.methods and (not of_made or any(one in line for line in of_made))
        )
        found = [one for one in below if one not in self._known.excluded and self._known.is_loaded(one.path)]
        found = [one for one in found if is_named(one, self._words) or one in self._of_chosen] or found
        yield from (one.methods[method.name] for one in found[:MAX_OVERRIDES])

    def is_replaced(self, method: Function) -> bool:
        """Of its class and those below, every one that is made has another method of that name."""
        owner = self._index.class_of(method)
        below = [cls for cls, line in self._lines.items() if owner in line]
        return bool(below) and all(self._index.method(cls, method.name) is not method for cls in below)

    @cached_property
    def _of_chosen(self) -> frozenset[Class]:
        """The classes that the settings choose, with their bases."""
        return frozenset(one for cls in self._known.narrowed for one in self._index.lineage(cls))

    def _roots(self, methods: list[Function]) -> list[Function]:
        """Of methods of one name, those that do not override another of them."""
        if len(methods) <= MAX_NAMESAKES:
            return methods
        owners = {self._index.class_of(method): method for method in methods}
        return [
            method
            for owner, method in owners.items()
            if owner is None or not any(base in owners for base in self._index.lineage(owner)[1:])
        ]

    def _is_of_open(self, method: Function) -> bool:
        owner = self._index.class_of(method)
        return owner is None or owner not in self._known.excluded


def may_take(method: Function, call: Expr) -> bool:
    """The arguments of a call fit a method of an object: as many as it needs, no more than it has, by names that it has."""
    parts = call.parts[1:]
    if any(one.kind in ("star", "doublestar") for one in parts) or not method.self_name:
        return True
    own = method.parameters[1:]
    placed = [one for one in own if not one.kind and not one.keyword_only]
    given = {one.text for one in parts if one.kind == "keyword"}
    given.update(one.name for one in placed[: len(call.arguments)])
    rest = {one.kind for one in own if one.kind}
    if len(call.arguments) > len(placed) and "*" not in rest:
        return False
    named = {one.name for one in own if not one.kind}
    needed = {one.name for one in own if not one.kind and one.default is None}
    return needed <= given and (given <= named or "**" in rest)
