"""Values of calls: torch functions, tensor methods, layers, losses, and the project's own functions and
modules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.modules import is_module
from ..naming.names import External, Module
from ..reading.scopes import Item
from ..records import Class, Expr, Function
from ..tracing.callers import Target, external_name
from ..tracing.things import Instance, Literal, Method, Spot, Thing, Unknown
from ..wording import written
from ..words import words
from . import operations as ops
from .layers import Layers
from .values import Value, Values, agreed, cut, joined, range_noun, reborn, unknown

if TYPE_CHECKING:
    from ..index import Index


class TensorCalls:
    def __init__(self, index: Index, values: Values) -> None:
        self.index = index
        self.values = values
        self.layers = Layers(index, values, self._project)

    def call(self, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        if call.last in ("scale", "scale_loss") and call.arguments and _is_scaler(call):
            yield from self.values.of(call.arguments[0], spot)
            return
        if self._is_tensor_method(call, spot):
            yield from self._method(call, spot, items)
            return
        for thing in self.index.objects.of(call.parts[0], spot):
            yield from self._called(thing, call, spot, items)

    def gives_sequence(self, call: Expr, spot: Spot) -> bool:
        """Every way the called project function returns is a tuple or list."""
        found = [
            value.kind in ("tuple", "list")
            for target in self.index.calling.run_by(call, spot)
            for value, _ in self.index.frames.returns(
                self.index.frames.frame(target.function, call, spot, target.owner)
            )
        ]
        return bool(found) and all(found)

    def _is_tensor_method(self, call: Expr, spot: Spot) -> bool:
        receiver, name = call.receiver, call.last
        known = name in _METHODS
        if receiver is None or not known:
            return False
        if not self.index.functions_named(name):
            head = self.index.resolve(spot.function, receiver.text) if receiver.kind == "path" else None
            return not isinstance(head, External | Module | Class) and not self._is_layer(call, spot)
        for thing in self.index.objects.of(receiver, spot):
            if isinstance(thing, Unknown | Literal):
                continue
            is_parameter = isinstance(thing, Instance) and external_name(thing).endswith(("Parameter", "Variable"))
            if not is_parameter:
                return False
        return True

    def _is_layer(self, call: Expr, spot: Spot) -> bool:
        """An attribute of an object that only has the name of a tensor method: self.softmax = nn.LogSoftmax(), or
        one of two functions.
        """
        assert call.receiver is not None
        if call.receiver.text != spot.function.self_name and call.last not in ops.RANGE_OF_FUNCTION:
            return False
        things = self.index.objects.of(call.parts[0], spot)
        return any(isinstance(thing, Instance | External | Function) for thing in things)

    def _method(self, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        receiver, name = call.receiver, call.last
        assert receiver is not None
        path, line = spot.function.path, call.line
        if name in ops.RANGE_OF_FUNCTION:
            yield self._ranged(name, call, self.values.one(receiver, spot), spot)
        elif name in ops.CUTTING_METHODS:
            for value in self.values.of(receiver, spot, items):
                yield cut(value, path, line, f"{written(call)} leaves the graph behind")
        elif name == "requires_grad_":
            off = call.argument(0, "requires_grad")
            for value in self.values.of(receiver, spot, items):
                yield (
                    value
                    if off is not None and off.text == "False"
                    else reborn(value, path, line, f"{written(call)} makes it a leaf of its own")
                )
        elif name in ops.KEEPING:
            kept = self.values.of(receiver, spot, items if name not in _SPLITTING else ())
            yield from (value.reshaped() if name in ops.RESHAPING else value for value in kept)
        elif name in ops.FRESH or name in ops.STEPLIKE:
            yield Value("other", "constant")
        else:
            arguments = [receiver, *(part for part in call.arguments if part.kind not in ("star", "string"))]
            yield joined(itertools.chain((self.values.one(part, spot) for part in arguments), _spread(call)))

    def _ranged(self, name: str, call: Expr, given: Value, spot: Spot) -> Value:
        made = ops.RANGE_OF_FUNCTION[name]
        grad = "live" if made == "logits" else given.grad
        chain = given.chain if grad in ("cut", "reborn") else ()
        layer = given.layer if made != "logits" else None
        value = Value(made, grad, chain, given.before, given.why, cut_at=given.cut_at if chain else None, layer=layer)
        return value.then(spot.function.path, call.line, f"{written(call)} gives {range_noun(made)}")

    def _called(self, thing: Thing, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        if isinstance(thing, External):
            yield from self._external(thing.name, call, spot, items)
        elif isinstance(thing, Instance) and isinstance(thing.kind, External):
            yield self.layers.value(thing, call, spot)
        elif isinstance(thing, Class):
            yield from self._record(thing, call, spot, items)
        elif isinstance(thing, Unknown):
            yield unknown(thing.why)
        elif isinstance(thing, Function | Method | Instance):
            for target in self.index.calling.called(thing, call, spot):
                if isinstance(target, Target):
                    yield from self._project(target, call, spot, items)
                else:
                    yield unknown(f"{written(call)}: no forward was found")
        else:
            yield unknown(f"{written(call)} at line {call.line}")

    def _project(self, target: Target, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        function = target.function
        frame = self.index.frames.frame(function, call, spot, target.owner)
        name = f"{function.owner}.{function.name}" if function.owner else function.name
        is_model = target.owner is not None and is_module(self.index, target.owner)
        is_off = any(mark.last in ops.NO_GRAD for mark in function.decorators)
        found = False
        for value in self.values.returned(self.index.frames.returns(frame), items, name):
            found = True
            if is_model and value.grad == "unknown" and not is_off:
                value = value._replace(grad="live")
            yield value.then(spot.function.path, call.line, f"{written(call)} is it here")
        if not found:
            yield unknown(f"{name} returns nothing that was found")

    def _record(self, cls: Class, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        """A dataclass or named tuple that carries tensors: the field that is asked for."""
        given = call.keyword(str(items[0])) if items else None
        if given is not None:
            yield from self.values.of(given, spot, items[1:])
        else:
            yield unknown(f"a {cls.name} object")

    def _external(self, name: str, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        last = name.rpartition(".")[2]
        path, line = spot.function.path, call.line
        first = call.argument(0, "input", "x", "tensors", "data")
        if name.startswith("builtins."):
            yield from self._builtin(last, call, spot)
        elif last in ops.COPYING and (ops.is_torch(name) or last == "Variable"):
            yield from self._copied(call, first, spot)
        elif last == "Parameter" and ops.is_torch(name):
            yield Value("unknown", "live")
        elif last[:1].isupper() and last not in ops.COPYING:
            yield unknown(f"a {name} object")
        elif last in ("as_tensor", "asarray") and ops.is_torch(name) and first is not None:
            yield from self.values.of(first, spot)
        elif name.startswith(("numpy.", "math.", "scipy.")):
            value = joined(self.values.one(part, spot) for part in call.arguments if part.kind != "star")
            if value.grad in ("live", "unknown") and not name.startswith("math."):
                yield unknown(f"{name} of a tensor with a graph: it raises, or keeps the tensors as objects")
                return
            made = ops.RANGE_OF_FUNCTION.get(last, "other")
            yield cut(value._replace(range=made), path, line, f"{written(call)} leaves the graph behind")
        elif not ops.is_torch(name) and not name.startswith(("einops.", "entmax.")):
            yield unknown(f"the result of {name}")
        elif last in ops.RANGE_OF_FUNCTION and first is not None:
            yield self._ranged(last, call, self.values.one(first, spot), spot)
        elif last in ops.FRESH:
            wants = call.keyword("requires_grad")
            yield Value("other", "leaf" if wants is not None and wants.text == "True" else "constant")
        elif last in ops.KEEPING and first is not None:
            kept = self._kept(first, spot, items if last not in _SPLITTING else ())
            yield from (value.reshaped() if last in ops.RESHAPING else value for value in kept)
        else:
            parts = [part for part in call.arguments if part.kind not in ("star", "string")]
            parts += [p.parts[0] for p in call.parts[1:] if p.kind == "keyword" and p.parts[0].kind not in ("string",)]
            yield joined(itertools.chain((self._elements(part, spot) for part in parts), _spread(call)))

    def _kept(self, first: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        if first.kind in ("list", "tuple", "each") or self._is_list(first, spot):
            yield self._elements(first, spot)
        else:
            yield from self.values.of(first, spot, items)

    def _is_list(self, expr: Expr, spot: Spot) -> bool:
        things = self.index.objects.of(expr, spot) if expr.kind == "path" else ()
        return bool(things) and all(isinstance(t, Literal) and t.expr.kind in ("list", "tuple", "each") for t in things)

    def _elements(self, expr: Expr, spot: Spot) -> Value:
        """Of a list of tensors: what its members agree on; of a tensor: itself."""
        if expr.kind in ("list", "tuple", "each") or self._is_list(expr, spot):
            members = self.index.members.of(expr, spot)
            if members:
                return agreed(self.values.one(member.expr, member.spot) for member in members)
        return self.values.one(expr, spot)

    def _builtin(self, last: str, call: Expr, spot: Spot) -> Iterator[Value]:
        arguments = [part for part in call.arguments if part.kind != "star"]
        if last == "len":
            yield Value("other", "constant")
        elif last in ops.CUTTING_BUILTINS and arguments:
            value = self.values.one(arguments[0], spot)
            yield cut(value, spot.function.path, call.line, f"{written(call)} is a plain number")
        elif last in ("sum", "max", "min", "abs") and arguments:
            yield joined(self._elements(part, spot) for part in arguments)
        elif last == "next":
            yield Value("unknown", "data", (), "", "data from an iterator")
        else:
            yield unknown(f"the result of {last}()")

    def _copied(self, call: Expr, first: Expr | None, spot: Spot) -> Iterator[Value]:
        wants = call.keyword("requires_grad")
        is_leaf = wants is not None and wants.text == "True"
        path, line = spot.function.path, call.line
        for value in (self._elements(first, spot),) if first is not None else (Value("other", "constant"),):
            value = cut(value, path, line, f"{written(call)} copies the number without its graph")
            yield reborn(value, path, line, f"{written(call)} is a leaf of its own") if is_leaf else value


def _spread(call: Expr) -> Iterator[Value]:
    """What comes out of a star argument is not known."""
    if any(part.kind in ("star", "doublestar") for part in call.parts[1:]):
        yield unknown(f"arguments that are not written out at line {call.line}")


def _is_scaler(call: Expr) -> bool:
    """A gradient scaler gives back the loss times a number."""
    receiver = call.receiver
    return receiver is not None and receiver.last.lower().endswith(("scaler", "amp"))


_SPLITTING = frozenset(["chunk", "split", "unbind", "tensor_split"])
_ARITHMETIC = words(
    """
    add sub mul div pow sqrt exp log log2 log1p abs neg sum mean max min norm matmul mm bmm dot
    square prod cumsum std var masked_fill where addmm baddbmm relu tanh lerp scatter scatter_ topk
    sort log10 reciprocal rsqrt index_add index_copy logsumexp softplus erf atan2 sin cos outer mv
    addcmul renorm amax amin backward
    """
) - {"backward"}
_METHODS = (
    frozenset(ops.RANGE_OF_FUNCTION) | ops.KEEPING | ops.CUTTING_METHODS | ops.FRESH | ops.STEPLIKE | _ARITHMETIC
) - {
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "bilinear",
    "dropout",
    "interpolate",
    "upsample",
    "rearrange",
    "data",
}
