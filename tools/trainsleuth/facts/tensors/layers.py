"""Values that layers of torch.nn give: single layers, losses, and Sequential by its last layer that
counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..naming.modules import owns_parameters
from ..reading.scopes import Item
from ..records import Expr
from ..tracing.callers import Target, external_name
from ..tracing.things import Instance, Spot, Thing
from . import operations as ops
from .values import Value, Values, agreed, joined, range_noun, unknown

if TYPE_CHECKING:
    from ..index import Index

ProjectCall = Callable[[Target, Expr, Spot, tuple[Item, ...]], Iterator[Value]]


class Layers:
    """`project` evaluates the call of a project function: a Sequential may end in a project module."""

    def __init__(self, index: Index, values: Values, project: ProjectCall) -> None:
        self.index = index
        self.values = values
        self.project = project

    def value(self, layer: Instance, call: Expr, spot: Spot) -> Value:
        """What calling an external object gives: layers and losses of torch.nn are known."""
        name = external_name(layer)
        last = name.rpartition(".")[2]
        if not ops.is_torch_layer(name):
            return unknown(f"the result of a {name} object")
        if last == "Sequential":
            return self._sequential(layer, call, spot)
        return self._layer_value(layer, call, spot)

    def _given(self, call: Expr, spot: Spot) -> Value:
        stars = (
            unknown(f"arguments that are not written out at line {p.line}") for p in call.arguments if p.kind == "star"
        )
        return joined(
            itertools.chain((self.values.one(part, spot) for part in call.arguments if part.kind != "star"), stars)
        )

    def _layer_value(self, layer: Instance, call: Expr, spot: Spot) -> Value:
        last = external_name(layer).rpartition(".")[2]
        if last in ops.KEEPING_LAYERS:
            kept = self.values.one(call.arguments[0], spot) if call.arguments else self._given(call, spot)
            return kept.reshaped() if last in ops.RESHAPING_LAYERS else kept
        if ops.has_parameters(external_name(layer)):
            return Value(ops.RANGE_OF_LAYER.get(last, "other"), "live", layer=layer)
        given = self._given(call, spot)
        grad = given.grad
        made = ops.RANGE_OF_LAYER.get(last, "other")
        chain = given.chain if grad in ("cut", "reborn") else ()
        value = Value(
            made, grad, chain, given.before if chain else "", given.why, cut_at=given.cut_at if chain else None
        )
        if made in ("other", "logits"):
            return value
        if len(call.arguments) == 1:
            value = value._replace(layer=self.values.one(call.arguments[0], spot).layer)
        where = layer.spot.function.path if layer.spot is not None else spot.function.path
        line = layer.call.line if layer.call is not None else call.line
        return value.then(where, line, f"nn.{last} gives {range_noun(made)}")

    def _sequential(self, layer: Instance, call: Expr, spot: Spot) -> Value:
        """The last layer that changes the range decides; any layer with parameters makes it live."""
        members = list(self.index.members.of_thing(layer))
        if not members:
            return unknown("a Sequential whose layers were not found")
        held = [self.index.objects.of(member.expr, member.spot) for member in members]
        is_live = any(
            isinstance(thing, Instance) and owns_parameters(self.index, thing) for one in held for thing in one
        )
        tails: list[Value] = []
        for member in reversed(members):
            values = [self._tail(thing, call, spot) for thing in self.index.objects.of(member.expr, member.spot)]
            if values and all(value is None for value in values):
                continue  # passes through what came before
            tails.append(agreed(value or unknown("one of several layers") for value in values))
            if member.certain:
                break
        value = (agreed(tails) if tails else self._given(call, spot))._replace(layer=_last(held))
        made = (
            (layer.spot.function.path, layer.call.line) if layer.spot is not None and layer.call is not None else None
        )
        if tails and made is not None and (place := self.index.altered.get(made)):
            value = unknown(f"a Sequential whose layers are changed at {place}")
        if is_live:
            return value._replace(grad="live")
        is_known = all(one and all(isinstance(thing, Instance) for thing in one) for one in held)
        if value.grad in ("cut", "reborn") and not is_known:
            return unknown("a Sequential that may hold parameters: some layer was not resolved")._replace(
                range=value.range
            )
        return value

    def _tail(self, thing: Thing, call: Expr, spot: Spot) -> Value | None:
        """What a layer at the end of a Sequential makes of its input; None when it passes it through."""
        if not isinstance(thing, Instance):
            return unknown("a layer that was not resolved")
        name = external_name(thing)
        if name.rpartition(".")[2] in ops.KEEPING_LAYERS:
            return None
        if name.endswith(".Sequential"):
            return self._sequential(thing, call, spot)
        if ops.is_torch_layer(name):
            return self._layer_value(thing, call, spot)
        found = [
            v
            for t in self.index.calling.called(thing, call, spot)
            if isinstance(t, Target)
            for v in self.project(t, call, spot, ())
        ]
        return agreed(found) if found else unknown(f"a {thing.name} layer")


def _last(held: list[tuple[Thing, ...]]) -> Instance | None:
    """The layer with parameters whose output the layers behind it only squash."""
    for things in reversed(held):
        thing = things[0] if len(things) == 1 else None
        if not isinstance(thing, Instance) or not ops.is_torch_layer(name := external_name(thing)):
            return None
        last = name.rpartition(".")[2]
        if ops.has_parameters(name):
            return thing
        if last in ops.RESHAPING_LAYERS or last not in (*ops.KEEPING_LAYERS, *ops.RANGE_OF_LAYER):
            return None
    return None
