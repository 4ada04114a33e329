"""How many axes a tensor has, where the code says it, and whether the first one is the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..records import Expr
from ..tracing.callers import Target, external_name
from ..tracing.things import Instance, Spot
from ..wording import written
from ..words import words
from .axis_letters import lettered
from .operations import KEEPING_LAYERS
from .subject import is_function_call

if TYPE_CHECKING:
    from ..index import Index

MAX_DEPTH = 12


class Rank(NamedTuple):
    """`axes` in all; `is_batch_first`: axis 0 surely counts examples. `why` and `line`: what says so.

    Not `is_exact`: there may be more axes.
    """

    axes: int
    is_batch_first: bool
    why: str
    path: str
    line: int
    is_exact: bool = True


def rank_of(index: Index, expr: Expr, spot: Spot, depth: int = MAX_DEPTH) -> Rank | None:
    """None where nothing in the code settles it. Narrow: all alternatives must agree."""
    if not depth:
        return None
    if expr.kind == "path":
        return _of_name(index, expr, spot, depth)
    if expr.kind == "call":
        return _of_call(index, expr, spot, depth)
    if expr.kind == "binary":
        found = [rank_of(index, part, spot, depth - 1) for part in expr.parts]
        known = [rank for rank in found if rank is not None]
        return max(known, key=lambda rank: rank.axes) if known else None
    if expr.kind == "unary":
        return rank_of(index, expr.parts[0], spot, depth - 1)
    if expr.kind == "index":
        return _of_slices(rank_of(index, expr.parts[0], spot, depth - 1), expr.parts[1:])
    return None


def _of_slices(rank: Rank | None, keys: tuple[Expr, ...]) -> Rank | None:
    """x[:, a:b] keeps the axes; every number takes one away. Only where the first axis is kept whole."""
    flat = keys[0].parts if len(keys) == 1 and keys[0].kind == "tuple" else keys
    if rank is None or not flat or flat[0].kind != "slice" or flat[0].parts:
        return None
    numbers = sum(axis_of(key) is not None for key in flat)
    if any(key.kind != "slice" and axis_of(key) is None for key in flat):
        return None
    return rank._replace(axes=rank.axes - numbers)


def _of_name(index: Index, expr: Expr, spot: Spot, depth: int) -> Rank | None:
    found = []
    for origin in index.flow.origins(expr.text, spot):
        if origin.kind not in ("assign", "argument") or origin.expr is None or origin.items:
            return None
        found.append(rank_of(index, origin.expr, origin.spot, depth - 1))
    return _agreed(found)


def _agreed(found: list[Rank | None]) -> Rank | None:
    same = {(rank.axes, rank.is_batch_first, rank.is_exact) if rank is not None else None for rank in found}
    return found[0] if len(same) == 1 else None


def _of_call(index: Index, call: Expr, spot: Spot, depth: int) -> Rank | None:
    last, receiver = call.last, call.receiver
    is_function = is_function_call(index, call, spot)
    given = call.argument(0, "input") if is_function else receiver
    numbers = call.arguments[1:] if is_function else call.arguments
    path, line = spot.function.path, call.line
    if last in ("bmm", "baddbmm"):
        return Rank(3, True, f"{last} gives three axes, the batch first", path, line)
    if last in ("einsum", "rearrange"):
        found = lettered(call)
        return found and Rank(found.axes, found.is_batch_first, f"{last} names {found.axes} axes", path, line)
    if last == "matmul":
        return _of_product(numbers[0] if numbers else None, path, line)
    if last in ("conv1d", "conv2d", "conv3d"):
        return Rank(int(last[4]) + 2, True, f"{last} gives {int(last[4]) + 2} axes", path, line)
    if last in ("view", "reshape") and numbers:
        return _of_view(numbers, path, line)
    if last == "flatten" and numbers and numbers[0].text == "1" and len(numbers) == 1:
        return Rank(2, True, "flatten(1) gives two axes, the batch first", path, line)
    if last in ("flatten", "ravel") and not numbers and not call.keyword("start_dim"):
        return Rank(1, False, f"{last}() gives one axis", path, line)
    layer = _layer(index, call, spot)
    if layer:
        return _of_layer(index, layer, call, spot, depth)
    if receiver is None or not is_function:
        returned = _of_project(index, call, spot, depth)
        if returned is not None:
            return returned
    if given is None or not (is_function or last in _SAME | set(_CHANGE) | {"mean", "sum", "transpose"}):
        return None
    inner = rank_of(index, given, spot, depth - 1)
    if inner is None or last in _SAME:
        return inner
    if last in _CHANGE and numbers and axis_of(numbers[0]) not in (None, 0):
        return inner._replace(axes=inner.axes + _CHANGE[last])
    if last in ("mean", "sum") and axis_of(call.keyword("dim") or (numbers[0] if numbers else None)) not in (None, 0):
        return inner._replace(axes=inner.axes - (call.keyword("keepdim") is None))
    if (
        last == "transpose"
        and len(numbers) == 2
        and 0 not in map(axis_of, numbers)
        and None not in map(axis_of, numbers)
    ):
        return inner
    return None


def _of_project(index: Index, call: Expr, spot: Spot, depth: int) -> Rank | None:
    """Of a function or model of the project: what everything that it returns agrees on."""
    targets = list(index.calling.targets(call, spot)) if depth > 4 else []
    known = [target for target in targets if isinstance(target, Target) and target.function.name != "__init__"]
    if not known or len(known) < len(targets):
        return None
    frames = [index.frames.frame(target.function, call, spot, target.owner) for target in known[:4]]
    returned = [(value, at) for frame in frames for value, at in index.frames.returns(frame)]
    return _agreed([rank_of(index, value, at, depth - 3) for value, at in returned]) if returned else None


def _of_product(second: Expr | None, path: str, line: int) -> Rank | None:
    """matmul(q, k.transpose(2, 3)): the last two axes are multiplied, those before count."""
    if second is None or second.kind != "call" or second.last not in ("transpose", "swapaxes"):
        return None
    swapped = [axis_of(part) for part in second.arguments]
    if len(swapped) != 2 or None in swapped or 0 in swapped:
        return None
    highest = max(axis for axis in swapped if axis is not None)
    if highest < 2:
        return None
    return Rank(highest + 1, True, f"{written(second)} shows at least {highest + 1} axes", path, line, is_exact=False)


def _of_view(sizes: tuple[Expr, ...], path: str, line: int) -> Rank | None:
    """view(x.size(0), -1): as many axes as sizes are written; the batch first by the look of the first size."""
    if sizes[0].kind in ("list", "tuple"):
        sizes = sizes[0].parts
    if any(size.kind == "star" for size in sizes):
        return None
    first = sizes[0]
    is_size = first.kind == "call" and first.last == "size" and [part.text for part in first.arguments] == ["0"]
    is_shape = first.kind == "index" and first.parts[0].last == "shape" and first.parts[1].text == "0"
    is_column = len(sizes) == 2 and sizes[1].text == "1"  # a number for each of them: a weight of nodes or of a bag
    is_batch = (is_size or is_shape or first.last.lower() in _BATCH) and not is_column
    return Rank(len(sizes), is_batch, f"it is viewed with {len(sizes)} axes", path, line)


def _layer(index: Index, call: Expr, spot: Spot) -> str:
    """Last name of the torch.nn layer that is called; "" when it is none, or not known."""
    names = {
        external_name(thing) if isinstance(thing, Instance) else "" for thing in index.objects.of(call.parts[0], spot)
    }
    name = names.pop() if len(names) == 1 else ""
    return name.rpartition(".")[2] if name.startswith("torch.nn.") else ""


def _of_layer(index: Index, layer: str, call: Expr, spot: Spot, depth: int) -> Rank | None:
    if layer.startswith("Conv") and layer[-2:-1].isdigit():
        axes = int(layer[-2]) + 2
        return Rank(axes, True, f"{layer} gives {axes} axes, the batch first", spot.function.path, call.line)
    if layer == "Flatten" and call.arguments:
        return Rank(2, True, "Flatten gives two axes, the batch first", spot.function.path, call.line)
    inner = rank_of(index, call.arguments[0], spot, depth - 1) if call.arguments else None
    if inner is not None and layer == "Embedding":
        return inner._replace(axes=inner.axes + 1)
    keeps = layer in ("Linear", "LayerNorm", "BatchNorm1d") or layer in _SAME_LAYERS | KEEPING_LAYERS - {"Rearrange"}
    return inner if keeps else None


def axis_of(expr: Expr | None) -> int | None:
    if expr is None:
        return None
    if expr.kind == "number" and expr.text.isdigit():
        return int(expr.text)
    if expr.kind == "unary" and expr.text == "-" and expr.parts[0].text.isdigit():
        return -int(expr.parts[0].text)
    return None


_CHANGE = {"unsqueeze": 1, "squeeze": -1}
_BATCH = words("b bs bsz n batch batch_size batchsize nbatch num_batch")
_SAME = words(
    """
    relu tanh sigmoid gelu silu leaky_relu elu dropout contiguous clone float double half to cuda cpu masked_fill
    clamp exp log softplus layer_norm div mul add sub linear masked_fill_ relu_ detach abs sqrt
    """
)
_SAME_LAYERS = words("Dropout ReLU GELU Tanh Sigmoid LeakyReLU ELU SiLU Identity")
