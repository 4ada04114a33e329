"""One Python source to its facts."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from .expressions import ExpressionReader
from .grammar import named, parse, problems
from .records import MODULE_BODY, Block, Class, Event, Expr, FileFacts, Function, Import, Parameter
from .statements import StatementReader


@dataclass
class _Reading:
    """The tables that grow while one file is read."""

    path: str
    expressions: ExpressionReader
    imports: list[Import] = field(default_factory=list)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)


def read_source(path: str, text: str, cells: tuple[tuple[int, int], ...] = ()) -> FileFacts:
    """Facts of one Python file. Broken or Python 2 code keeps what parses; `problems` says what did not."""
    source = text.encode("utf-8", "replace")
    tree = parse(source)
    reading = _Reading(path, ExpressionReader(source))
    _read_body(reading, tree.root_node, MODULE_BODY, MODULE_BODY, (), (), "", "")
    _read_imports(reading, tree.root_node)
    return FileFacts(
        path,
        tuple(reading.imports),
        reading.classes,
        reading.functions,
        text.count("\n") + 1,
        tuple(problems(tree)),
        cells,
        frozenset(reading.expressions.names),
    )


def _read_body(
    reading: _Reading,
    node: Node,
    name: str,
    qualname: str,
    parameters: tuple[Parameter, ...],
    decorators: tuple[Expr, ...],
    owner: str,
    outer: str,
) -> Function:
    prefix = "" if name == MODULE_BODY else f"{qualname}."

    def define(inner: Node, marks: tuple[Expr, ...], event: Event) -> None:
        if inner.type == "class_definition":
            _read_class(reading, inner, f"{prefix}{event.text}", marks, qualname)
        else:
            _read_function(reading, inner, f"{prefix}{event.text}", marks, "", qualname)

    statements = StatementReader(reading.expressions, define)
    body = node if name == MODULE_BODY else node.child_by_field_name("body")
    if body is not None:
        statements.body(body.named_children, Block())
    function = Function(
        name,
        qualname,
        reading.path,
        node.start_point[0] + 1,
        node.end_point[0] + 1,
        parameters,
        decorators,
        tuple(statements.events),
        tuple(statements.loops),
        owner,
        outer if outer != MODULE_BODY else "",
    )
    reading.functions[qualname] = function
    return function


def _read_function(
    reading: _Reading, node: Node, qualname: str, decorators: tuple[Expr, ...], owner: str, outer: str
) -> Function:
    parameters = node.child_by_field_name("parameters")
    read = tuple(_parameters(reading.expressions, parameters)) if parameters is not None else ()
    reading.expressions.take_calls()  # of the defaults
    return _read_body(reading, node, qualname.rpartition(".")[2], qualname, read, decorators, owner, outer)


def _read_class(
    reading: _Reading, node: Node, qualname: str, decorators: tuple[Expr, ...], outer: str
) -> None:
    supers = node.child_by_field_name("superclasses")
    parts = [reading.expressions.read(child) for child in named(supers)] if supers is not None else []
    methods: dict[str, Function] = {}

    def define(inner: Node, marks: tuple[Expr, ...], event: Event) -> None:
        if inner.type == "class_definition":
            _read_class(reading, inner, f"{qualname}.{event.text}", marks, "")
        else:
            method = _read_function(reading, inner, f"{qualname}.{event.text}", marks, qualname, outer)
            methods[event.text] = method

    statements = StatementReader(reading.expressions, define)
    body_node = node.child_by_field_name("body")
    if body_node is not None:
        statements.body(body_node.named_children, Block())
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    events, loops = tuple(statements.events), tuple(statements.loops)
    name = qualname.rpartition(".")[2]
    body = Function(name, qualname, reading.path, first, last, (), (), events, loops, "", "")
    bases = tuple(part for part in parts if part.kind not in ("keyword", "doublestar"))
    keywords = tuple(part for part in parts if part.kind == "keyword")
    reading.functions[f"{qualname}.<class>"] = body
    reading.classes[qualname] = Class(
        name, qualname, reading.path, first, last, bases, decorators, body, methods, keywords
    )


def _parameters(expressions: ExpressionReader, node: Node) -> list[Parameter]:
    found: list[Parameter] = []
    keyword_only = False
    for child in named(node):
        if child.type == "keyword_separator":
            keyword_only = True
            continue
        name, value, kind = (child.child_by_field_name(field) for field in ("name", "value", "type"))
        if child.type == "typed_parameter":
            name = child.named_children[0]
        text = expressions.text(name or child)
        stars = "*" * (len(text) - len(text.lstrip("*")))
        default = expressions.read(value) if value is not None else None
        annotation = expressions.text(kind) if kind is not None else ""
        if text.lstrip("*").isidentifier():
            found.append(Parameter(text.lstrip("*"), default, annotation, stars, keyword_only))
        keyword_only = keyword_only or stars == "*"
    return found


_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")


def _read_imports(reading: _Reading, root: Node) -> None:
    """All imports, wherever they stand: what a function imports is taken as known to the whole file."""
    stack = list(reversed(root.named_children))
    while stack:
        node = stack.pop()
        if node.type in _IMPORTS:
            reading.imports.extend(_imported(reading.expressions, node))
        elif (
            node.type.endswith(("_statement", "_definition", "_clause", "block"))
            and b"import" in reading.expressions.source[node.start_byte : node.end_byte]
        ):
            stack.extend(reversed(node.named_children))


def _imported(expressions: ExpressionReader, node: Node) -> list[Import]:
    line = node.start_point[0] + 1
    module_node = node.child_by_field_name("module_name")
    module = expressions.text(module_node).replace(" ", "") if module_node is not None else ""
    level = len(module) - len(module.lstrip("."))
    found = []
    for child in named(node):
        if child == module_node:
            continue
        if child.type == "wildcard_import":
            found.append(Import("*", module.lstrip("."), "*", level, line))
            continue
        name_node, alias_node = child.child_by_field_name("name"), child.child_by_field_name("alias")
        name = expressions.text(name_node or child)
        alias = expressions.text(alias_node) if alias_node is not None else ""
        if node.type == "import_statement":
            found.append(Import(alias or name, name, "", 0, line))
        else:
            found.append(Import(alias or name, module.lstrip("."), name, level, line))
    return found
