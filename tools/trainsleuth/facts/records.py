"""The records that one file of source becomes: expressions, events, functions, classes, imports.

`Expr`, `Event`, `Block`, `Branch` and `Loop` are tuples and not dataclasses because there are hundreds of
thousands of them and a frozen dataclass takes about three times as long to build.
Functions, classes and files compare by identity, so they are cheap keys of a memo.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

MODULE_BODY = "<module>"
MAX_ITEMS = 256  # a longer literal keeps its first items and ends in Expr("cut", ...)


class Expr(NamedTuple):
    """One expression. What `text` and `parts` hold depends on `kind`:

    path                  text = dotted name as written, "self.net.fc"
    attr                  text = attribute name, parts = (value,); the value is not a plain path
    call                  parts = (function, *arguments); an argument may be keyword, star or doublestar
    keyword, walrus       text = name, parts = (value,)
    star, doublestar      parts = (value,)
    await, yield, format  parts = (value,) or more
    number, string        text = the literal; a string without its quotes
    constant              text = True, False, None or "..."
    list, tuple, set      parts = items
    dict                  parts = pair or doublestar
    pair                  parts = (key, value)
    index                 parts = (value, *indices)
    slice                 text = its form, "_:" and "::_", parts = the bounds that are written
    unary, binary         text = the operator, parts = operands
    compare, boolean      text = the operators, parts = operands
    choice                parts = (if true, test, if false)
    lambda                text = parameter names joined by ",", parts = (body,)
    each                  a comprehension: text = list, set, dict or generator, parts = (element, *clauses)
    for, if               its clauses: parts = (target, iterable), parts = (test,)
    cut, other            text = what it was
    """

    kind: str
    text: str
    parts: tuple[Expr, ...]
    line: int

    @property
    def callee(self) -> str:
        """Of a call: the dotted name that is called, "" when it is not a plain path."""
        function = self.parts[0] if self.kind == "call" else None
        return function.text if function is not None and function.kind == "path" else ""

    @property
    def last(self) -> str:
        """Last name of a path, an attribute, or of what a call calls; otherwise ""."""
        kind, text, parts, _ = self
        if kind == "call":
            kind, text, _, _ = parts[0]
        if kind == "path":
            return text.rpartition(".")[2]
        return text if kind == "attr" else ""

    @property
    def receiver(self) -> Expr | None:
        """What stands before the last dot of a path, an attribute, or of what a call calls."""
        expr = self.parts[0] if self.kind == "call" else self
        if expr.kind == "attr":
            return expr.parts[0]
        if expr.kind == "path" and "." in expr.text:
            return Expr("path", expr.text.rpartition(".")[0], (), expr.line)
        return None

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """Of a call: the positional arguments (a star argument included, as it stands)."""
        return tuple([part for part in self.parts[1:] if part.kind not in ("keyword", "doublestar")])

    def keyword(self, name: str) -> Expr | None:
        """Of a call: the value given to keyword `name`."""
        for part in self.parts[1:]:
            if part.kind == "keyword" and part.text == name:
                return part.parts[0]
        return None

    def argument(self, place: int, *names: str) -> Expr | None:
        """Of a call: positional argument `place`, or a keyword of `names`. A star hides what follows."""
        for name in names:
            if (value := self.keyword(name)) is not None:
                return value
        positional = self.arguments[: place + 1]
        if place >= len(positional) or "star" in [part.kind for part in positional]:
            return None
        return positional[place]

    def walk(self) -> Iterator[Expr]:
        """This expression and all in it, outer before inner."""
        stack = [self]
        while stack:
            expr = stack.pop()
            yield expr
            if parts := expr[2]:
                stack += parts[::-1]


# an expression is the one written at its place: comparing trees would be slow, and wrong
Expr.__eq__ = object.__eq__  # type: ignore[method-assign]
Expr.__hash__ = object.__hash__  # type: ignore[method-assign]


class Branch(NamedTuple):
    """One arm of an if, try or match: `arm` counts from 0. `arms` is how many there are in all."""

    id: int
    arm: int
    arms: int
    complete: bool  # an else (or a bare case _) is there, so one of the arms runs
    kind: str
    tests: tuple[Expr, ...]  # of the arms up to this one; an else has one fewer than its arm + 1

    @property
    def test(self) -> Expr | None:
        """Condition of this arm; None for an else, an except, a case."""
        return self.tests[self.arm] if self.arm < len(self.tests) else None


class Loop(NamedTuple):
    """A for or while statement. `target` is None for a while, whose `source` is its test."""

    id: int
    kind: str
    line: int
    end_line: int
    target: Expr | None
    source: Expr | None


class Block(NamedTuple):
    """Where a statement stands inside its function: enclosing loops, arms and with-items, outer first."""

    loops: tuple[int, ...] = ()
    branches: tuple[Branch, ...] = ()
    contexts: tuple[Expr, ...] = ()


class Event(NamedTuple):
    """One statement, or the header of a compound one, in source order.

    kind is assign, augment, expression, return, delete, for, while, if, with, raise, assert, define,
    global, break or continue. `text` is the operator of an augmented assignment, the name of a definition,
    the annotation of an assignment, the names of a global statement, the id of a loop.
    `calls` holds every call in it, inner before outer.
    """

    kind: str
    line: int
    block: Block
    targets: tuple[Expr, ...] = ()
    value: Expr | None = None
    text: str = ""
    calls: tuple[Expr, ...] = ()


class Parameter(NamedTuple):
    """`kind` is "", "*" or "**"; `keyword_only` parameters stand after a star."""

    name: str
    default: Expr | None
    annotation: str
    kind: str = ""
    keyword_only: bool = False


class Import(NamedTuple):
    """`import module as alias` (name "") or `from module import name as alias` (name "*" for all)."""

    alias: str
    module: str
    name: str
    level: int  # dots before the module: 0 is absolute
    line: int
    typing: bool = False  # under `if TYPE_CHECKING:`: it does not run
    under: tuple[Branch, ...] = ()  # the arms of ifs that it stands in, outermost first


class Body(NamedTuple):
    """What stands in a function: its events in source order, and its loops by their ids."""

    events: tuple[Event, ...]
    loops: tuple[Loop, ...]


class BodySource(Protocol):
    """Where the body of a function is written: bytes `start` to `end` of its file."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def whole(self) -> bytes:
        """The text of the file."""
        ...

    def read(self) -> Body: ...

    def holds(self, pattern: re.Pattern[bytes]) -> bool:
        """Wide: the text of the body, or of what is defined in it, has a match."""
        ...

    def before(self, pattern: re.Pattern[bytes]) -> set[bytes]:
        """Wide: the words that matches of `pattern` stand behind in the text of the body, or of what is in it."""
        ...

    def found(self, pattern: re.Pattern[bytes]) -> list[bytes]:
        """Wide: what the group of `pattern` matches in the text of the body, or of what is defined in it."""
        ...


