"""The imports of one source, wherever they stand: what a function imports is taken as known to the whole file."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ..records import Branch, Expr, Import
from .expressions import ExpressionReader
from .grammar import named

_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")


def read_imports(expressions: ExpressionReader, root: Node) -> Iterator[Import]:
    stack: list[tuple[Node, bool, tuple[Branch, ...]]] = [(node, False, ()) for node in root.named_children[::-1]]
    while stack:
        node, typing, under = stack.pop()
        if node.type in _IMPORTS:
            found = _imported(expressions, node)
            yield from (entry._replace(typing=typing, under=under) for entry in found) if typing or under else found
        elif (
            node.type.endswith(("_statement", "_definition", "_clause", "block"))
            and expressions.source.find(b"import", node.start_byte, node.end_byte) >= 0
        ):
            if node.type == "if_statement":
                hidden = _for_type_checkers(expressions, node)
                arms = [(part, typing or part == hidden, (*under, arm)) for part, arm in _arms(expressions, node)]
                stack.extend(arms[::-1])
            else:
                stack.extend((child, typing, under) for child in node.named_children[::-1])


def _arms(expressions: ExpressionReader, node: Node) -> Iterator[tuple[Node, Branch]]:
    """The blocks of an if, each with the tests that lead to it."""
    others = [child for child in node.named_children if child.type in ("elif_clause", "else_clause")]
    complete, tests = bool(others) and others[-1].type == "else_clause", list[Expr]()
    for arm, part in enumerate((node, *others)):
        condition = part.child_by_field_name("condition") if part.type != "else_clause" else None
        if condition is not None:
            tests.append(expressions.read(condition))
            expressions.take_calls()  # they are those of the statement, which is read with its body
        inner = part.child_by_field_name("consequence" if part.type != "else_clause" else "body")
        if inner is not None:
            yield inner, Branch(node.start_byte, arm, len(others) + 1, complete, "if", tuple(tests))


def _for_type_checkers(expressions: ExpressionReader, node: Node) -> Node | None:
    """The block under `if TYPE_CHECKING:`."""
    test = node.child_by_field_name("condition") if node.type == "if_statement" else None
    said = expressions.text(test) if test is not None else ""
    return node.child_by_field_name("consequence") if said.rpartition(".")[2] == "TYPE_CHECKING" else None


def _imported(expressions: ExpressionReader, node: Node) -> Iterator[Import]:
    line = expressions.line(node)
    module_node = node.child_by_field_name("module_name")
    module = expressions.text(module_node).replace(" ", "") if module_node is not None else ""
    level = len(module) - len(module.lstrip("."))
    whole, source = node.type == "import_statement", module.lstrip(".")
    for child in named(node):
        what = child.type
        if what == "dotted_name":
            if child != module_node:
                name = expressions.word(child)
                yield Import(name, name, "", 0, line) if whole else Import(name, source, name, level, line)
        elif what == "wildcard_import":
            yield Import("*", source, "*", level, line)
        elif what != "relative_import":
            name_node, alias_node = child.child_by_field_name("name"), child.child_by_field_name("alias")
            name = expressions.word(name_node or child)
            alias = expressions.word(alias_node) if alias_node is not None else name
            yield Import(alias, name, "", 0, line) if whole else Import(alias, source, name, level, line)
