"""How names hand on what they hold, one step at a time: assignments, arguments, returns, imports, defaults.

Wide: by last names alone, outside of tests. Each way is a set of bits, because several questions are asked of the same steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .records import Expr, Function
from .scopes import comprehension_bindings
from .sites import is_test
from .words import words
from .wrappers import is_wrapper

if TYPE_CHECKING:
    from .index import Index

RENAMED = 1  # the very same thing under another name
HELD = 2  # that, or what a call makes of it or with it
BUILT = 4  # the second is assigned or returns the result of calling the first
KEPT = 8  # what the first name holds the second does, and what calling the first makes calling the second does
MADE = 16  # the second name holds what calling the first makes
RETURNED = 32  # calling the second makes what the first holds
PASSED = 64  # calling the second makes what calling the first makes
MAX_NAMESAKES = 40  # __init__, forward and the like: a positional argument of theirs says nothing of what it holds
_SAME = RENAMED | HELD | KEPT
_PARTS = words("list tuple dict pair boolean keyword walrus await star index each")
_COLLECTIONS = words(
    """
    ModuleList ModuleDict Sequential ParameterList ParameterDict OrderedDict list tuple dict set deque defaultdict
    iter reversed
    """
)
_ADDING = words("append add appendleft insert extend update")


class Handing:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._named = index.functions_by_name()
        self._table: dict[str, dict[str, int]] = {}
        self._known: dict[str, list[set[str]]] = {}
        self.attributes: set[str] = set()  # names that are given something after a dot

    def steps(self) -> dict[str, dict[str, int]]:
        """From name to name, with the bits of every way in which the first is handed to the second."""
        for file in self.index.files.values():
            for entry in file.imports:
                if entry.name and entry.alias != entry.name:
                    self._hand(entry.name, entry.alias, _SAME)
        for function in self.index.functions():
            if not is_test(function.path):
                self._of_function(function)
        return self._table

    def _hand(self, source: str, name: str, ways: int) -> None:
        found = self._table.setdefault(source, {})
        found[name] = found.get(name, 0) | ways

    def _hold(self, expr: Expr | None, names: Iterable[str], ways: int) -> None:
        """The value of an expression is handed to each of `names`."""
        for source, way in self._held(expr, ways):
            for name in names:
                self._hand(source, name, way)

    def _of_function(self, function: Function) -> None:
        for parameter in function.parameters:
            if parameter.default is not None:
                self._hold(parameter.default, (parameter.name,), _SAME)
        for event in function.events:
            value = event.value
            if event.kind == "return" and value is not None:
                self._returned(value, function.name)
            elif event.targets and value is not None:
                names = tuple(_targets(event.targets))
                self.attributes.update(_after_dots(event.targets))
                self._hold(value, names, _SAME)
                for name in (names or (function.name,)) if value.kind == "call" and event.kind == "assign" else ():
                    self._hand(value.last, name, BUILT)
            for call in event.calls:
                if call.parts[1:]:
                    self._passed(call, function)
        for found in comprehension_bindings(function).values():
            for binding in found:
                self._hold(binding.value, (binding.name,), KEPT)

    def _returned(self, value: Expr, name: str) -> None:
        for source, ways in self._held(value, _SAME):
            onward = (RETURNED if ways & KEPT else 0) | (PASSED if ways & MADE else 0)
            self._hand(source, name, ways & (RENAMED | HELD) | onward)
        if value.kind == "call":
            self._hand(value.last, name, BUILT)

    def _passed(self, call: Expr, function: Function) -> None:
        name = call.last
        if name in _ADDING and call.receiver is not None:
            for part in call.parts[1:]:
                self._hold(part, (call.receiver.last,), KEPT)
        namesakes = self._named.get(name)
        if namesakes is None:
            return
        ways = _SAME if len(namesakes) <= MAX_NAMESAKES else KEPT
        places = self._places(name) if ways == _SAME or name != "__init__" else self._above(function)
        for place, argument in enumerate(call.parts[1:]):
            if argument.kind == "keyword":
                self._hold(argument.parts[0], (argument.text,), ways)
            elif place < len(places):
                self._hold(argument, places[place], ways)

    def _places(self, name: str) -> list[set[str]]:
        """The parameter names that the positional arguments of functions of that name may meet, place by place."""
        if name not in self._known:
            self._known[name] = _by_place(self._named[name])
        return self._known[name]

    def _above(self, function: Function) -> list[set[str]]:
        """The same of what super().__init__(...) runs."""
        cls = self.index.class_of(function)
        above = self.index.lineage(cls)[1:] if cls is not None else ()
        return _by_place([one.methods["__init__"] for one in above if "__init__" in one.methods])

    def _held(self, expr: Expr | None, ways: int) -> Iterable[tuple[str, int]]:
        """Last names of what the value of an expression may be; `ways`: how it is handed on itself."""
        if expr is None:
            return ()
        kind = expr.kind
        if kind == "path" or kind == "attr":
            return ((expr.last, ways),)
        if kind == "call":
            return self._given_back(expr, ways)
        if kind in _PARTS:
            return self._of_parts(expr.parts, ways)
        if kind == "choice":
            return self._of_parts(expr.parts[::2], ways)
        if kind == "binary" and expr.text == "+":
            return self._of_parts(expr.parts, ways & KEPT)
        return ()

    def _of_parts(self, parts: Iterable[Expr], ways: int) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for part in parts:
            if part.kind == "path":
                found.append((part.last, ways))
            elif part.parts:
                found += self._held(part, ways)
        return found

    def _given_back(self, call: Expr, ways: int) -> list[tuple[str, int]]:
        """Of a call: what it makes, and what it may give back of what it is given."""
        name, inner = call.last, ways if call.last == "partial" else ways & ~RENAMED
        is_upper = name[:1].isupper()
        found: list[tuple[str, int]] = []
        if is_upper or name in self._named:
            found.append((name, inner & ~KEPT | (MADE if ways & KEPT else 0)))
        if is_wrapper(name):
            found += self._of_parts(call.parts[1:], inner)
            found += self._held(call.receiver, inner)
        elif is_upper or name == "partial":
            inner &= ~0 if name == "partial" or name in _COLLECTIONS else ~KEPT
            found += self._of_parts(call.parts[1:], inner) if inner else ()
        elif name in _COLLECTIONS or name.endswith("_norm"):
            found += self._of_parts(call.parts[1:], ways & KEPT)
        elif name == "getattr" and len(call.parts) > 2 and call.parts[2].kind == "string":
            found.append((call.parts[2].text, ways & KEPT))
        elif not name:
            found += [(held, MADE | KEPT) for held, _ in self._held(call.parts[0], KEPT)]
        return found


def _by_place(functions: list[Function]) -> list[set[str]]:
    places: list[set[str]] = []
    for function in functions:
        plain = [one.name for one in function.parameters if not one.kind and one.name != function.self_name]
        for place, name in enumerate(plain):
            if place == len(places):
                places.append(set())
            places[place].add(name)
    return places


def _after_dots(targets: tuple[Expr, ...]) -> Iterator[str]:
    for target in targets:
        if target.kind == "path":
            _, dot, name = target.text.rpartition(".")
            if dot:
                yield name
        elif target.kind == "attr":
            yield target.text
        else:
            yield from _after_dots(target.parts)


def _targets(targets: tuple[Expr, ...]) -> Iterator[str]:
    for target in targets:
        if target.kind in ("path", "attr"):
            yield target.last
        elif target.kind == "index":
            yield from _targets(target.parts[:1])
        else:
            yield from _targets(target.parts)
