"""A sum taken apart: the terms of an expression with their signs, through names, helpers and reductions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..reading.scopes import Item
from ..records import Expr
from ..tracing.callers import Target
from ..tracing.members import Member
from ..tracing.things import Literal, Spot
from ..words import words

if TYPE_CHECKING:
    from ..index import Index

# keep the sign and the terms of what they are given
LINEAR = words(
    """
    mean sum view reshape squeeze unsqueeze flatten to cuda cpu float double half contiguous
    clone type_as nansum nanmean scale all_reduce gather_mean stack cat Mean Sum
    """
)
MAX_TERMS = 64
MAX_DEPTH = 24


class Term(NamedTuple):
    """`sign` is 1 or -1. `weights`: what the term is multiplied with or divided by, written outside of it.

    A weight that is a name counts as positive. `names` are the variables that stood for the term on the way,
    outer first; `stands` at `where` is what is written in the innermost sum or product, before names are
    followed. Not `is_certain`: one of several alternatives.
    """

    sign: int
    expr: Expr
    spot: Spot
    weights: tuple[tuple[Expr, Spot], ...]
    names: tuple[str, ...]
    stands: Expr
    where: Spot
    is_certain: bool = True

    def part(self, expr: Expr, sign: int = 1) -> Term:
        """An operand of this term's expression."""
        return self._replace(sign=self.sign * sign, expr=expr, stands=expr, where=self.spot)


def factors(expr: Expr) -> Iterator[Expr]:
    """What is multiplied in a product as it is written; the expression itself where it is none."""
    if expr.kind == "binary" and expr.text == "*":
        for part in expr.parts:
            yield from factors(part)
    else:
        yield expr


def terms(index: Index, expr: Expr, spot: Spot) -> list[Term]:
    """The summands of `expr`, at most MAX_TERMS. Alternatives of a variable are all in it."""
    found: list[Term] = []
    for term in _Taking(index).of(Term(1, expr, spot, (), (), expr, spot), (), 0):
        found.append(term)
        if len(found) == MAX_TERMS:
            break
    return found


def number_sign(expr: Expr) -> int:
    """1 or -1 for a number as written, 0 for everything else."""
    if expr.kind == "number":
        return 1
    if expr.kind == "unary" and expr.text in "+-" and expr.parts[0].kind == "number":
        return -1 if expr.text == "-" else 1
    return 0


def _weight_sign(expr: Expr) -> int:
    """-1 for -0.5 * beta; names count as positive."""
    if expr.kind == "unary" and expr.text in ("-", "+"):
        return (-1 if expr.text == "-" else 1) * _weight_sign(expr.parts[0])
    if expr.kind == "binary" and expr.text in ("*", "/") and len(expr.parts) == 2:
        return _weight_sign(expr.parts[0]) * _weight_sign(expr.parts[1])
    return 1


