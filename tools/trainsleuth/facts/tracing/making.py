"""How a value was made: the expressions behind a name, and what is computed from it further on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..memo import kept_per_function
from ..records import Event, Expr, Function
from .callers import external_name
from .things import Instance, Literal, Spot
from .wrappers import wrapped

if TYPE_CHECKING:
    from ..index import Index


def makers(index: Index, expr: Expr, spot: Spot, depth: int = 6) -> Iterator[tuple[Expr, Spot]]:
    """Every expression that a name or attribute may have been given, each where it stands; others as they are.

    A name of which nothing is known stands for itself. Of a tuple, `(whole,)` comes as an "index" expression.
    """
    if expr.kind in ("await", "walrus", "keyword") and expr.parts:
        yield from makers(index, expr.parts[0], spot, depth)
    elif expr.kind != "path":
        yield expr, spot
    elif depth:
        origins = [o for o in index.flow.origins(expr.text, spot) if o.kind not in ("append", "extend", "augment")]
        head, _, last = expr.text.rpartition(".")
        if not origins and head:
            for owner in index.objects.of(Expr("path", head, (), expr.line), spot):
                if isinstance(owner, Instance):
                    origins += index.flow.attributes(owner, last, spot)
        if not any(origin.expr is not None for origin in origins):
            yield expr, spot
        for origin in origins:
            if origin.expr is not None and origin.kind in ("assign", "with", "walrus", "argument", "default"):
                if origin.items:
                    yield Expr("index", "", (origin.expr,), origin.expr.line), origin.spot
                else:
                    yield from makers(index, origin.expr, origin.spot, depth - 1)


def made_at(index: Index, expr: Expr, spot: Spot, depth: int = 4) -> frozenset[Expr]:
    """The calls that may have made an object, seen through wrappers: model for DDP(model.to(device))."""
    found: set[Expr] = set()
    for made, at in makers(index, expr, spot):
        whole, item = (made.parts[0], 0) if made.kind == "index" else (made, None)
        inner = wrapped(whole, item) if whole.kind == "call" else None
        if inner is not None and depth:
            found |= made_at(index, inner, at, depth - 1)
        elif made.kind == "call":
            found.add(made)
    return frozenset(found)


def called(index: Index, call: Expr, spot: Spot) -> str:
    """Full name of the external function or class that `call` calls, of a method "Class.method"; otherwise ""."""
    if call.kind != "call":
        return ""
    for thing in index.objects.of(call.parts[0], spot):
        if name := external_name(thing):
            return name
    receiver = call.receiver
    for thing in index.objects.of(receiver, spot) if receiver is not None else ():
        if isinstance(thing, Instance) and (name := external_name(thing)):
            return f"{name}.{call.last}"
    return ""


def constant(index: Index, expr: Expr | None, spot: Spot) -> Expr | None:
    """The one literal that an expression stands for; None where there are several, or anything else."""
    things = index.objects.of(expr, spot) if expr is not None else ()
    only = things[0] if things else None
    is_one = isinstance(only, Literal) and all(
        isinstance(one, Literal) and one.expr.text == only.expr.text for one in things
    )
    return only.expr if isinstance(only, Literal) and is_one else None


def mentions(expr: Expr | None, names: Iterable[str]) -> bool:
    """Some name of `names`, or an attribute of one, stands in the expression."""
    wanted = frozenset(names)
    return expr is not None and any(
        part.kind == "path" and any(prefix in wanted for prefix in _prefixes(part.text)) for part in expr.walk()
    )


def _prefixes(path: str) -> Iterator[str]:
    parts = path.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def bound_names(event: Event) -> Iterator[str]:
    """Names that the event gives a value, or adds to: those of tuples and the base of an index too."""
    if event.kind in ("assign", "augment", "for", "with"):
        for target in event.targets:
            yield from _names(target)
    for call in event.calls:
        receiver = call.receiver
        if call.last in ("append", "extend", "add", "update", "insert") and receiver is not None:
            yield from _names(receiver)


def _names(target: Expr) -> Iterator[str]:
    if target.kind == "path":
        yield target.text
    elif target.kind in ("tuple", "list", "star"):
        for part in target.parts:
            yield from _names(part)
    elif target.kind in ("index", "attr") and target.parts:
        yield from _names(target.parts[0])


def derived(function: Function, names: Iterable[str], start: int, end: int | None = None) -> frozenset[str]:
    """`names` and every name that events from `start` to `end` compute from them. Wide: nothing is forgotten."""
    known = set(names)
    for mentioned, bound in _handed_on(function)[start:end]:
        if not known.isdisjoint(mentioned):
            known.update(bound)
    return frozenset(known)


@kept_per_function
def _handed_on(function: Function) -> tuple[tuple[frozenset[str], tuple[str, ...]], ...]:
    """By the event, the names in its value with all that they are attributes of, and the names that it gives a value."""
    return tuple((frozenset(_mentioned(event.value)), tuple(bound_names(event))) for event in function.events)


def _mentioned(value: Expr | None) -> Iterator[str]:
    for part in value.walk() if value is not None else ():
        if part.kind == "path":
            yield from _prefixes(part.text)
