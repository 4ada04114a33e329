"""Which things an expression may stand for: objects by class and constructor call, functions, classes,
literals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ..naming.names import External, Module
from ..reading.scopes import Item
from ..records import Class, Expr, Function
from ..running.contradiction import told_by_tests
from .flow import Origin
from .following import Following
from .things import Frame, Instance, Literal, Method, Spot, Thing, Unknown
from .wrappers import INNER, wrapped

if TYPE_CHECKING:
    from ..index import Index

_LITERALS = (
    "number",
    "string",
    "constant",
    "list",
    "tuple",
    "set",
    "dict",
    "each",
    "lambda",
    "format",
    "slice",
)
_TRANSPARENT = {"await": 0, "walrus": 0, "keyword": 0}


class Objects:
    """Narrow: every alternative is in the answer, what could not be followed as Unknown."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._names = index.names
        self._following: Following[Thing] = Following(
            self._of, Unknown("too many ways to follow"), index.circles, index.needs.anywhere
        )

    def of(self, expr: Expr, spot: Spot, items: tuple[Item, ...] = ()) -> tuple[Thing, ...]:
        """All alternatives for `expr` at `spot` (element `items` of it). () when it is only ever defined
        by itself.
        """
        if not items:
            if expr.kind in _LITERALS:
                return (Literal(expr, spot),)
            if expr.kind == "path" and (known := self._names.outside(spot.function, expr.text)):
                return known
        return self._following.ask(expr, spot, items)

    def afresh(self) -> AbstractContextManager[None]:
        """See `Following.afresh`."""
        return self._following.afresh()

    def _of(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Thing]:
        if expr.kind == "path":
            yield from self._path(expr, spot, items)
        elif expr.kind == "attr" and _is_super(expr.parts[0]):
            yield from self._pick(self._inherited(expr.text, spot), items)
        elif expr.kind == "attr":
            for thing in self.of(expr.parts[0], spot):
                yield from self._pick(self.attribute(thing, expr.text, spot), items)
        elif expr.kind == "call":
            yield from self._call(expr, spot, items)
        elif expr.kind == "choice":
            yield from self.of(expr.parts[0], spot, items)
            yield from self.of(expr.parts[2], spot, items)
        elif expr.kind == "boolean":
            for part in expr.parts:
                yield from self.of(part, spot, items)
        elif expr.kind in _TRANSPARENT and expr.parts:
            yield from self.of(expr.parts[0], spot, items)
        elif expr.kind == "index":
            yield from self._pick(self._element(expr, spot), items)
        elif expr.kind in _LITERALS:
            yield from self._pick(iter((Literal(expr, spot),)), items)
        elif expr.kind == "binary" and expr.text == "+":
            yield Literal(expr, spot)
        else:
            yield Unknown(f"a {expr.kind} expression at line {expr.line}")

    def _path(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Thing]:
        head, _, last = expr.text.rpartition(".")
        if not head and last == spot.function.self_name:
            yield self.self_of(spot)
            return
        found = False
        for origin in self.index.flow.origins(expr.text, spot):
            if origin.kind not in ("append", "extend", "augment"):
                found = True
                yield from self._of_origin(origin, items)
        if not found and head:
            is_self = head == spot.function.self_name
            owners = (self.self_of(spot),) if is_self else self.of(Expr("path", head, (), expr.line), spot)
            for thing in owners:
                yield from self._pick(self.attribute(thing, last, spot), items)

    def self_of(self, spot: Spot) -> Thing:
        frame, cls = spot.frame, self.index.class_of(spot.function)
        if frame is not None and frame.function is spot.function and frame.owner is not None:
            return frame.owner
        if cls is None:
            return Unknown("self outside of a class")
        is_class_method = any(mark.last == "classmethod" for mark in spot.function.decorators)
        return cls if is_class_method else Instance(cls)

    def _of_origin(self, origin: Origin, items: tuple[Item, ...]) -> Iterator[Thing]:
        if origin.symbol is not None:
            yield origin.symbol
        elif origin.expr is None:
            yield Unknown(origin.why)
        elif origin.kind == "for":
            yield from self._pick(self._elements_of(origin.expr, origin.spot, origin.items), items)
        else:
            yield from self.of(origin.expr, origin.spot, (*origin.items, *items))

    def _pick(self, things: Iterable[Thing], items: tuple[Item, ...]) -> Iterator[Thing]:
        for thing in things:
            if not items:
                yield thing
            elif isinstance(thing, Literal) and thing.expr.kind in ("list", "tuple", "dict"):
                for part in parts_of(thing.expr, items[0]):
                    yield from self.of(part, thing.spot, items[1:])
            else:
                yield Unknown(f"element {items[0]} of something not written out")

    def attribute(self, thing: Thing, name: str, spot: Spot) -> Iterator[Thing]:
        if isinstance(thing, Module):
            symbol = self.index.names.member(thing, name)
            if isinstance(symbol, External | Module | Class | Function):
                yield symbol
            elif symbol is not None:
                yield from self.of(
                    Expr("path", symbol.name, (), 0),
                    Spot(symbol.scope, len(symbol.scope.events), None, spot.reach),
                )
            else:
                yield Unknown(f"{name} is not in {thing.path or thing.folder}")
        elif isinstance(thing, External):
            yield External(f"{thing.name}.{name}")
        elif isinstance(thing, Class):
            found = self.index.method(thing, name)
            yield found if found is not None else Unknown(f"{thing.name}.{name}")
        elif isinstance(thing, Instance):
            yield from self._attribute_of(thing, name, spot)
        elif isinstance(thing, Unknown):
            yield thing
        else:
            yield Unknown(f"attribute {name}")

    def _attribute_of(self, owner: Instance, name: str, spot: Spot) -> Iterator[Thing]:
        if isinstance(owner.kind, External):
            if name == "forward" and owner.kind.name.startswith("torch.nn."):
                yield owner  # layer.forward(x) is layer(x)
                return
            inner = wrapped(owner.call) if owner.call is not None and name in INNER else None
            if inner is not None and owner.spot is not None:
                yield from self.of(inner, owner.spot)
            else:
                yield Unknown(f"{name} of a {owner.kind.name}")
            return
        methods = self.index.hierarchy.methods(owner, name)
        for method in methods:
            yield from self._bound(method, self._narrowed(owner, method), spot)
        if methods:
            return
        found = False
        for origin in self.index.flow.attributes(owner, name, spot):
            found = found or origin.expr is not None
            if origin.kind not in ("append", "extend", "augment"):
                yield from self._of_origin(origin, ())
        if not found:
            if name in INNER:
                yield owner
            else:
                yield Unknown(f"{owner.name}.{name} is not set in its class")

    def _bound(self, method: Function, owner: Instance, spot: Spot) -> Iterator[Thing]:
        if any(mark.last in ("property", "cached_property") for mark in method.decorators):
            yield from self.returned(self.index.frames.frame(method, None, spot, owner), ())
        else:
            yield Method(method, owner)

    def _narrowed(self, owner: Instance, method: Function) -> Instance:
        """An object of which only a base class is known is one of the class whose method it runs."""
        cls = self.index.class_of(method) if owner.call is None else None
        return Instance(cls) if cls is not None and owner.kind in self.index.lineage(cls)[1:] else owner

    def _call(self, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Thing]:
        place = items[0] if items and isinstance(items[0], int) else None
        inner = wrapped(call, place)
        if inner is not None and not self._is_own_function(call, spot):
            yield from self.of(inner, spot, items[1:] if items else ())
            return
        if _is_super(call):
            yield from self._super(spot)
            return
        for thing in self.of(call.parts[0], spot):
            yield from self._result(thing, call, spot, items)

    def _result(self, thing: Thing, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Thing]:
        if isinstance(thing, Class):
            yield Instance(thing, call, spot)
        elif isinstance(thing, External):
            yield from self._external(thing, call, spot, items)
        elif isinstance(thing, Function | Method):
            function = thing.function if isinstance(thing, Method) else thing
            owner = thing.owner if isinstance(thing, Method) else None
            yield from self.returned(self.index.frames.frame(function, call, spot, owner), items)
        elif isinstance(thing, Unknown):
            yield thing
        else:
            yield Unknown(f"the result of {call.last or 'a call'}() at line {call.line}")

    def _external(self, thing: External, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Thing]:
        last = thing.name.rpartition(".")[2]
        if thing.name == "functools.partial" and len(call.arguments) == 1:
            flags = any(part.kind == "keyword" and part.parts[0].kind == "constant" for part in call.parts[1:])
            for given in self.of(call.arguments[0], spot):
                is_made = isinstance(given, Class | External)
                yield given if is_made or not flags else Unknown(f"a partial with a flag at line {call.line}")
        elif thing.name == "builtins.getattr" and len(call.arguments) >= 2:
            named = call.arguments[1]
            for owner in self.of(call.arguments[0], spot) if named.kind == "string" else ():
                yield from self.attribute(owner, named.text, spot)
            if named.kind != "string":
                yield Unknown(f"getattr by a computed name at line {call.line}")
        elif thing.name in ("builtins.list", "builtins.tuple", "builtins.iter", "builtins.reversed") and call.arguments:
            yield from self.of(call.arguments[0], spot, items)
        elif thing.name.startswith("torch.nn.utils.") and last.endswith("_norm") and call.arguments:
            yield from self.of(call.arguments[0], spot)  # weight_norm under another name: the layer itself
        elif last[:1].isupper() or last in _MAKERS:
            yield from self._pick(iter((Instance(thing, call, spot),)), items)
        else:
            yield Unknown(f"the result of {thing.name}() at line {call.line}")

    def _super(self, spot: Spot) -> Iterator[Thing]:
        cls = self.index.class_of(spot.function)
        bases = self.index.lineage(cls)[1:] if cls is not None else ()
        if bases:
            yield Instance(bases[0])
        else:
            yield Unknown("super() of an external class")

    def _inherited(self, name: str, spot: Spot) -> Iterator[Thing]:
        """What super().name is: of the class above, on the object at hand."""
        cls, owner = self.index.class_of(spot.function), self.self_of(spot)
        above = self.index.lineage(cls)[1:] if cls is not None else ()
        method = next((one.methods[name] for one in above if name in one.methods), None)
        if method is None:
            yield Unknown(f"{name} of super()")
        elif isinstance(owner, Instance):
            yield from self._bound(method, owner, spot)
        else:
            yield method

    def returned(self, frame: Frame, items: tuple[Item, ...]) -> Iterator[Thing]:
        """What the function of `frame` returns."""
        for expr, spot in self.index.frames.returns(frame):
            yield from self.of(expr, spot, items)

    def _is_own_function(self, call: Expr, spot: Spot) -> bool:
        """The project's own `prepare` or `copy` is followed instead of believed."""
        symbol = self.index.resolve(spot.function, call.callee) if call.callee else None
        return isinstance(symbol, Function | Class)

    def _element(self, expr: Expr, spot: Spot) -> Iterator[Thing]:
        key = expr.parts[1] if len(expr.parts) == 2 else None
        item: Item | None = None
        if key is not None and key.kind == "string":
            item = key.text
        elif key is not None and key.kind == "number" and key.text.isdigit():
            item = int(key.text)
        isnt: frozenset[str] = frozenset()
        if key is not None and key.kind == "path":
            item, isnt = told_by_tests(spot, key.text)
        yield from self._elements_of(expr.parts[0], spot, () if item is None else (item,), item is None, isnt)

    def _elements_of(
        self,
        expr: Expr,
        spot: Spot,
        items: tuple[Item, ...],
        every: bool = True,
        isnt: frozenset[str] = frozenset(),
    ) -> Iterator[Thing]:
        """Elements of a collection: one by its key or place, or every one but those under `isnt`, then element `items` of
        each.
        """
        members = [m for m in self.index.members.of(expr, spot) if m.key not in isnt]
        chosen = [m for m in members if every or m.key is None or m.key == items[0]]
        for member in chosen:
            yield from self.of(member.expr, member.spot, items if every else items[1:])
        if not chosen:
            yield Unknown(f"an element of a collection at line {expr.line}")


def _is_super(expr: Expr) -> bool:
    return expr.kind == "call" and (expr.callee == "super" or expr.callee.endswith(".super"))


_MAKERS = frozenset(["defaultdict", "deque", "namedtuple"])


def parts_of(expr: Expr, item: Item) -> Iterator[Expr]:
    """Parts of a list, tuple or dict literal under `item`; every part when a star hides places."""
    if expr.kind == "dict":
        for pair in expr.parts:
            if pair.kind == "pair" and pair.parts[0].kind == "string" and pair.parts[0].text == item:
                yield pair.parts[1]
    elif isinstance(item, int) and not any(part.kind == "star" for part in expr.parts):
        yield from expr.parts[item : item + 1]
