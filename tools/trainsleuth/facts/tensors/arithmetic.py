"""What is computed from named things, element by element, whatever their shape.

Reductions, views, casts, devices and indices are looked through, and local names followed, so that what is left are sums,
products and functions of leaves: -0.5 * torch.sum(1 + a - m.pow(2) - a.exp(), dim=1) is -0.5 * (1 + a - m ** 2 - exp(a)).
Axes and means are not seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ..reading.expressions import ExpressionReader
from ..reading.grammar import parse
from ..reading.scopes import bindings, reaching
from ..records import Expr
from ..tracing.things import Spot
from ..wording import written
from ..words import words

_SAME = words(
    """
    sum mean nansum nanmean view reshape flatten squeeze unsqueeze squeeze_ unsqueeze_ expand expand_as permute transpose t
    contiguous to cuda cpu float double half bfloat16 long int type type_as detach clone item numpy tensor as_tensor from_numpy
    asarray array requires_grad_ repeat repeat_interleave unbind tile view_as swapaxes swapdims movedim rearrange gather
    index_select broadcast_to astype amax amin reduce_mean reduce_sum Variable
    """
)
_LOOKED_UP = re.compile(
    r"^_*(?:extract(?:_into_tensor)?|gather|get_index_from_list|_?broadcast\w*|append_dims|match_dims)$"
)
_MODULES = frozenset(
    ["torch", "np", "numpy", "math", "F", "nn.functional", "torch.nn.functional", "functional", "th", "jnp", "tf"]
)
_BINARY = {
    "add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "div": "/", "divide": "/", "true_divide": "/", "matmul": "*",
    "bmm": "*", "mm": "*", "dot": "*", "pow": "**", "power": "**",
}  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "exp": math.exp, "log": math.log, "log10": math.log10, "log2": math.log2, "log1p": math.log1p, "expm1": math.expm1,
    "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x), "square": lambda x: x * x, "abs": abs, "norm": abs, "neg": lambda x: -x,
    "negative": lambda x: -x, "reciprocal": lambda x: 1 / x, "tanh": math.tanh, "cos": math.cos, "sin": math.sin,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "relu": lambda x: max(x, 0.0),
    "softplus": lambda x: math.log1p(math.exp(x)), "logsigmoid": lambda x: -math.log1p(math.exp(-x)),
    "norm_1": lambda x: 1.5 * abs(x),  # of another order: any other number of its size
    "min": min, "max": max, "clamp": lambda x, low, high: min(max(x, low), high),
}  # fmt: skip
_SPELLED = {
    "minimum": "min", "maximum": "max", "clip": "clamp", "clamp_": "clamp", "absolute": "abs", "log_sigmoid": "logsigmoid",
}  # fmt: skip
_OF_TWO = ("min", "max")
_OPERATORS: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "@": lambda a, b: a * b, "/": lambda a, b: a / b,
    "**": lambda a, b: float(a**b),
}  # fmt: skip
_PI = ("math.pi", "np.pi", "torch.pi", "numpy.pi")
_TINY = re.compile(r"^(?:self\.|cls\.)?_?(?:eps|epsilon|smooth|smoothing|tiny|EPS|EPSILON|SMOOTH)$")
_ENDS = re.compile(r"\.(?:data|T|mT|H|values)$")
TINY = 1e-3  # what is added so that nothing is divided by zero counts as nothing
MAX_DEPTH = 24
MAX_NAMES = 4  # local names followed, one behind the other


class Plain(NamedTuple):
    """`expr` of kinds number, path (a leaf), binary, unary and call of a function of `_FUNCTIONS` alone. `called`: by the
    text of a leaf, its last name, with what it is indexed or called with: "next_states", "values[t + 1]", "net(x)".
    """

    expr: Expr
    called: Mapping[str, str]


def formula(text: str) -> Expr:
    """A formula as it is written in Python, over bare names: "1 + logvar - mu**2 - exp(logvar)"."""
    node = parse(text.encode()).root_node.children[0].children[0]
    return ExpressionReader(text.encode()).read(node)


def plain(expr: Expr, spot: Spot, is_leaf: Callable[[str], bool]) -> Plain | None:
    """`is_leaf` says of what a leaf is called whether it may stay; other names are followed, and what the statement gives
    a new value, x of x = x / std, is followed to the old one. None where that comes to no end.
    """
    event = spot.function.events[spot.position]
    reader = _Reading(is_leaf, frozenset(one.text for one in event.targets if event.kind == "assign"))
    found = reader.read(expr, spot, 0, 0)
    return Plain(found, reader.called) if found is not None else None


def leaves(expr: Expr) -> tuple[str, ...]:
    """The leaves of a plain expression, each once."""
    return tuple(dict.fromkeys(_leaves(expr)))


def _leaves(expr: Expr) -> Iterator[str]:
    if expr.kind == "path":
        yield expr.text
    for part in made_of(expr):
        yield from _leaves(part)


def made_of(expr: Expr) -> tuple[Expr, ...]:
    """The parts that a plain expression is computed from: of a call not the name of its function."""
    return expr.parts[expr.kind == "call" :]


def value(expr: Expr, values: Mapping[str, float]) -> float:
    """Of a plain expression at single numbers for its leaves. ArithmeticError or ValueError where it has none."""
    if expr.kind == "number":
        return _number(expr.text)
    if expr.kind == "path":
        return values[expr.text]
    if expr.kind == "call":
        return _FUNCTIONS[expr.parts[0].text](*(value(part, values) for part in made_of(expr)))
    inner = [value(part, values) for part in made_of(expr)]
    if expr.kind == "unary":
        return -inner[0] if expr.text == "-" else inner[0]
    found = (
        _OPERATORS[expr.text](*inner) if expr.text != "**" or inner[0] > 0 or inner[1] == round(inner[1]) else math.nan
    )
    if math.isnan(found):
        raise ArithmeticError(f"{written(expr)} has no value")
    return found


def _number(text: str) -> float:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return math.nan


class _Reading:
    def __init__(self, is_leaf: Callable[[str], bool], bound: frozenset[str]) -> None:
        self.bound = bound
        self.is_leaf = is_leaf
        self.called: dict[str, str] = {}

    def read(self, expr: Expr, spot: Spot, depth: int, names: int) -> Expr | None:
        if depth > MAX_DEPTH:
            return None
        match expr.kind:
            case "number":
                number = _number(expr.text)
                return None if math.isnan(number) else _as_number(0.0 if abs(number) < TINY else number, expr.line)
            case "keyword" | "await" | "walrus":
                return self.read(expr.parts[0], spot, depth + 1, names)
            case "unary" if expr.text in "+-":
                return self._of(expr, expr.parts, spot, depth, names)
            case "binary" if expr.text in _OPERATORS and len(expr.parts) == 2:
                return self._of(expr, expr.parts, spot, depth, names)
            case "call":
                return self._call(expr, spot, depth, names)
            case "path" if expr.text in _PI:
                return _as_number(math.pi, expr.line)
            case "path" | "attr" | "index":
                return self._leaf(expr, spot, depth, names)
        return None

    def _of(self, whole: Expr, parts: tuple[Expr, ...], spot: Spot, depth: int, names: int) -> Expr | None:
        inner = [self.read(part, spot, depth + 1, names) for part in parts]
        if any(one is None for one in inner):
            return None
        function = whole.parts[:1] if whole.kind == "call" else ()
        text = "*" if whole.text == "@" else whole.text
        return Expr(whole.kind, text, (*function, *(one for one in inner if one is not None)), whole.line)

    def _call(self, call: Expr, spot: Spot, depth: int, names: int) -> Expr | None:
        name, given = _SPELLED.get(call.last, call.last), _operands(call)
        if name == "norm" and _is_of_another_order(call, given):
            name = "norm_1"
        if name in ("ones_like", "ones", "zeros_like", "zeros"):
            return _as_number(float(name.startswith("ones")), call.line)
        if name in _BINARY and len(given) == 2:
            return self._of(Expr("binary", _BINARY[name], (), call.line), given, spot, depth, names)
        if name == "mse_loss" and len(given) >= 2:
            difference = Expr("binary", "-", given[:2], call.line)
            return self._of(_function("square", call.line), (difference,), spot, depth, names)
        if name == "clamp":
            return self._clamp(call, given, spot, depth, names)
        if name in _OF_TWO and len(given) == 2 and call.keyword("dim") is None and given[1].kind != "number":
            return self._of(_function(name, call.line), given, spot, depth, names)
        if name in _FUNCTIONS and name not in _OF_TWO and given:
            return self._of(_function(name, call.line), given[:1], spot, depth, names)
        if (name in _SAME or name in _OF_TWO) and given and not self.is_leaf(_called(call)):
            return self.read(given[0], spot, depth + 1, names)
        if _LOOKED_UP.search(name) and len(call.arguments) > 1:
            return self.read(call.arguments[0], spot, depth + 1, names)
        return self._leaf(call, spot, depth, names)

    def _clamp(self, call: Expr, given: tuple[Expr, ...], spot: Spot, depth: int, names: int) -> Expr | None:
        """Between two limits; from zero on; a small limit that keeps a logarithm finite is looked through."""
        low, high = call.keyword("min"), call.keyword("max")
        low, high = low or (given[1] if len(given) > 1 else None), high or (given[2] if len(given) > 2 else None)
        if not given:
            return None
        if low is not None and high is not None and {low.kind, high.kind} != {"number"}:
            return self._of(_function("clamp", call.line), (given[0], low, high), spot, depth, names)
        if high is None and low is not None and low.text in ("0", "0.0", "0."):
            return self._of(_function("relu", call.line), given[:1], spot, depth, names)
        return self.read(given[0], spot, depth + 1, names)

    def _leaf(self, expr: Expr, spot: Spot, depth: int, names: int) -> Expr | None:
        if expr.kind == "index" and all(_is_whole(one) for one in expr.parts[1:]):
            return self.read(expr.parts[0], spot, depth + 1, names)
        is_followed = expr.kind == "path" and expr.text in self.bound and names < MAX_NAMES
        if is_followed and (made := _made(expr.text, spot)) is not None:
            return self.read(*made, depth + 1, names + 1)
        if self.is_leaf(called := _called(expr)):
            text = _ENDS.sub("", written(expr, 200))
            self.called[text] = called
            return Expr("path", text, (), expr.line)
        if expr.kind == "path" and names < MAX_NAMES and (made := _made(expr.text, spot)) is not None:
            return self.read(*made, depth + 1, names + 1)
        if expr.kind == "path" and _TINY.search(expr.text):
            return _as_number(0.0, expr.line)
        if expr.kind == "index" and expr.parts[1].kind != "string":
            return self.read(expr.parts[0], spot, depth + 1, names)
        return None


def _made(name: str, spot: Spot) -> tuple[Expr, Spot] | None:
    """What a name of the function was given, and where, if that is one thing on all ways and in all rounds."""
    found, is_certain = reaching(spot.function, name, spot.position)
    only = found[0] if len(found) == 1 and is_certain else None
    if only is None or only.kind != "assign" or only.items or only.value is None:
        return None
    events = spot.function.events
    is_of_one_round = events[only.position].block.loops == events[spot.position].block.loops
    if not is_of_one_round and len(bindings(spot.function).get(name, ())) > 1:
        return None
    return only.value, Spot(spot.function, only.position)


def _is_of_another_order(norm: Expr, given: tuple[Expr, ...]) -> bool:
    order = norm.keyword("p") or norm.keyword("ord") or (given[1] if len(given) > 1 else None)
    return order is not None and order.kind == "number" and _number(order.text) != 2


def _operands(call: Expr) -> tuple[Expr, ...]:
    """What a function is given, the tensor whose method it is before the rest."""
    receiver = call.receiver
    if receiver is None or (receiver.kind == "path" and (receiver.text in _MODULES or "linalg" in receiver.text)):
        return call.arguments or tuple(part.parts[0] for part in call.parts[1:2] if part.kind == "keyword")
    return (receiver, *call.arguments)


def _called(expr: Expr) -> str:
    """The last name of a leaf, with what it is indexed or called with."""
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        return expr.parts[1].text
    if expr.kind == "index":
        return f"{_called(expr.parts[0])}[{', '.join(written(one) for one in expr.parts[1:])}]"
    if expr.kind == "call":
        return f"{expr.last}({', '.join(written(one) for one in expr.parts[1:])})"
    return _ENDS.sub("", expr.text).rpartition(".")[2] if expr.kind == "path" else expr.last


def _is_whole(index: Expr) -> bool:
    """: or None or ... of x[:, None], which move nothing."""
    return (index.kind == "slice" and not index.parts) or index.text in ("None", "...", "np.newaxis")


def _as_number(number: float, line: int) -> Expr:
    return Expr("number", f"{number:.12g}", (), line)


def _function(name: str, line: int) -> Expr:
    return Expr("call", "", (Expr("path", name, (), line),), line)
