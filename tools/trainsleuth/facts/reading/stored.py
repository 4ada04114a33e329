"""Facts of one file as bytes and back, without trusting the bytes: they are decoded against these types.

Bodies that were never asked for are not stored; a body is decoded when it is asked for, and one that is not there, or
is not what it should be, is read from the source again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import msgspec

from ..records import Body, BodySource, Class, Expr, FileFacts, Function, Import, Parameter
from .searched import Searched
from .source import read_source
from .stored_body import pack_body, unpack_body


class _Function(NamedTuple):
    key: str  # in FileFacts.functions
    name: str
    qualname: str
    line: int
    end_line: int
    start: int  # in bytes
    end: int
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expr, ...]
    called: tuple[str, ...]
    owner: str
    outer: str
    returns: str
    body: msgspec.Raw


class _Class(NamedTuple):
    qualname: str
    bases: tuple[Expr, ...]
    decorators: tuple[Expr, ...]
    keywords: tuple[Expr, ...]
    methods: tuple[str, ...]


class _File(NamedTuple):
    imports: tuple[Import, ...]
    classes: tuple[_Class, ...]
    functions: tuple[_Function, ...]
    lines: int
    problems: tuple[tuple[int, str], ...]
    cells: tuple[tuple[int, int], ...]


_DECODER = msgspec.msgpack.Decoder(_File)
_NOTHING = msgspec.Raw(b"\xc0")  # None


@dataclass(frozen=True)
class _Text:
    """The source of stored facts, parsed only when a body is asked for that nobody has asked for before."""

    path: str
    text: str

    @cached_property
    def searched(self) -> Searched:
        return Searched(self.text.encode("utf-8", "replace"))

    @cached_property
    def bodies(self) -> dict[tuple[str, int], BodySource]:
        facts = read_source(self.path, self.text)
        return {(key, function.source.start): function.source for key, function in facts.functions.items()}


@dataclass(frozen=True)
class _StoredBody:
    """The body of one function of a file that was read before."""

    file: _Text
    key: str
    start: int
    end: int
    raw: msgspec.Raw

    @property
    def whole(self) -> bytes:
        return self.file.searched.source

    def holds(self, pattern: re.Pattern[bytes]) -> bool:
        return self.file.searched.within(pattern, self.start, self.end)

    def found(self, pattern: re.Pattern[bytes]) -> list[bytes]:
        return pattern.findall(self.file.searched.source, self.start, self.end)

    def before(self, pattern: re.Pattern[bytes]) -> set[bytes]:
        return self.file.searched.before(pattern, self.start, self.end)

    def read(self) -> Body:
        if self.raw != _NOTHING:
            try:
                return unpack_body(self.raw)
            except (msgspec.DecodeError, IndexError, RecursionError):
                pass
        return self.file.bodies[self.key, self.start].read()


def pack(facts: FileFacts) -> bytes:
    """Everything that is known by now."""
    functions = tuple(
        _Function(
            key,
            function.name,
            function.qualname,
            function.line,
            function.end_line,
            function.source.start,
            function.source.end,
            function.parameters,
            function.decorators,
            tuple(function.called),
            function.owner,
            function.outer,
            function.returns,
            _body(function),
        )
        for key, function in facts.functions.items()
    )
    classes = tuple(
        _Class(cls.qualname, cls.bases, cls.decorators, cls.keywords, tuple(cls.methods))
        for cls in facts.classes.values()
    )
    return msgspec.msgpack.encode(
        _File(facts.imports, classes, functions, facts.lines, facts.problems, facts.cells),
    )


def _body(function: Function) -> msgspec.Raw:
    if function.is_read:
        return msgspec.Raw(pack_body(function))
    return function.source.raw if isinstance(function.source, _StoredBody) else _NOTHING


def unpack(path: str, text: str, stored: bytes) -> FileFacts:
    """What `pack` stored of the file at `path` with the content `text`. Raises ValueError when it is something else."""
    file = _DECODER.decode(stored)  # a DecodeError is a ValueError
    source = _Text(path, text)
    functions: dict[str, Function] = {}
    for one in file.functions:
        body = _StoredBody(source, one.key, one.start, one.end, one.body)
        called = frozenset(one.called)
        functions[one.key] = Function(
            one.name, one.qualname, path, one.line, one.end_line, one.parameters, one.decorators, body, called,
            one.owner, one.outer, one.returns,
        )  # fmt: skip
    try:
        classes = {one.qualname: _class(path, one, functions) for one in file.classes}
    except KeyError as error:
        raise ValueError(f"{error} is not among the functions") from error
    names = frozenset().union(*(function.called for function in functions.values()))
    read = sum(one.body != _NOTHING for one in file.functions)
    facts = FileFacts(path, file.imports, classes, functions, file.lines, file.problems, file.cells, names)
    return replace(facts, stored_bodies=read)


def _class(path: str, one: _Class, functions: dict[str, Function]) -> Class:
    body = functions[f"{one.qualname}.<class>"]
    methods = {name: functions[f"{one.qualname}.{name}"] for name in one.methods}
    return Class(
        body.name, one.qualname, path, body.line, body.end_line, one.bases, one.decorators, body, methods, one.keywords
    )
