"""One Python source to its facts: its definitions at once, what stands in their bodies when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from ..records import MODULE_BODY, Block, Body, Class, Expr, FileFacts, Function, Parameter
from ..tracing.actors import called_names
from .expressions import ExpressionReader
from .grammar import named, parse, problems
from .imports import read_imports
from .statements import MAX_INDENTS, StatementReader

_new: Callable[..., Parameter] = tuple.__new__
_DEFINING = tuple(word + blank for word in (b"def", b"class") for blank in (b" ", b"\t", b"\\"))
# letters of names stay, whatever closes an expression becomes ")", operators become "=", all else but "(" a blank
_SIGNS = {**dict.fromkeys(b"])}\"'", ord(")")), **dict.fromkeys(b"=,:;+-*/%<>&|^~@", ord("="))}
_NAMES_AND_BRACKETS = bytes(
    byte if chr(byte).isalnum() or byte >= 128 or byte in b"_(" else _SIGNS.get(byte, ord(" ")) for byte in range(256)
)
_COMPOUND = frozenset(
    (
        *(f"{kind}_statement" for kind in ("if", "try", "match", "for", "while", "with")),
        *(f"{kind}_clause" for kind in ("elif", "else", "except", "except_group", "finally", "case")),
        "block",
        "ERROR",
    )
)


@dataclass
class _Reading:
    """The tables that grow while one file is read."""

    path: str
    expressions: ExpressionReader
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)


@dataclass
class _Written:
    """A body that nobody has asked for yet. The syntax tree is let go with the last of them."""

    expressions: ExpressionReader
    node: Node | None
    start: int
    end: int

    @property
    def whole(self) -> bytes:
        return self.expressions.source

    def holds(self, pattern: re.Pattern[bytes]) -> bool:
        return self.expressions.searched.within(pattern, self.start, self.end)

    def found(self, pattern: re.Pattern[bytes]) -> list[bytes]:
        return pattern.findall(self.expressions.source, self.start, self.end)

    def before(self, pattern: re.Pattern[bytes]) -> set[bytes]:
        return self.expressions.searched.before(pattern, self.start, self.end)

    def read(self) -> Body:
        node, self.node = self.node, None
        statements = StatementReader(self.expressions)
        if node is not None:
            statements.body(node.named_children, Block())
        return Body(tuple(statements.events), tuple(statements.loops))


def read_source(path: str, text: str, cells: tuple[tuple[int, int], ...] = ()) -> FileFacts:
    """Facts of one Python file. Broken or Python 2 code keeps what parses; `problems` says what did not."""
    source = text.encode("utf-8", "replace")
    tree = parse(source)
    reading = _Reading(path, ExpressionReader(source))
    root = tree.root_node
    called = _read_scope(reading, root, root, "", MODULE_BODY)
    _keep(reading, root, root, MODULE_BODY, MODULE_BODY, (), (), called, "", "")
    names = frozenset().union(*(function.called for function in reading.functions.values()))
    imports = tuple(read_imports(reading.expressions, root))
    lines = text.count("\n") + 1
    return FileFacts(path, imports, reading.classes, reading.functions, lines, tuple(problems(tree)), cells, names)


def _read_scope(reading: _Reading, whole: Node, body: Node | None, prefix: str, outer: str) -> frozenset[str]:
    """Read what a module or function defines; the names that it calls itself."""
    holes = []
    for node, decorators in _definitions(reading, body) if body is not None and not _is_too_deep(prefix) else ():
        holes.append((node.start_byte, node.end_byte))
        name = node.child_by_field_name("name")
        if name is not None and node.type == "class_definition":
            _read_class(reading, node, f"{prefix}{reading.expressions.word(name)}", decorators, outer)
        elif name is not None:
            _read_function(reading, node, f"{prefix}{reading.expressions.word(name)}", decorators, "", outer)
    return _called(reading, whole, holes)


def _definitions(reading: _Reading, body: Node) -> Iterator[tuple[Node, tuple[Expr, ...]]]:
    """Functions and classes written in a body, and their decorators; not those inside of these."""
    stack = body.named_children[::-1] if _may_define(reading.expressions.source, body) else []
    while stack:
        node = stack.pop()
        kind = node.type
        if kind in ("function_definition", "class_definition"):
            yield node, ()
        elif kind == "decorated_definition":
            marks = [named(child) for child in node.named_children if child.type == "decorator"]
            decorators = tuple(reading.expressions.read(mark[0]) for mark in marks if mark)
            definition = node.child_by_field_name("definition")
            if definition is not None:
                yield definition, decorators
        elif kind in _COMPOUND and _may_define(reading.expressions.source, node):
            stack.extend(node.named_children[::-1])


def _may_define(source: bytes, node: Node) -> bool:
    """One of the words that begin a definition stands in its text."""
    start, end = node.start_byte, node.end_byte
    return any(source.find(word, start, end) >= 0 for word in _DEFINING)


def _called(reading: _Reading, whole: Node, holes: list[tuple[int, int]]) -> frozenset[str]:
    expressions = reading.expressions
    return called_in(expressions.words, expressions.source, whole.start_byte, whole.end_byte, holes)


def called_in(
    words: Mapping[bytes, str], source: bytes, start: int, end: int, holes: Iterable[tuple[int, int]] = ()
) -> frozenset[str]:
    """Every name before a parenthesis in the text, without `holes`; "" when other things are called.

    Nothing is called behind an operator or another parenthesis: size=(3, 3).
    """
    found: set[bytes] = set()
    for first, last in (*holes, (end, end)):
        text = source[start:first]
        pieces = text.translate(_NAMES_AND_BRACKETS).split(b"(")
        found |= {piece.rpartition(b" ")[2] or piece for piece in pieces[:-1]}
        found |= called_names(text)
        start = last
    names = [name for piece in found if (name := piece.rstrip()) and not name.endswith(b"=")]
    return frozenset([words[name.rpartition(b" ")[2].rpartition(b"=")[2].rpartition(b")")[2]] for name in names])


def _keep(
    reading: _Reading,
    node: Node,
    body: Node | None,
    name: str,
    qualname: str,
    parameters: tuple[Parameter, ...],
    decorators: tuple[Expr, ...],
    called: frozenset[str],
    owner: str,
    outer: str,
    returns: str = "",
) -> Function:
    lines = node.start_point[0] + 1, node.end_point[0] + 1
    written = _Written(reading.expressions, body, node.start_byte, node.end_byte)
    outer = outer if outer != MODULE_BODY else ""
    function = Function(
        name, qualname, reading.path, *lines, parameters, decorators, written, called, owner, outer, returns
    )
    reading.functions[f"{qualname}.<class>" if node.type == "class_definition" else qualname] = function
    return function


def _is_too_deep(qualname: str) -> bool:
    return qualname.count(".") >= MAX_INDENTS


def _read_function(
    reading: _Reading, node: Node, qualname: str, decorators: tuple[Expr, ...], owner: str, outer: str
) -> Function:
    name = qualname.rpartition(".")[2]
    if outer not in ("", MODULE_BODY) and not owner and qualname in reading.functions:
        qualname = f"{qualname}@{node.start_point[0] + 1}"  # a closure of the same name stands before
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    read = tuple(_parameters(reading.expressions, parameters)) if parameters is not None else ()
    reading.expressions.take_calls()  # of the defaults and decorators
    called = _read_scope(reading, body or node, body, f"{qualname}.", qualname)
    given_back = node.child_by_field_name("return_type")
    returns = reading.expressions.text(given_back) if given_back is not None else ""
    return _keep(reading, node, body, name, qualname, read, decorators, called, owner, outer, returns)


def _read_class(reading: _Reading, node: Node, qualname: str, decorators: tuple[Expr, ...], outer: str) -> None:
    supers, body = node.child_by_field_name("superclasses"), node.child_by_field_name("body")
    parts = reading.expressions.items(supers) if supers is not None else []
    reading.expressions.take_calls()
    methods: dict[str, Function] = {}
    holes = []
    for inner, marks in _definitions(reading, body) if body is not None and not _is_too_deep(qualname) else ():
        holes.append((inner.start_byte, inner.end_byte))
        name_node = inner.child_by_field_name("name")
        name = reading.expressions.word(name_node) if name_node is not None else ""
        if name and inner.type == "class_definition":
            _read_class(reading, inner, f"{qualname}.{name}", marks, "")
        elif name:
            methods[name] = _read_function(reading, inner, f"{qualname}.{name}", marks, qualname, outer)
    called, name = _called(reading, body or node, holes), qualname.rpartition(".")[2]
    own = _keep(reading, node, body, name, qualname, (), (), called, "", "")
    bases = tuple(_of_any_type(part) for part in parts if part.kind not in ("keyword", "doublestar"))
    keywords = tuple(part for part in parts if part.kind == "keyword")
    reading.classes[qualname] = Class(
        name, qualname, reading.path, own.line, own.end_line, bases, decorators, own, methods, keywords
    )


def _of_any_type(base: Expr) -> Expr:
    """A generic base is what it is of any type: class PPO(Algorithm[Policy])."""
    return base.parts[0] if base.kind == "index" and base.parts[0].kind == "path" else base


def _parameters(expressions: ExpressionReader, node: Node) -> Iterator[Parameter]:
    keyword_only = False
    for child in node.named_children:
        what = child.type
        if what == "identifier":
            yield _new(Parameter, (expressions.word(child), None, "", "", keyword_only))
            continue
        if what == "comment":
            continue
        if what == "keyword_separator":
            keyword_only = True
            continue
        value, kind = child.child_by_field_name("value"), child.child_by_field_name("type")
        name = child.named_children[0] if what == "typed_parameter" else child.child_by_field_name("name")
        text = expressions.word(name or child)
        stars = "*" * (len(text) - len(text.lstrip("*")))
        default = expressions.read(value) if value is not None else None
        annotation = expressions.word(kind) if kind is not None else ""
        if text.lstrip("*").isidentifier():
            yield _new(Parameter, (text.lstrip("*"), default, annotation, stars, keyword_only))
        keyword_only = keyword_only or stars == "*"
