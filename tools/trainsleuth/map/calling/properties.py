"""Properties that a statement reads: methods that run without a call, of its own object and of those that names hold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from trainsleuth.facts import Class, Event, Function

from .held import is_property
from .values import Values

MAX_HOLDERS = 60  # classes with a property of one name: more have said nothing of the object that is read


class Properties:
    """Of the classes of one index, as far as `values` knows what names hold."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._index = values.index

    def read_in(self, function: Function, event: Event) -> Iterator[Function]:
        """The properties that run when `event` of `function` does."""
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "path" and "." in part.text:
                for cut, name in _attributes(part.text):
                    yield from self._of(function, part.text[:cut], name)

    def _of(self, function: Function, receiver: str, name: str) -> Iterator[Function]:
        holders = self._by_name.get(name, frozenset())
        if not holders or (receiver != function.self_name and len(holders) > MAX_HOLDERS):
            return
        for one in self._values.named(function, receiver):
            method = self._index.method(one, name) if isinstance(one, Class) else None
            if method is not None and is_property(method):
                yield method

    @cached_property
    def _by_name(self) -> dict[str, frozenset[Class]]:
        found: dict[str, set[Class]] = {}
        for cls in self._index.classes():
            for method in cls.methods.values():
                if method.decorators and is_property(method):
                    found.setdefault(method.name, set()).add(cls)
        return {name: frozenset(classes) for name, classes in found.items()}


def _attributes(path: str) -> Iterator[tuple[int, str]]:
    """(where its receiver ends, name) of every attribute in a dotted path."""
    cut = path.find(".")
    while cut >= 0:
        end = path.find(".", cut + 1)
        yield cut, path[cut + 1 : end if end >= 0 else None]
        cut = end
