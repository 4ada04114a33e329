"""What a collection holds: list and dict literals, appends, ModuleList, Sequential and their like, in
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..naming.names import External
from ..reading.scopes import Item, encloses
from ..records import Class, Expr
from ..words import words
from .flow import Origin
from .things import Instance, Literal, Spot, Thing

if TYPE_CHECKING:
    from ..index import Index

CONTAINERS = words(
    """
    ModuleList ModuleDict Sequential ParameterList ParameterDict OrderedDict list tuple dict set
    deque defaultdict
    """
)
MAX_MEMBERS = 200


class Member(NamedTuple):
    """`key` is its place or string key when known; not `certain`: added under a condition or in a loop."""

    key: Item | None
    expr: Expr
    spot: Spot
    certain: bool = True


class Members:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._asked: dict[tuple[str, Spot, int], tuple[Member, ...]] | None = None  # of one question

    def of(self, expr: Expr, spot: Spot) -> tuple[Member, ...]:
        """Members of the collection that `expr` is at `spot`, in the order they were added; () when not
        seen.
        """
        outer, self._asked = self._asked, {} if self._asked is None else self._asked
        try:
            return tuple(islice(self._of(expr, spot, 6), MAX_MEMBERS))
        finally:
            self._asked = outer

    def of_attribute(self, owner: Instance, name: str, inside: Spot) -> tuple[Member, ...]:
        """What collection `owner.name` may hold, by all code of the owner's class."""
        found: list[Member] = []
        for origin in self.index.flow.attributes(owner, name, inside):
            found += self._origin(origin, inside, 5)
        return tuple(found[:MAX_MEMBERS])

    def of_thing(self, thing: Thing, depth: int = 6) -> Iterator[Member]:
        if isinstance(thing, Literal):
            yield from self._literal(thing.expr, thing.spot, depth)
        elif isinstance(thing, Instance) and thing.call is not None and thing.spot is not None:
            if thing.name.rpartition(".")[2] in CONTAINERS and isinstance(thing.kind, External):
                yield from self._given(thing.call, thing.spot, depth)
        elif isinstance(thing, Instance) and isinstance(thing.kind, Class):
            return

    def _of(self, expr: Expr, spot: Spot, depth: int) -> Iterator[Member]:
        if depth <= 0:
            return
        if expr.kind == "path":
            yield from self._named(expr, spot, depth)
        elif expr.kind == "binary":
            for part in expr.parts if expr.text == "+" else expr.parts[:1]:
                yield from self._of(part, spot, depth - 1)
        elif expr.kind in ("list", "tuple", "set", "dict", "each"):
            yield from self._literal(expr, spot, depth)
        else:
            for thing in self.index.objects.of(expr, spot):
                yield from self.of_thing(thing, depth - 1)

    def _named(self, expr: Expr, spot: Spot, depth: int) -> Iterable[Member]:
        """Ways to a name that is bound in many places meet again: each is gone once for a question."""
        if self._asked is None:
            return self._of_name(expr, spot, depth)
        key = (expr.text, spot, depth)
        if key not in self._asked:
            self._asked[key] = tuple(islice(self._of_name(expr, spot, depth), MAX_MEMBERS))
        return self._asked[key]

    def _of_name(self, expr: Expr, spot: Spot, depth: int) -> Iterator[Member]:
        origins = list(self.index.flow.origins(expr.text, spot))
        head, _, last = expr.text.rpartition(".")
        if head and not any(o.kind not in ("append", "extend", "augment") for o in origins):
            for owner in self.index.objects.of(Expr("path", head, (), expr.line), spot):
                if isinstance(owner, Instance):
                    origins = [*self.index.flow.attributes(owner, last, spot)]
                    # methods come in the order of the class: what __init__ makes is first
        else:
            origins.reverse()
        for origin in origins:
            yield from self._origin(origin, spot, depth)

    def _origin(self, origin: Origin, use: Spot, depth: int) -> Iterator[Member]:
        if origin.expr is None:
            return
        spot = origin.spot
        block = spot.function.events[spot.position].block if spot.position < len(spot.function.events) else None
        here = use.function.events[use.position].block if use.position < len(use.function.events) else None
        if spot.function is use.function and block is not None and here is not None:
            certain = encloses(block, here) or self.index.flow.runs(block, use) is True
        else:
            certain = block is None or not (block.branches or block.loops)
        if origin.kind == "append":
            yield Member(_key_it_is_put_under(origin), origin.expr, spot, certain)
        elif not origin.items:
            for member in self._of(origin.expr, spot, depth - 1):
                yield member._replace(certain=certain and member.certain)

    def _literal(self, expr: Expr, spot: Spot, depth: int) -> Iterator[Member]:
        if expr.kind == "each":
            body = expr.parts[0]
            yield Member(None, body.parts[1] if body.kind == "pair" else body, spot, False)
        for place, part in enumerate(expr.parts if expr.kind in ("list", "tuple", "set", "dict") else ()):
            if part.kind == "star":
                yield from (m._replace(key=None) for m in self._of(part.parts[0], spot, depth - 1))
            elif part.kind == "pair":
                key = part.parts[0].text if part.parts[0].kind == "string" else None
                yield Member(key, part.parts[1], spot)
            elif part.kind not in ("doublestar", "cut"):
                yield Member(place, part, spot)

    def _given(self, call: Expr, spot: Spot, depth: int) -> Iterator[Member]:
        """What the constructor of a container is given."""
        arguments = call.arguments
        only_collection = call.last != "Sequential" or (len(arguments) == 1 and arguments[0].kind != "star")
        for place, argument in enumerate(arguments):
            if argument.kind == "star":
                yield from self._of(argument.parts[0], spot, depth - 1)
            elif only_collection and (inner := list(self._of(argument, spot, depth - 1))):
                yield from (_without_name(member) for member in inner)
            elif call.last == "Sequential":
                yield Member(place, argument, spot)
        for part in call.parts[1:]:
            if part.kind == "keyword" and call.last in ("dict", "OrderedDict"):
                yield Member(part.text, part.parts[0], spot)


def _without_name(member: Member) -> Member:
    """Of an OrderedDict written as a list of (name, module): the module."""
    expr = member.expr
    if expr.kind == "tuple" and len(expr.parts) == 2 and expr.parts[0].kind in ("string", "format", "binary"):
        return member._replace(key=expr.parts[0].text if expr.parts[0].kind == "string" else None, expr=expr.parts[1])
    return member


def _key_it_is_put_under(origin: Origin) -> Item | None:
    """losses["size"] = SizeLoss(), classifier[6] = Linear(); None for append() and for a key that is computed."""
    event = origin.spot.function.events[origin.spot.position]
    for target in event.targets if event.value is origin.expr else ():
        key = target.parts[1] if target.kind == "index" and len(target.parts) == 2 else None
        if key is not None and key.kind == "string":
            return key.text
        if key is not None and key.kind == "number" and key.text.isdigit():
            return int(key.text)
    return None
