"""Statements: the body of a module, class or function to an ordered list of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from ..records import Block, Branch, Event, Expr, Loop
from .expressions import ExpressionReader
from .grammar import PYTHON, by_kind_id, named

_LITERAL = ("string", "integer", "float", "true", "false", "none")
MAX_TESTED_ARMS = 100  # each arm of an if holds the tests before it; with more arms than this none does
MAX_INDENTS = 100  # Python refuses a file with more
_new: Callable[..., Event] = tuple.__new__


class StatementReader:
    """Reads one body; a function or class written in it is one event."""

    def __init__(self, expressions: ExpressionReader) -> None:
        self.expressions = expressions
        self.events: list[Event] = []
        self.loops: list[Loop] = []
        self._branchings = 0
        self._depth = 0

    def body(self, nodes: Iterable[Node], block: Block) -> None:
        if self._depth >= MAX_INDENTS:
            return
        self._depth += 1
        for node in nodes:
            reader = _READERS.get(node.kind_id)
            if reader is not None:
                reader(self, node, block)
        self._depth -= 1

    def add(
        self,
        kind: str,
        node: Node,
        block: Block,
        value: Expr | None = None,
        targets: tuple[Expr, ...] = (),
        text: str = "",
    ) -> Event:
        calls = self.expressions.take_calls()
        event = _new(Event, (kind, self.expressions.line(node), block, targets, value, text, calls))
        self.events.append(event)
        return event

    def expression(self, node: Node, block: Block) -> None:
        child = node.named_children[0] if node.named_child_count else node
        if child.kind_id == _CALL:
            self.add("expression", node, block, self.expressions.read(child))
        elif child.type == "assignment":
            self.assignment(child, block)
        elif child.type == "augmented_assignment":
            self.augmented(child, block)
        elif child.type not in ("string", "comment"):
            self.add("expression", node, block, self.expressions.read(child))

    def assignment(self, node: Node, block: Block) -> None:
        targets, annotation, last = [], "", node
        while last.type == "assignment":
            children = last.children
            targets.append(self.expressions.read(children[0]))
            if len(children) != 3 or children[1].type != "=":
                right, kind = last.child_by_field_name("right"), last.child_by_field_name("type")
                annotation = self.expressions.text(kind) if kind is not None else annotation
                if right is None:
                    self.add("assign", node, block, None, tuple(targets), annotation)
                    return
                last = right
            else:
                last = children[2]
        self.add("assign", node, block, self.expressions.read(last), tuple(targets), annotation)

    def augmented(self, node: Node, block: Block) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is not None and right is not None and operator is not None:
            target = self.expressions.read(left)
            self.add("augment", node, block, self.expressions.read(right), (target,), operator.type)

    def simple(self, kind: str, node: Node, block: Block) -> None:
        parts = tuple(self.expressions.read(child) for child in named(node))
        value = (
            parts[0] if len(parts) == 1 else Expr("tuple", "", parts, self.expressions.line(node)) if parts else None
        )
        self.add(kind, node, block, value)

    def names(self, kind: str, node: Node, block: Block) -> None:
        self.add(kind, node, block, None, (), " ".join(self.expressions.text(child) for child in named(node)))

    def branching(self, node: Node, block: Block) -> None:
        """An if with its elif and else arms."""
        arms = [
            node,
            *(child for child in node.named_children if child.type in ("elif_clause", "else_clause")),
        ]
        complete, number = arms[-1].type == "else_clause", self._branchings
        self._branchings += 1
        tests: list[Expr] = []
        for arm, part in enumerate(arms):
            condition = part.child_by_field_name("condition") if part.type != "else_clause" else None
            if condition is not None:
                tests.append(self.expressions.read(condition))
                self.add("if", part, block, tests[-1])
            kind, known = ("if", tuple(tests)) if len(arms) <= MAX_TESTED_ARMS else ("match", ())
            branch = Branch(number, arm, len(arms), complete, kind, known)
            inner = part.child_by_field_name("consequence" if part.type != "else_clause" else "body")
            if inner is not None:
                self.body(inner.named_children, block._replace(branches=(*block.branches, branch)))

    def attempt(self, node: Node, block: Block) -> None:
        """A try: its body, else and finally always run in the good case; each except is an arm of its own."""
        handlers = [child for child in node.named_children if child.type == "except_clause"]
        number, self._branchings = self._branchings, self._branchings + 1
        for child in node.named_children:
            if child.type == "block":
                self.body(child.named_children, block)
            elif child.type in ("else_clause", "finally_clause"):
                self.body(named(child)[-1].named_children, block)
            elif child.type == "except_clause":
                arm = handlers.index(child)
                branch = Branch(number, arm + 1, len(handlers) + 1, False, "try", ())
                inner = [part for part in child.named_children if part.type == "block"]
                for part in inner:
                    self.body(part.named_children, block._replace(branches=(*block.branches, branch)))

    def match(self, node: Node, block: Block) -> None:
        subject, body = node.child_by_field_name("subject"), node.child_by_field_name("body")
        cases = [child for child in (body or node).named_children if child.type == "case_clause"]
        number, self._branchings = self._branchings, self._branchings + 1
        value = self.expressions.read(subject) if subject is not None else None
        self.add("if", node, block, value)
        complete = bool(cases) and self.expressions.text(cases[-1]).startswith("case _:")
        asked = cases[: -1 if complete else None]
        # what calls is asked once for all cases, and no test of its own in each
        plain = value if value is not None and all(part.kind != "call" for part in value.walk()) else None
        tests = tuple(self._case(plain, case) for case in asked) if plain is not None else ()
        is_known = 0 < len(tests) < MAX_TESTED_ARMS and any(test.kind == "compare" for test in tests)
        for arm, case in enumerate(cases):
            if is_known and arm < len(tests):
                self.add("if", case, block, tests[arm])
            kind, known = ("if", tests[: arm + 1]) if is_known else ("match", ())
            branch = Branch(number, arm, len(cases), complete, kind, known)
            inner = case.child_by_field_name("consequence")
            if inner is not None:
                self.body(inner.named_children, block._replace(branches=(*block.branches, branch)))

    def _case(self, subject: Expr, case: Node) -> Expr:
        """What a case asks, as an if would: subject == "a", subject in ("a", "b"); of other patterns nothing is known."""
        line, patterns = case.start_point[0] + 1, [one for one in case.named_children if one.type == "case_pattern"]
        inner = patterns[0].named_children if len(patterns) == 1 else []
        union = inner[0].named_children if len(inner) == 1 and inner[0].type == "union_pattern" else inner
        if not union or any(one.type not in _LITERAL for one in union) or case.child_by_field_name("guard") is not None:
            return Expr("other", case.type, (), line)
        literals = tuple(self.expressions.read(one) for one in union)
        if len(literals) == 1:
            return Expr("compare", "==", (subject, literals[0]), line)
        return Expr("compare", "in", (subject, Expr("tuple", "", literals, line)), line)

    def loop(self, kind: str, node: Node, block: Block) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        target = self.expressions.read(left) if left is not None else None
        tested = right if kind == "for" else condition
        source = self.expressions.read(tested) if tested is not None else None
        loop = Loop(len(self.loops), kind, self.expressions.line(node), node.end_point[0] + 1, target, source)
        self.loops.append(loop)
        within = block._replace(loops=(*block.loops, loop.id))
        # a while tests anew on each round, a for evaluates its source once, before the first
        self.add(
            kind,
            node,
            within if kind == "while" else block,
            source,
            (target,) if target else (),
            str(loop.id),
        )
        if body is not None:
            self.body(body.named_children, within)
        otherwise = node.child_by_field_name("alternative")
        if otherwise is not None:
            self.body(named(otherwise)[-1].named_children, block)

    def with_items(self, node: Node, block: Block) -> None:
        contexts = []
        for clause in node.named_children:
            for item in clause.named_children if clause.type == "with_clause" else ():
                value = named(item)[0] if named(item) else None
                if value is None:
                    continue
                target: tuple[Expr, ...] = ()
                if value.type == "as_pattern":
                    value, name = value.named_children[0], value.named_children[-1]
                    target = (self.expressions.read(name.named_children[0] if name.named_children else name),)
                context = self.expressions.read(value)
                contexts.append(context)
                self.add("with", node, block, context, target)
        body = node.child_by_field_name("body")
        if body is not None:
            self.body(body.named_children, block._replace(contexts=(*block.contexts, *contexts)))

    def definition(self, node: Node, block: Block) -> None:
        """Calls in decorators, and in what a class inherits, are made where it is defined."""
        if node.type == "decorated_definition":
            for mark in node.named_children:
                if mark.type == "decorator" and named(mark):
                    self.expressions.read(named(mark)[0])
            node = node.child_by_field_name("definition") or node
        name, supers = node.child_by_field_name("name"), node.child_by_field_name("superclasses")
        if supers is not None:
            self.expressions.items(supers)
        if name is not None:
            self.add("define", node, block, None, (), self.expressions.text(name))

    def plain_block(self, node: Node, block: Block) -> None:
        self.body(node.named_children, block)


def _simple(kind: str) -> Callable[[StatementReader, Node, Block], None]:
    return lambda reader, node, block: reader.simple(kind, node, block)


_CALL = PYTHON.id_for_node_kind("call", True)
_READERS: dict[int, Callable[[StatementReader, Node, Block], None]] = by_kind_id(
    {
        "expression_statement": StatementReader.expression,
        "if_statement": StatementReader.branching,
        "try_statement": StatementReader.attempt,
        "match_statement": StatementReader.match,
        "for_statement": lambda reader, node, block: reader.loop("for", node, block),
        "while_statement": lambda reader, node, block: reader.loop("while", node, block),
        "with_statement": StatementReader.with_items,
        "function_definition": StatementReader.definition,
        "class_definition": StatementReader.definition,
        "decorated_definition": StatementReader.definition,
        "return_statement": _simple("return"),
        "delete_statement": _simple("delete"),
        "raise_statement": _simple("raise"),
        "assert_statement": _simple("assert"),
        "print_statement": _simple("expression"),
        "exec_statement": _simple("expression"),
        "break_statement": _simple("break"),
        "continue_statement": _simple("continue"),
        "global_statement": lambda reader, node, block: reader.names("global", node, block),
        "nonlocal_statement": lambda reader, node, block: reader.names("global", node, block),
        "ERROR": StatementReader.plain_block,
        "block": StatementReader.plain_block,
    }
)