class _Taking:
    def __init__(self, index: Index) -> None:
        self.index = index
        self.seen: set[object] = set()

    def of(self, term: Term, items: tuple[Item, ...], depth: int) -> Iterator[Term]:
        expr = term.expr
        key = (expr.text if expr.kind == "path" else expr, term.spot, items, term.sign)
        if key in self.seen:
            return
        self.seen.add(key)
        taken = self._taken(term, items, depth + 1) if depth < MAX_DEPTH else None
        if taken is None:
            yield term
        else:
            yield from taken

    def _taken(self, term: Term, items: tuple[Item, ...], depth: int) -> Iterator[Term] | None:
        """The terms inside; None when it is one term as it stands."""
        expr = term.expr
        if expr.kind == "unary" and expr.text in ("-", "+"):
            return self.of(term.part(expr.parts[0], -1 if expr.text == "-" else 1), (), depth)
        is_pair = expr.kind == "binary" and len(expr.parts) == 2
        if is_pair and expr.text in ("+", "-"):
            return self._sum(term, depth)
        if is_pair and expr.text in ("*", "/"):
            return self._product(term, depth)
        if expr.kind == "choice":
            return self._many(term, expr.parts[::2], items, depth)
        if expr.kind in ("await", "walrus", "keyword"):
            return self.of(term._replace(expr=expr.parts[0]), items, depth)
        if expr.kind == "path":
            return self._name(term, items, depth)
        if expr.kind in ("tuple", "list") and items and isinstance(items[0], int) and items[0] < len(expr.parts):
            return self.of(term._replace(expr=expr.parts[items[0]]), items[1:], depth)
        if expr.kind == "call":
            return self._call(term, items, depth)
        return None

    def _many(self, term: Term, parts: tuple[Expr, ...], items: tuple[Item, ...], depth: int) -> Iterator[Term]:
        for part in parts:
            yield from self.of(term._replace(expr=part, is_certain=False), items, depth)

    def _sum(self, term: Term, depth: int) -> Iterator[Term]:
        left, right = term.expr.parts
        yield from self.of(term.part(left), (), depth)
        yield from self.of(term.part(right, -1 if term.expr.text == "-" else 1), (), depth)

    def _product(self, term: Term, depth: int) -> Iterator[Term] | None:
        """The one factor that is no plain weight is looked into; a product of several stays whole."""
        left, right = term.expr.parts
        for inner, weight in ((left, right), (right, left)):
            if inner is right and term.expr.text == "/":
                continue
            sign = number_sign(weight)
            if sign or (
                self._is_weight(weight, term.spot) and not self._is_weight(inner, term.spot) and not number_sign(inner)
            ):
                weights = (*term.weights, (weight, term.spot))
                return self.of(term.part(inner, _weight_sign(weight))._replace(weights=weights), (), depth)
        return None

    def _is_weight(self, expr: Expr, spot: Spot) -> bool:
        """A coefficient: a number, a setting, or a name that says so."""
        if number_sign(expr):
            return True
        if expr.kind == "unary" and expr.text in ("-", "+"):
            return self._is_weight(expr.parts[0], spot)
        if expr.kind == "call":
            return expr.callee in ("len", "float", "int", "max", "min") or expr.last in ("size", "numel")
        if expr.kind == "binary" and expr.text in ("*", "/", "+", "-", "**"):
            return all(self._is_weight(part, spot) for part in expr.parts)
        if expr.kind in ("path", "attr", "index"):
            inner = expr.parts[0] if expr.kind == "index" else expr
            named = inner.text.rpartition(".")[2].lower()
            head = inner.text.partition(".")[0].lower()
            if head in _SETTINGS or any(word in named for word in _WEIGHTS) or named in _SHORT:
                return True
            if expr.kind != "path" or any(one.kind == "augment" for one in self.index.flow.origins(expr.text, spot)):
                return False  # of what is added up only the start may be a number
            things = self.index.objects.of(expr, spot)
            return bool(things) and all(isinstance(one, Literal) and one.expr.kind == "number" for one in things)
        return False

    def _name(self, term: Term, items: tuple[Item, ...], depth: int) -> Iterator[Term] | None:
        origins = [o for o in self.index.flow.origins(term.expr.text, term.spot) if o.expr is not None]
        followed = [o for o in origins if o.kind in ("assign", "argument", "augment", "walrus")]
        if not followed or len(followed) < len(origins):
            return None
        return self._origins(term, items, depth)

    def _origins(self, term: Term, items: tuple[Item, ...], depth: int) -> Iterator[Term]:
        names = (*term.names, term.expr.text)
        origins = list(self.index.flow.origins(term.expr.text, term.spot))
        is_certain = term.is_certain and sum(o.kind in ("assign", "walrus") for o in origins) < 2
        for origin in origins:
            if origin.expr is None:
                continue
            inner = term._replace(expr=origin.expr, spot=origin.spot, names=names, is_certain=is_certain)
            if origin.kind == "augment":
                event = origin.spot.function.events[origin.spot.position]
                if event.text not in ("+=", "-="):
                    continue
                inner = inner.part(inner.expr, -1 if event.text == "-=" else 1)
                inner = inner._replace(is_certain=term.is_certain)
            yield from self.of(inner, (*origin.items, *items), depth)

    def _call(self, term: Term, items: tuple[Item, ...], depth: int) -> Iterator[Term] | None:
        call = term.expr
        targets = list(self.index.calling.run_by(call, term.spot))
        if targets:
            return self._returned(term, targets, items, depth)
        receiver, first = call.receiver, call.argument(0, "input")
        if call.last not in LINEAR or call.callee == "float":
            return None
        is_function = receiver is None or receiver.text.partition(".")[0] in ("torch", "np", "numpy", "F")
        inner = first if is_function else receiver
        if inner is None:
            return None
        members = self.index.members.of(inner, term.spot) if inner.kind in ("list", "tuple", "each", "path") else ()
        if members:
            return self._members(term, members, depth)
        return self.of(term.part(inner), (), depth)

    def _members(self, term: Term, members: tuple[Member, ...], depth: int) -> Iterator[Term]:
        """A list of losses that is summed up."""
        for member in members:
            yield from self.of(term._replace(spot=member.spot).part(member.expr), (), depth)

    def _returned(self, term: Term, targets: list[Target], items: tuple[Item, ...], depth: int) -> Iterator[Term]:
        for target in targets[:4]:
            frame = self.index.frames.frame(target.function, term.expr, term.spot, target.owner)
            for value, spot in self.index.frames.returns(frame):
                yield from self.of(term._replace(expr=value, spot=spot), items, depth)


_SETTINGS = words(
    """
    args opt opts config cfg conf hparams hp flags params hyperparams
    """
)
_WEIGHTS = words(
    """
    weight lambda coef coeff alpha beta gamma scale factor ratio lam_ lmbd wt_ _wt
    """
)
_SHORT = words("w lam bs eps batch_size num_samples")
