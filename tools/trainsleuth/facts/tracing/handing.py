"""How names hand on what they hold, one step at a time: assignments, arguments, returns, imports, defaults.

Wide, outside of tests. Each way is a set of bits, because several questions are asked of the same steps.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ..naming.sites import is_test
from ..reading.scopes import bindings, comprehension_bindings
from ..reading.scoping import Name, Scoping, last_of
from ..records import Class, Expr, Function
from ..words import words
from .wrappers import AROUND_ONE, INNER, SAME_OBJECT

if TYPE_CHECKING:
    from ..index import Index

KEPT = 1  # what the first name holds the second does, and what calling the first makes calling the second does
MADE = 2  # the second name holds what calling the first makes
RETURNED = 4  # calling the second makes what the first holds
PASSED = 8  # calling the second makes what calling the first makes
RUN_BY_OBJECTS = ("forward", "__call__")
_OBJECT = "()"  # in place of a function's name: arguments of calls that no function is named like
_PARTS = words("list tuple dict pair boolean keyword walrus await star index each")
_COLLECTIONS = words(
    """
    ModuleList ModuleDict Sequential ParameterList ParameterDict OrderedDict list tuple dict set deque defaultdict
    iter reversed
    """
)
_BINDING = ("setattr", "add_module", "register_module")


class Handing:
    """`table`: from name to name, with the bits of every way in which the first is handed to the second."""

    def __init__(self, index: Index, scoping: Scoping) -> None:
        self.index = index
        self.table: dict[Name, dict[Name, int]] = {}
        self.attributes: set[str] = set()  # names that are given something after a dot
        self.callers: dict[Name, list[Function]] = {}  # the functions that call by a name
        self._scoping = scoping
        self._foreign = index.names.foreign
        self._aliases: dict[str, set[str]] = {}
        self._values: set[str] = set()  # what is handed on as it is
        self._bound: set[str] = {""}  # names that may hold an object that is called
        self._calls: list[tuple[Expr, Function]] = []  # with arguments, of what is no library's
        self._given: dict[str, dict[str | int, None]] = {}  # by the name of functions: places and keywords
        for file in index.files.values():
            for entry in file.imports:
                if entry.name and entry.alias != entry.name:
                    self._hand(entry.name, entry.alias, KEPT)
                    self._aliases.setdefault(entry.name, set()).add(entry.alias)
        named = index.functions_by_name()
        self._named = {*named, *(alias for name in named for alias in self._aliases.get(name, ()))}
        for cls in index.classes():
            self._of_class(cls)
        files = (file for file in index.files.values() if not file.is_plain and not is_test(file.path))
        functions = [function for file in files for function in file.functions.values()]
        for function in functions:
            self._of_function(function)
        for call, function in self._calls:
            self._passed(call, function)
        for function in functions:
            self._taken(function)

    def _hand(self, source: Name, name: Name, ways: int) -> None:
        found = self.table.get(source)
        if found is None:
            self.table[source] = {name: ways}
        else:
            found[name] = found.get(name, 0) | ways

    def _hold(self, expr: Expr, function: Function, name: Name) -> None:
        """The value of an expression in `function` is handed to `name`."""
        for source, way in self.held(expr, function):
            if way & KEPT:
                self._values.add(last_of(source))
            self._hand(source, name, way)

    def _of_class(self, cls: Class) -> None:
        """What its methods call self, or cls, may also be of a class below."""
        for method in cls.methods.values():
            if method.self_name:
                way = KEPT if any(mark.last == "classmethod" for mark in method.decorators) else MADE
                for one in (cls, *self.index.subclasses(cls)):
                    self._hand(one.name, (method, method.self_name), way)

    def _of_function(self, function: Function) -> None:
        for parameter in function.parameters:
            self._bound.add(parameter.name)
            if parameter.default is not None:
                self._hold(parameter.default, function, (function, parameter.name))
        inner = comprehension_bindings(function)
        for binding in chain.from_iterable((*bindings(function).values(), *inner.values())):
            _, dot, last = binding.name.rpartition(".")
            self._bound.add(last)
            if dot:
                self.attributes.add(last)
            name = last if dot else self._scoping.variable(function, binding.name)
            value = binding.value
            if value is not None:
                if value.parts or value.kind == "path":
                    self._hold(value, function, name)
            elif binding.kind == "define" and name != last:
                self._hand(last, name, KEPT)
        called: dict[Name, None] = {}
        for event in function.events:
            if event.kind == "return" and event.value is not None:
                self._returned(event.value, function)
            for call in event.calls:
                called[self._scoping.callee(call, function)] = None
                if call.parts[1:] and not self._is_foreign(call, function):
                    self._calls.append((call, function))
                    named = ("keyword", "string") if call.last in _BINDING else ("keyword",)
                    self._bound.update([part.text for part in call.parts if part.kind in named])
        for name in called:
            self.callers.setdefault(name, []).append(function)

    def _returned(self, value: Expr, function: Function) -> None:
        for source, ways in self.held(value, function):
            self._hand(source, function.name, (RETURNED if ways & KEPT else 0) | (PASSED if ways & MADE else 0))

    def _is_foreign(self, call: Expr, function: Function) -> bool:
        """It calls something of a library: torch.load(...)."""
        head = call.parts[0].text.partition(".")[0] if call.parts[0].kind == "path" else ""
        return head in self._foreign[function.path] and self._scoping.variable(function, head) == head

    def _passed(self, call: Expr, function: Function) -> None:
        called, *given = call.parts
        if called.kind == "attr" and called.parts[0].kind == "call" and called.parts[0].last == "super":
            self._passed_up(call, function)
            return
        hub = self._hub(call, function)
        if called.last == "__init__" and (receiver := called.receiver) is not None:  # Base.__init__(self, x)
            hub, given = receiver.last, given[1:]
        if hub == _OBJECT and call.last not in self._bound:
            self._lend(given, function)
            return
        for place, argument in enumerate(given):
            if argument.kind == "keyword":
                value = argument.parts[0]
                if value.parts or value.kind == "path":
                    self._give(value, function, hub, argument.text)
            elif argument.parts or argument.kind == "path":
                self._give(argument, function, hub, place)

    def _give(self, value: Expr, function: Function, hub: str, place: str | int) -> None:
        """The value waits for those who take what is given to functions called `hub`."""
        self._given.setdefault(hub, {})[place] = None
        self._hold(value, function, (hub, place))

    def _lend(self, given: Iterable[Expr], function: Function) -> None:
        """Arguments of what no object of the project can be: they go no further, but functions among them may be called."""
        self._values.update(last_of(source) for source, way in self._of_parts(given, function) if way & KEPT)

    def _hub(self, call: Expr, function: Function) -> str:
        """The name under which what a call is given waits for those who take it."""
        called = call.parts[0]
        is_own = called.kind == "path" and called.text == function.self_name
        cls = self.index.class_of(function) if is_own else None
        return cls.name if cls is not None else last if (last := call.last) in self._named else _OBJECT

    def _passed_up(self, call: Expr, function: Function) -> None:
        """super().step(x)."""
        name, cls = call.last, self.index.class_of(function)
        above = self.index.lineage(cls)[1:] if cls is not None else ()
        for method in (one.methods[name] for one in above if name in one.methods):
            places = _places(method)
            for place, argument in enumerate(call.parts[1:]):
                if argument.kind == "keyword":
                    self._hold(argument.parts[0], function, (method, argument.text))
                elif place < len(places):
                    self._hold(argument, function, (method, places[place]))

    def _taken(self, function: Function) -> None:
        """What the parameters of a function are given, by those who call its name and by those who call an object."""
        hubs = [function.name]
        if function.name == "__init__" and (cls := self.index.class_of(function)) is not None:
            hubs = [one.name for one in (cls, *self.index.subclasses(cls))]
        hubs += [alias for name in hubs for alias in self._aliases.get(name, ())]
        if function.name in RUN_BY_OBJECTS or function.decorators or not self._values.isdisjoint(hubs):
            hubs.append(_OBJECT)
        places = {name: place for place, name in enumerate(_places(function))}
        for hub in hubs if function.parameters else ():
            given = self._given.get(hub, {})
            for parameter in function.parameters if given else ():
                name = parameter.name
                for place in (name, places.get(name)) if name != function.self_name else ():
                    if place in given:
                        self._hand((hub, place), (function, name), KEPT)

    def held(self, expr: Expr, function: Function) -> Iterable[tuple[Name, int]]:
        """Names of what the value of an expression may be, and the way from them to it: KEPT or MADE."""
        kind = expr.kind
        if kind == "path":
            return self._of_path(expr.text, function)
        if kind == "attr":
            return ((expr.text, KEPT), *(self.held(expr.parts[0], function) if expr.text in INNER else ()))
        if kind == "call":
            return self._given_back(expr, function)
        if kind in _PARTS:
            return self._of_parts(expr.parts, function)
        if kind == "choice":
            return self._of_parts(expr.parts[::2], function)
        if kind == "binary" and expr.text == "+":
            return self._of_parts(expr.parts, function)
        return ()

    def _of_path(self, path: str, function: Function) -> Iterable[tuple[Name, int]]:
        head, dot, last = path.rpartition(".")
        if not dot:
            return ((self._scoping.variable(function, path), KEPT),)
        return ((last, KEPT), *(self._of_path(head, function) if last in INNER else ()))

    def _of_parts(self, parts: Iterable[Expr], function: Function) -> list[tuple[Name, int]]:
        return [found for part in parts if part.parts or part.kind == "path" for found in self.held(part, function)]

    def _given_back(self, call: Expr, function: Function) -> Iterator[tuple[Name, int]]:
        """Of a call: what it makes, and what it may give back of what it is given."""
        called = call.parts[0]
        owner, dot, name = (
            called.text.rpartition(".") if called.kind == "path" else ("", called.kind == "attr", call.last)
        )
        is_own = name in self._named or (
            owner == function.self_name if dot else bool(name) and not hasattr(builtins, name)
        )
        if name[:1].isupper() or (is_own and not self._is_foreign(call, function)):
            yield self._scoping.callee(call, function), MADE
        if name in SAME_OBJECT and dot:
            yield from self.held(called.receiver or called, function)
        elif name in AROUND_ONE or name in _COLLECTIONS or name == "partial" or name.endswith("_norm"):
            yield from self._of_parts(call.parts[1:], function)
        elif name == "getattr" and len(call.parts) > 2 and call.parts[2].kind == "string":
            yield call.parts[2].text, KEPT
        elif not name:
            yield from ((held, MADE) for held, _ in self.held(call.parts[0], function))


def _places(function: Function) -> list[str]:
    """The parameters that positional arguments meet."""
    return [one.name for one in function.parameters if not one.kind and one.name != function.self_name]
