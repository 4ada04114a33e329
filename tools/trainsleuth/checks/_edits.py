"""Every formula that is one slip of the pen away from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainsleuth.facts import Expr

_INSTEAD = {"+": "-*", "-": "+", "*": "/+", "/": "*"}
_NUMBERS = ("1", "2", "0.5")
_TURNED = frozenset(
    ["exp", "relu", "sigmoid", "softplus", "logsigmoid", "tanh"]
)  # their argument may have lost its sign
_DROPPED = frozenset(["sqrt", "exp", "log", "square"])
_OTHERS = {
    "min": "max",
    "max": "min",
    "sqrt": "square",
    "square": "sqrt",
    "sin": "cos",
    "cos": "sin",
    "exp": "log",
    "log": "exp",
    "norm_1": "norm",
}


def edits(whole: Expr, leaves: Iterable[str]) -> Iterator[tuple[Expr, Expr, Expr]]:
    """(the expression with one part changed, that part, what takes its place): a sign, an operator, the order of two
    operands, a power, a root, a function, a number, one leaf in place of another, 1 - x in place of x. Of the whole only the
    operator: around a formula may stand what it is used for.
    """
    known = tuple(leaves)
    for place, part in _places(whole, ()):
        for other in _changed(part, known) if place else _of_whole(part):
            yield _with(whole, place, other), part, other


def _places(expr: Expr, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Expr]]:
    yield place, expr
    first = expr.kind == "call"
    for number, part in enumerate(expr.parts[first:], first):
        yield from _places(part, (*place, number))


def _with(whole: Expr, place: tuple[int, ...], other: Expr) -> Expr:
    if not place:
        return other
    parts = list(whole.parts)
    parts[place[0]] = _with(parts[place[0]], place[1:], other)
    return whole._replace(parts=tuple(parts))


def _of_whole(expr: Expr) -> Iterator[Expr]:
    if expr.kind == "binary":
        yield from (one for one in _of_operator(expr) if one not in expr.parts)
    elif expr.kind == "call":
        yield from (one for one in _of_function(expr) if one not in expr.parts)


def _changed(expr: Expr, leaves: tuple[str, ...]) -> Iterator[Expr]:
    match expr.kind:
        case "binary":
            yield from _of_operator(expr)
        case "call":
            yield from _of_function(expr)
        case "unary":
            yield expr.parts[0]
        case "number":
            yield from (_number(other, expr.line) for other in _NUMBERS if expr.text in _NUMBERS and other != expr.text)
        case "path":
            yield _binary("-", _number("1", expr.line), expr)
            yield from (expr._replace(text=other) for other in leaves if other != expr.text)
    if expr.kind != "number":
        yield _call("sqrt", expr)
        yield _binary("**", expr, _number("2", expr.line))
        yield _binary("*", _number("0.5", expr.line), expr)
        yield _binary("*", _number("2", expr.line), expr)


def _of_operator(expr: Expr) -> Iterator[Expr]:
    left, right = expr.parts
    yield from (expr._replace(text=other) for other in _INSTEAD.get(expr.text, ""))
    if expr.text in ("-", "/"):
        yield expr._replace(parts=(right, left))
    if expr.text == "-" and left.text == "1":
        yield right  # x in place of 1 - x
    if expr.text == "**":
        yield left
        yield expr._replace(parts=(left, Expr("unary", "-", (right,), right.line)))


def _of_function(expr: Expr) -> Iterator[Expr]:
    name, arguments = expr.parts[0].text, expr.parts[1:]
    if name in _TURNED:
        yield expr._replace(parts=(expr.parts[0], Expr("unary", "-", arguments, expr.line)))
    if name in _OTHERS:
        yield expr._replace(parts=(expr.parts[0]._replace(text=_OTHERS[name]), *arguments))
    if name in _DROPPED:
        yield arguments[0]
    if name == "clamp":
        yield expr._replace(parts=(*expr.parts[:2], *expr.parts[:1:-1]))


def _binary(operator: str, left: Expr, right: Expr) -> Expr:
    return Expr("binary", operator, (left, right), left.line)


def _call(name: str, argument: Expr) -> Expr:
    return Expr("call", "", (Expr("path", name, (), argument.line), argument), argument.line)


def _number(text: str, line: int) -> Expr:
    return Expr("number", text, (), line)
