"""The Python grammar of tree-sitter, and tables from node kind to reader."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from typing import TypeVar

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Tree

PYTHON = Language(tree_sitter_python.language())
ERROR = 0xFFFF  # the kind of a node where the parser gave up
_ASIDE = frozenset(PYTHON.id_for_node_kind(kind, True) for kind in ("comment", "line_continuation"))
Reader = TypeVar("Reader", bound=Callable[..., object])


def parse(source: bytes) -> Tree:
    return Parser(PYTHON).parse(source)


def by_kind_id(readers: Mapping[str, Reader], otherwise: Reader | None = None) -> dict[int, Reader]:
    """Readers by numeric kind: several ids may share a name, and comparing numbers is faster.

    `otherwise` reads every other kind that has a name; brackets, operators, comments and backslashes have no reader.
    """
    ids: dict[int, Reader] = {ERROR: otherwise} if otherwise is not None else {}
    for kind_id in range(PYTHON.node_kind_count):
        if PYTHON.node_kind_is_named(kind_id) and kind_id not in _ASIDE:
            reader = readers.get(PYTHON.node_kind_for_id(kind_id) or "", otherwise)
            if reader is not None:
                ids[kind_id] = reader
    if "ERROR" in readers:
        ids[ERROR] = readers["ERROR"]
    return ids


def named(node: Node) -> list[Node]:
    """Named children without comments and the backslashes that end lines."""
    return [child for child in node.named_children if child.kind_id not in _ASIDE]


def is_python_source(text: str) -> bool:
    """The Python that runs us takes it, whatever tree-sitter says: f"{width:=>{pad}f}". Nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def problems(tree: Tree, limit: int = 20) -> list[tuple[int, str]]:
    """Lines where the parser had to recover, with what it met; at most `limit`."""
    found: list[tuple[int, str]] = []
    stack = [tree.root_node] if tree.root_node.has_error else []
    while stack and len(found) < limit:
        node = stack.pop()
        if node.is_missing:
            found.append((node.start_point[0] + 1, f"{node.type} is missing"))
        elif node.is_error:
            found.append((node.start_point[0] + 1, "not understood as Python"))
        else:
            stack.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return found
