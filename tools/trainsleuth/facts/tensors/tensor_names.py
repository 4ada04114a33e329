"""Values of names and attributes: where a variable, a tensor attribute or self.x got what it holds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.names import External, Module
from ..naming.sites import call_sites
from ..reading.scopes import Item, bindings
from ..records import Class, Event, Expr, Function
from ..tracing.flow import Origin
from ..tracing.things import Instance, Literal, Spot
from ..training.optimizers import OPTIMIZER_CLASSES
from ..words import words
from .detaching import detached_at
from .values import Value, Values, agreed, cut, joined, reborn, unknown

if TYPE_CHECKING:
    from ..index import Index

_LOADER = re.compile(r"load|data|iter|batch|fetch", re.IGNORECASE)
_ITERATING = words(
    """
    enumerate tqdm trange zip iter next islice cycle reversed track prefetch
    """
)
_SAME = frozenset(("T", "mT", "real"))
_NUMBERS = frozenset(("pi", "e", "inf", "nan", "tau", "newaxis"))
_PACKING = frozenset(("pack_padded_sequence", "pack_sequence"))
_FACTS = frozenset(("shape", "device", "dtype", "ndim", "requires_grad"))


class TensorNames:
    def __init__(self, index: Index, values: Values) -> None:
        self.index = index
        self.values = values

    def path(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        every = list(self.index.flow.origins(expr.text, spot))
        origins = [o for o in every if o.kind not in ("append", "extend")]
        written = [o for o in every if o.kind == "append" and _is_item(o)] if not items else []
        head, _, last = expr.text.rpartition(".")
        if not origins and head:
            yield from self._member(Expr("path", head, (), expr.line), last, expr.line, spot, items)
            return
        is_leaf = self._is_made_leaf(expr.text, spot, origins) or _leaf_of_outer(expr.text, spot, origins)
        detached, surely = detached_at(expr.text, spot)
        for origin in origins:
            for value in self._origin(origin, items):
                if written and value.grad in ("constant", "cut", "data"):
                    value = joined(
                        itertools.chain(
                            (value,), (self.values.one(o.expr, o.spot) for o in written if o.expr is not None)
                        )
                    )
                if detached:
                    if not surely:
                        yield value
                    value = cut(value, spot.function.path, detached, f"{expr.text}.detach_() leaves the graph behind")
                is_cut = value.grad == "reborn" or (is_leaf and value.grad == "cut")
                if is_cut and any(_is_optimized(expr.text, one) for one in {spot.function, origin.spot.function}):
                    value = Value(value.range, "leaf", before=value.grad)
                yield (reborn(value, spot.function.path, is_leaf, f"{expr.text} is made a leaf") if is_leaf else value)

    def attribute(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        yield from self._member(expr.parts[0], expr.text, expr.line, spot, items)

    def _origin(self, origin: Origin, items: tuple[Item, ...]) -> Iterator[Value]:
        if origin.symbol is not None or origin.expr is None:
            yield unknown(origin.why or "not a tensor")
        elif origin.kind == "for":
            yield from self._element(origin.expr, origin.spot, (*origin.items, *items))
        elif origin.kind == "augment":
            yield self.values.one(origin.expr, origin.spot)._replace(range="other", layer=None)
        elif origin.kind == "with" and origin.expr.last == "scale_loss" and origin.expr.kind == "call":
            yield from self.values.of(origin.expr.arguments[0], origin.spot)
        elif origin.kind == "with":
            yield unknown(f"what a with statement gives at line {origin.spot.line}")
        else:
            yield from self.values.of(origin.expr, origin.spot, (*origin.items, *items))

    def _element(self, source: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        if self.is_loader(source, spot):
            yield Value("unknown", "data", (), "", f"data from {source.last or 'a loader'}")
            return
        members = self.index.members.of(source, spot)
        if members and not items:
            yield agreed(self.values.one(member.expr, member.spot) for member in members)
        elif source.kind == "call" and source.last in ("range", "trange"):
            yield Value("other", "constant")
        else:
            yield unknown(f"an element at line {spot.line}")

    def is_loader(self, source: Expr, spot: Spot) -> bool:
        """Iterating over it gives batches of data."""
        if source.kind == "call" and (source.last in _ITERATING or source.last == "get_dataloader"):
            return any(self.is_loader(part, spot) for part in source.arguments)
        if source.kind == "call":
            return bool(_LOADER.search(source.last))
        things = self.index.objects.of(source, spot)
        if any(isinstance(thing, Instance) and "Loader" in thing.name for thing in things):
            return True
        if any(isinstance(thing, Literal) and thing.expr.kind in ("list", "each") for thing in things):
            return False
        return bool(_LOADER.search(source.last))

    def _member(self, owner: Expr, name: str, line: int, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        found = False
        for thing in self.index.objects.of(owner, spot):
            if isinstance(thing, External) and thing.name in ("math", "numpy") and name in _NUMBERS:
                found = True
                yield Value("other", "constant")
            elif isinstance(thing, External | Module | Class | Function):
                found = True
                yield unknown(f"{name} of {getattr(thing, 'name', 'a module')}")
            elif isinstance(thing, Instance):
                for value in self._of_instance(thing, name, spot, items):
                    found = True
                    yield value
        if found:
            return
        if name == "data" and items and isinstance(items[0], str):
            yield unknown(f"an entry of a table of data at line {line}")
        elif name == "data" and self._is_packed(owner, spot):
            yield from self.values.of(owner, spot, items)
        elif name in ("data", "detach"):
            for value in self.values.of(owner, spot, items):
                yield cut(value, spot.function.path, line, f".{name} leaves the graph behind")
        elif name in _SAME:
            yield from (value.reshaped() for value in self.values.of(owner, spot, items))
        elif name in _FACTS:
            yield Value("other", "constant")
        elif self._is_field(owner, spot):
            yield from self.values.of(owner, spot, (name, *items))
        else:
            yield unknown(f"attribute {name} at line {line}")

    def _of_instance(self, owner: Instance, name: str, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        if isinstance(owner.kind, External):
            if name in ("weight", "bias") and owner.kind.name.startswith("torch.nn."):
                yield Value("unknown", "live")
            elif owner.kind.name.endswith("nn.Parameter") and name in ("data",):
                yield Value("unknown", "cut", (), "leaf")
            return
        method = self.index.method(owner.kind, name)
        if method is not None and method.is_property:
            frame = self.index.frames.frame(method, None, None, owner)
            yield from self.values.returned(self.index.frames.returns(frame), items, name)
            return
        leaf_at = self._told_to_learn(owner.kind, name)
        for origin in self.index.flow.attributes(owner, name, spot):
            if origin.kind not in ("append", "extend") and not _is_none(origin.expr):
                for value in self._origin(origin, items):
                    yield reborn(value, *leaf_at, f"{name} is made a leaf") if leaf_at else value
        if owner.call is not None and (given := owner.call.keyword(name)) is not None and owner.spot is not None:
            yield from self.values.of(given, owner.spot, items)

    def _told_to_learn(self, cls: Class, name: str) -> tuple[str, int] | None:
        """Where a method of its class says that self.name requires a gradient."""
        for one in self.index.lineage(cls):
            for method, binding in self.index.hierarchy.attribute_bindings(one, f"{name}.requires_grad"):
                if binding.value is not None and binding.value.text == "True":
                    return method.path, method.events[binding.position].line
            for method in one.methods.values():
                for site in call_sites(method).get("requires_grad_", ()) if "requires_grad_" in method.called else ():
                    if site.call.callee == f"{method.self_name}.{name}.requires_grad_" and not site.call.arguments:
                        return method.path, site.call.line
        return None

    def _is_packed(self, owner: Expr, spot: Spot) -> bool:
        """A packed sequence: its `data` is its tensor, with its graph."""
        made = (
            [owner] if owner.kind == "call" else [o.expr for o in self.index.flow.origins(owner.text, spot) if o.expr]
        )
        return any(expr.kind == "call" and expr.last in _PACKING for expr in made)

    def _is_field(self, owner: Expr, spot: Spot) -> bool:
        """A record made by a call of a project function: `out.logits` may be followed into it."""
        return owner.kind == "call"

    def _is_made_leaf(self, name: str, spot: Spot, origins: list[Origin]) -> int:
        """Line where `name` was told to require a gradient, between its definition and here; 0 when it
        was not.
        """
        last = max((o.spot.position for o in origins if o.spot.function is spot.function), default=-1)
        for binding in bindings(spot.function).get(f"{name}.requires_grad", ()):
            if last < binding.position < spot.position and binding.value is not None and binding.value.text == "True":
                return spot.function.events[binding.position].line
        for position in range(last + 1, min(spot.position, len(spot.function.events))):
            event = spot.function.events[position]
            for call in event.calls if event.kind == "expression" else ():
                off = call.argument(0, "requires_grad") if call.last == "requires_grad_" else None
                if call.callee == f"{name}.requires_grad_" and (off is None or off.text != "False"):
                    return event.line
        return 0


def _leaf_of_outer(name: str, spot: Spot, origins: list[Origin]) -> int:
    """Line where a function around this one tells its own `name` to require a gradient; 0 where none does."""
    for function in {origin.spot.function for origin in origins} - {spot.function}:
        for site in call_sites(function).get("requires_grad_", ()) if "requires_grad_" in function.called else ():
            if site.call.callee == f"{name}.requires_grad_" and not site.call.arguments:
                return site.call.line
        for binding in bindings(function).get(f"{name}.requires_grad", ()):
            if binding.value is not None and binding.value.text == "True":
                return function.events[binding.position].line
    return 0


def _is_optimized(name: str, function: Function) -> bool:
    """The leaf is what is searched for: an optimizer or autograd.grad gets it, or its gradient is read."""
    if f"{name}.grad" in {part.text for event in function.events for root in _roots(event) for part in root.walk()}:
        return True
    given = (part.text for part in _searched_for(function))
    return any(one == name or _holds(function, one, name) for one in dict.fromkeys(given))


def _searched_for(function: Function) -> Iterator[Expr]:
    for event in function.events:
        for call in event.calls:
            if call.last == "grad" or call.last in OPTIMIZER_CLASSES:
                yield from (part for part in call.walk() if part.kind == "path")


def _holds(function: Function, listed: str, name: str) -> bool:
    """params = [w, b]; params.append(w)."""
    made = (one.value for one in bindings(function).get(listed, ()) if one.kind == "assign" and one.value is not None)
    added = (
        part
        for event in function.events
        for call in event.calls
        if call.callee in (f"{listed}.append", f"{listed}.extend")
        for part in call.parts[1:]
    )
    return any(part.text == name for root in (*made, *added) if _is_list(root) for part in root.walk())


def _is_list(expr: Expr) -> bool:
    """Of tensors as they are: nothing is computed from them."""
    return not any(part.kind in ("call", "binary", "index") for part in expr.walk())


def _roots(event: Event) -> tuple[Expr, ...]:
    return (*event.targets, event.value) if event.value is not None else event.targets


def _is_item(origin: Origin) -> bool:
    """x[i] = value, rather than x.append(value)."""
    event = origin.spot.function.events[origin.spot.position]
    return event.kind == "assign" and any(target.kind == "index" for target in event.targets)


def _is_none(expr: Expr | None) -> bool:
    return expr is not None and expr.kind == "constant" and expr.text == "None"
