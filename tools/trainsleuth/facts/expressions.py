"""Expressions: tree-sitter nodes to `Expr`."""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import intern

from tree_sitter import Node

from .grammar import by_kind_id, named
from .records import MAX_ITEMS, Expr

_DOTTED = re.compile(rb"[\w.]+")
_QUOTES = re.compile(r"^[A-Za-z]*('''|\"\"\"|'|\")")
MAX_DEPTH = 120  # generated code nests thousands deep; below this an expression is Expr("cut")
Read = Callable[["ExpressionReader", Node], Expr]


class ExpressionReader:
    """Reads expressions of one source; keeps the calls met since `take_calls`, inner before outer."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.names: set[str] = set()
        self._calls: list[Expr] = []
        self._depth = 0

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def take_calls(self) -> tuple[Expr, ...]:
        calls = tuple(self._calls)
        self._calls.clear()
        return calls

    def read(self, node: Node) -> Expr:
        reader = _READERS.get(node.kind_id)
        if reader is None:
            return Expr("other", node.type, (), node.start_point[0] + 1)
        if self._depth >= MAX_DEPTH:
            return Expr("cut", "too deep", (), node.start_point[0] + 1)
        self._depth += 1
        expr = reader(self, node)
        self._depth -= 1
        return expr

    def call(self, node: Node) -> Expr:
        function_node, arguments = node.named_children[0], node.named_children[-1]
        parts = [self.read(function_node)]
        if arguments.type == "argument_list":
            parts += self.items(arguments)
        elif arguments is not function_node:
            parts.append(self.read(arguments))  # f(x for x in y)
        expr = Expr("call", "", tuple(parts), node.start_point[0] + 1)
        self._calls.append(expr)
        if name := expr.last:
            self.names.add(name)
        return expr

    def items(self, node: Node) -> list[Expr]:
        nodes = named(node)
        parts = [self.read(child) for child in nodes[:MAX_ITEMS]]
        if len(nodes) > MAX_ITEMS:
            parts.append(Expr("cut", f"{len(nodes) - MAX_ITEMS} more items", (), node.end_point[0] + 1))
        return parts

    def path(self, node: Node) -> Expr:
        return Expr("path", intern(self.text(node)), (), node.start_point[0] + 1)

    def attribute(self, node: Node) -> Expr:
        line = node.start_point[0] + 1
        raw = self.source[node.start_byte : node.end_byte]
        if _DOTTED.fullmatch(raw):
            return Expr("path", intern(raw.decode("utf-8", "replace")), (), line)
        value, name = node.named_children[0], node.named_children[-1]
        inner, last = self.read(value), intern(self.text(name))
        if inner.kind == "path":  # written over several lines
            return Expr("path", intern(f"{inner.text}.{last}"), (), line)
        return Expr("attr", last, (inner,), name.start_point[0] + 1)

    def many(self, kind: str, node: Node, text: str = "") -> Expr:
        return Expr(kind, text, tuple(self.items(node)), node.start_point[0] + 1)

    def string(self, node: Node) -> Expr:
        line = node.start_point[0] + 1
        inner = [child for child in node.named_children if child.type == "interpolation"]
        if inner:
            return Expr("format", "", tuple(self.read(child.named_children[0]) for child in inner), line)
        text = self.text(node)
        if opening := _QUOTES.match(text):
            text = text[opening.end() : -len(opening[1])]
        return Expr("string", intern(text) if len(text) < 40 else text, (), line)

    def binary(self, node: Node) -> Expr:
        operator = node.child_by_field_name("operator")
        return self.many("binary", node, operator.type if operator else "")

    def compare(self, node: Node) -> Expr:
        return self.many("compare", node, " ".join(o.type for o in node.children_by_field_name("operators")))

    def boolean(self, node: Node) -> Expr:
        operator = node.child_by_field_name("operator")
        return self.many("boolean", node, operator.type if operator else "")

    def unary(self, node: Node) -> Expr:
        return self.many("unary", node, node.children[0].type)

    def keyword(self, node: Node) -> Expr:
        name, value = node.named_children[0], node.named_children[-1]
        return Expr("keyword", intern(self.text(name)), (self.read(value),), node.start_point[0] + 1)

    def choice(self, node: Node) -> Expr:
        return self.many("choice", node)

    def each(self, node: Node) -> Expr:
        return self.many("each", node, node.type.partition("_")[0])

    def clause(self, node: Node) -> Expr:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        parts = tuple(self.read(child) for child in (left, right) if child is not None)
        return Expr("for", "", parts, node.start_point[0] + 1)

    def walrus(self, node: Node) -> Expr:
        name, value = node.named_children[0], node.named_children[-1]
        return Expr("walrus", intern(self.text(name)), (self.read(value),), node.start_point[0] + 1)

    def function(self, node: Node) -> Expr:
        parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
        names = (
            ",".join(self.text(p).partition("=")[0].strip() for p in named(parameters)) if parameters else ""
        )
        parts = (self.read(body),) if body is not None else ()
        return Expr("lambda", names, parts, node.start_point[0] + 1)

    def inside(self, node: Node) -> Expr:
        children = named(node)
        return self.read(children[0]) if children else Expr("tuple", "", (), node.start_point[0] + 1)

    def literal(self, kind: str, node: Node) -> Expr:
        return Expr(kind, intern(self.text(node)), (), node.start_point[0] + 1)


def _many(kind: str) -> Read:
    return lambda reader, node: reader.many(kind, node)


def _literal(kind: str) -> Read:
    return lambda reader, node: reader.literal(kind, node)


_READERS: dict[int, Read] = by_kind_id(
    {
        "identifier": ExpressionReader.path,
        "dotted_name": ExpressionReader.path,
        "keyword_identifier": ExpressionReader.path,
        "attribute": ExpressionReader.attribute,
        "call": ExpressionReader.call,
        "keyword_argument": ExpressionReader.keyword,
        "string": ExpressionReader.string,
        "binary_operator": ExpressionReader.binary,
        "comparison_operator": ExpressionReader.compare,
        "boolean_operator": ExpressionReader.boolean,
        "not_operator": ExpressionReader.unary,
        "unary_operator": ExpressionReader.unary,
        "conditional_expression": ExpressionReader.choice,
        "list_comprehension": ExpressionReader.each,
        "set_comprehension": ExpressionReader.each,
        "dictionary_comprehension": ExpressionReader.each,
        "generator_expression": ExpressionReader.each,
        "for_in_clause": ExpressionReader.clause,
        "named_expression": ExpressionReader.walrus,
        "lambda": ExpressionReader.function,
        "parenthesized_expression": ExpressionReader.inside,
        "type": ExpressionReader.inside,
        "expression_statement": ExpressionReader.inside,
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
        "slice": _many("slice"),
        "list_splat": _many("star"),
        "list_splat_pattern": _many("star"),
        "parenthesized_list_splat": _many("star"),
        "dictionary_splat": _many("doublestar"),
        "await": _many("await"),
        "yield": _many("yield"),
        "if_clause": _many("if"),
        "concatenated_string": _many("format"),
    }
)