@dataclass(frozen=True, eq=False)
class Function:
    """A function, a method, or the body of a module (name MODULE_BODY) or of a class.

    Its events are read when they are first asked for. `called` says before that what cannot be among them: it has
    the last name of every call in them ("" for calls of what has no name), and perhaps more.
    """

    name: str
    qualname: str
    path: str
    line: int
    end_line: int
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expr, ...]
    source: BodySource = field(repr=False)
    called: frozenset[str] = field(repr=False)
    owner: str = ""  # qualname of the class it is a method of
    outer: str = ""  # qualname of the function it is written in
    returns: str = ""  # the annotation of what it gives back

    @cached_property
    def _body(self) -> Body:
        return self.source.read()

    @property
    def is_read(self) -> bool:
        """Somebody has asked for the events."""
        return "_body" in self.__dict__

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return self._body.events

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        return self._body.loops

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in reversed(self.parameters)}

    def parameter(self, name: str) -> Parameter | None:
        return self._parameters.get(name)

    @property
    def is_property(self) -> bool:
        return any(decorator.last in ("property", "cached_property") for decorator in self.decorators)

    @cached_property
    def self_name(self) -> str:
        """First parameter of a method, usually "self"; "" for a function or a static method."""
        if not self.owner or not self.parameters or self.parameters[0].kind:
            return ""
        if any(decorator.last == "staticmethod" for decorator in self.decorators):
            return ""
        return self.parameters[0].name


@dataclass(frozen=True, eq=False)
class Class:
    """`methods` by name, the last definition winning; `body` is the class body as a function."""

    name: str
    qualname: str
    path: str
    line: int
    end_line: int
    bases: tuple[Expr, ...]
    decorators: tuple[Expr, ...]
    body: Function
    methods: Mapping[str, Function]
    keywords: tuple[Expr, ...] = ()


@dataclass(frozen=True, eq=False)
class FileFacts:
    """What one file says. `problems` are (line, what) where the parser had to recover."""

    path: str
    imports: tuple[Import, ...]
    classes: Mapping[str, Class]
    functions: Mapping[str, Function]  # by qualname, module body and class bodies included
    lines: int
    problems: tuple[tuple[int, str], ...] = ()
    cells: tuple[tuple[int, int], ...] = ()  # notebook: (first line here, number of the cell from 1)
    names: frozenset[str] = field(default=frozenset())  # of all calls, perhaps more: see Function.called
    stored_bodies: int = -1  # how many came out of the cache; -1: none of this file did

    @property
    def body(self) -> Function:
        return self.functions[MODULE_BODY]

    @property
    def is_plain(self) -> bool:
        """It defines and imports nothing, so nothing that it holds can be called: settings in Python."""
        return not self.imports and len(self.functions) == 1

    def cell(self, line: int) -> tuple[int, int] | None:
        """Of a notebook: (cell, line in the cell) of a line of the joined cells, both from 1."""
        found = None
        for first, number in self.cells:
            if first > line:
                break
            found = (number, line - first + 1)
        return found
