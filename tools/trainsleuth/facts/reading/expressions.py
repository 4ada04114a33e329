"""Expressions: tree-sitter nodes to `Expr`.

Every expression of a project passes through here, some hundred thousand of them, so a reader is a plain function that
is looked up by the number of its node's kind, and lines are found by byte offset, not asked of the parser.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, count
from operator import add
from sys import intern

from tree_sitter import Node

from ..records import MAX_ITEMS, Expr
from ..tracing.actors import called_here
from .grammar import PYTHON, by_kind_id, named
from .searched import Searched

_DOTTED = re.compile(rb"[\w.\x80-\xff]+")
_QUOTES = re.compile(r"^[A-Za-z]*('''|\"\"\"|'|\")")
MAX_DEPTH = 120  # generated code nests thousands deep; below this an expression is Expr("cut")
Read = Callable[["ExpressionReader", Node], Expr]
_new: Callable[[type[Expr], tuple[str, str, tuple[Expr, ...], int]], Expr] = tuple.__new__  # half the time of Expr()


class _Words(dict[bytes, str]):
    """Each name decoded once."""

    def __missing__(self, raw: bytes) -> str:
        word = self[raw] = intern(raw.decode("utf-8", "replace"))
        return word


_WORDS = _Words()  # of all files: most names stand in several
MAX_WORDS = 200_000


def known_words() -> dict[bytes, str]:
    """Every name that was met, each decoded once; it learns what it is asked."""
    if len(_WORDS) > MAX_WORDS:
        _WORDS.clear()
    return _WORDS


class ExpressionReader:
    """Reads expressions of one source; keeps the calls met since `take_calls`, inner before outer."""

    __slots__ = ("_starts", "at", "calls", "depth", "high", "low", "searched", "source", "words")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.searched = Searched(source)
        self.words = known_words()
        self.calls: list[Expr] = []
        self.depth = 0
        self._starts = list(map(add, accumulate(map(len, source.split(b"\n")), initial=0), count()))
        self.at, self.low, self.high = 1, 0, self._starts[1]

    def line(self, node: Node) -> int:
        """Line on which a node starts, from 1."""
        start = node.start_byte
        if not self.low <= start < self.high:
            self.seek(start)
        return self.at

    def seek(self, start: int) -> None:
        """Make `at` the line of byte `start`; most nodes are on the line of the one before."""
        self.at = bisect_right(self._starts, start)
        self.low = self._starts[self.at - 1]
        self.high = self._starts[self.at] if self.at < len(self._starts) else start + 1

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def word(self, node: Node) -> str:
        return self.words[self.source[node.start_byte : node.end_byte]]

    def take_calls(self) -> tuple[Expr, ...]:
        if not self.calls:
            return ()
        calls = tuple(self.calls)
        self.calls.clear()
        return calls

    def read(self, node: Node) -> Expr:
        return _READERS.get(node.kind_id, _other)(self, node)

    def inner(self, node: Node) -> Expr:
        """An expression one level down."""
        if self.depth >= MAX_DEPTH:
            return Expr("cut", "too deep", (), self.line(node))
        self.depth += 1
        expr = _READERS.get(node.kind_id, _other)(self, node)
        self.depth -= 1
        return expr

    def items(self, node: Node) -> list[Expr]:
        """The expressions right inside `node`, at most MAX_ITEMS."""
        if self.depth >= MAX_DEPTH:
            return [Expr("cut", "too deep", (), self.line(node))]
        self.depth += 1
        parts: list[Expr] = []
        find = _READERS.get
        for child in node.children:
            reader = find(child.kind_id)
            if reader is not None:
                if len(parts) == MAX_ITEMS:
                    more = len(named(node)) - MAX_ITEMS
                    parts.append(Expr("cut", f"{more} more items", (), node.end_point[0] + 1))
                    break
                parts.append(reader(self, child))
        self.depth -= 1
        return parts


def _other(reader: ExpressionReader, node: Node) -> Expr:
    return Expr("other", node.type, (), reader.line(node))


def _call(reader: ExpressionReader, node: Node) -> Expr:
    children = node.children
    called, arguments = reader.inner(children[0]), children[-1]
    if called.text.endswith("remote") and called.last == "remote":
        called = called_here(called)
    parts = [called]
    if called.text.endswith("__getattribute__") and (owner := called.receiver) is not None and owner.text != "object":
        parts = [_new(Expr, ("path", "getattr", (), called.line)), owner]
    if arguments.kind_id == _ARGUMENTS:
        parts += reader.items(arguments)
    elif len(children) > 1:
        parts.append(reader.inner(arguments))  # f(x for x in y)
    expr = _new(Expr, ("call", "", tuple(parts), reader.line(node)))
    reader.calls.append(expr)
    return expr


def _path(reader: ExpressionReader, node: Node) -> Expr:
    start = node.start_byte
    if not reader.low <= start < reader.high:
        reader.seek(start)
    return _new(Expr, ("path", reader.words[reader.source[start : node.end_byte]], (), reader.at))


def _attribute(reader: ExpressionReader, node: Node) -> Expr:
    start = node.start_byte
    if not reader.low <= start < reader.high:
        reader.seek(start)
    raw = reader.source[start : node.end_byte]
    if raw in reader.words or _DOTTED.fullmatch(raw):
        return _new(Expr, ("path", reader.words[raw], (), reader.at))
    children, line = node.children, reader.line(node)
    inner, last = reader.inner(children[0]), reader.word(children[-1])
    if inner.kind == "path":  # written over several lines
        return Expr("path", intern(f"{inner.text}.{last}"), (), line)
    return Expr("attr", last, (inner,), reader.line(children[-1]))


_OPERANDS = {"pair": 2, "binary": 2, "unary": 1, "choice": 3}


def _whole(kind: str, parts: tuple[Expr, ...]) -> str:
    """The kind; "other" of what broken source leaves, which has not the operands that all take apart without asking."""
    return kind if len(parts) == _OPERANDS.get(kind, len(parts)) else "other"


def _many(kind: str) -> Read:
    def read(reader: ExpressionReader, node: Node) -> Expr:
        parts = tuple(reader.items(node))
        return _new(Expr, (_whole(kind, parts), "", parts, reader.line(node)))

    return read


def _slice(reader: ExpressionReader, node: Node) -> Expr:
    form = "".join(":" if child.type == ":" else "_" for child in node.children if child.type != "comment")
    return _new(Expr, ("slice", intern(form), tuple(reader.items(node)), reader.line(node)))


def _operation(kind: str) -> Read:
    def read(reader: ExpressionReader, node: Node) -> Expr:
        parts = tuple(reader.items(node))
        operators = " ".join(child.type for child in node.children if not child.is_named)
        return _new(Expr, (_whole(kind, parts), operators, parts, reader.line(node)))

    return read


def _literal(kind: str) -> Read:
    def read(reader: ExpressionReader, node: Node) -> Expr:
        return _new(Expr, (kind, reader.words[reader.source[node.start_byte : node.end_byte]], (), reader.line(node)))

    return read


def _string(reader: ExpressionReader, node: Node) -> Expr:
    line = reader.line(node)
    text = reader.text(node)
    quote = text[:1]
    if quote == '"' or quote == "'":  # no prefix: nothing can be filled in
        width = 3 if text.startswith(quote * 3) else 1
        text = text[width:-width]
        return _new(Expr, ("string", intern(text) if len(text) < 40 else text, (), line))
    if "{" in text:
        inner = [child for child in node.children if child.kind_id == _INTERPOLATION]
        if inner:
            parts = tuple(reader.inner(child.named_children[0]) for child in inner if child.named_children)
            return Expr("format", "", parts, line)
    if opening := _QUOTES.match(text):
        text = text[opening.end() : -len(opening[1])]
    return _new(Expr, ("string", intern(text) if len(text) < 40 else text, (), line))


def _strings(reader: ExpressionReader, node: Node) -> Expr:
    """Strings one behind the other are one string, unless something is filled in."""
    parts, line = tuple(reader.items(node)), reader.line(node)
    if all(part.kind == "string" for part in parts):
        return Expr("string", "".join(part.text for part in parts), (), line)
    return Expr("format", "", parts, line)


def _keyword(kind: str) -> Read:
    def read(reader: ExpressionReader, node: Node) -> Expr:
        children, line = node.children, reader.line(node)
        return _new(Expr, (kind, reader.word(children[0]), (reader.inner(children[-1]),), line))

    return read


def _each(reader: ExpressionReader, node: Node) -> Expr:
    return Expr("each", node.type.partition("_")[0], tuple(reader.items(node)), reader.line(node))


def _clause(reader: ExpressionReader, node: Node) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    parts = tuple(reader.read(child) for child in (left, right) if child is not None)
    return Expr("for", "", parts, reader.line(node))


def _lambda(reader: ExpressionReader, node: Node) -> Expr:
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    names = ",".join(reader.text(p).partition("=")[0].strip() for p in named(parameters)) if parameters else ""
    parts = (reader.inner(body),) if body is not None else ()
    return Expr("lambda", names, parts, reader.line(node))


def _inside(reader: ExpressionReader, node: Node) -> Expr:
    parts = reader.items(node)
    return parts[0] if parts else Expr("tuple", "", (), reader.line(node))


_READERS: dict[int, Read] = by_kind_id(
    {
        "identifier": _path,
        "dotted_name": _path,
        "keyword_identifier": _path,
        "attribute": _attribute,
        "call": _call,
        "keyword_argument": _keyword("keyword"),
        "string": _string,
        "binary_operator": _operation("binary"),
        "comparison_operator": _operation("compare"),
        "boolean_operator": _operation("boolean"),
        "not_operator": _operation("unary"),
        "unary_operator": _operation("unary"),
        "conditional_expression": _many("choice"),
        "list_comprehension": _each,
        "set_comprehension": _each,
        "dictionary_comprehension": _each,
        "generator_expression": _each,
        "for_in_clause": _clause,
        "named_expression": _keyword("walrus"),
        "lambda": _lambda,
        "parenthesized_expression": _inside,
        "type": _inside,
        "expression_statement": _inside,
        "integer": _literal("number"),
        "float": _literal("number"),
        "true": _literal("constant"),
        "false": _literal("constant"),
        "none": _literal("constant"),
        "ellipsis": _literal("constant"),
        "list": _many("list"),
        "list_pattern": _many("list"),
        "tuple": _many("tuple"),
        "tuple_pattern": _many("tuple"),
        "pattern_list": _many("tuple"),
        "expression_list": _many("tuple"),
        "set": _many("set"),
        "dictionary": _many("dict"),
        "pair": _many("pair"),
        "subscript": _many("index"),
        "slice": _slice,
        "list_splat": _many("star"),
        "list_splat_pattern": _many("star"),
        "parenthesized_list_splat": _many("star"),
        "dictionary_splat": _many("doublestar"),
        "await": _many("await"),
        "yield": _many("yield"),
        "if_clause": _many("if"),
        "concatenated_string": _strings,
    },
    _other,
)
_ARGUMENTS = PYTHON.id_for_node_kind("argument_list", True)
_INTERPOLATION = PYTHON.id_for_node_kind("interpolation", True)
