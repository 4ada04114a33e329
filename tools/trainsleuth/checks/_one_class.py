"""Scores for a single class: a softmax over them is 1, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence

from trainsleuth.facts import Index, Instance, Value, makers

_WIDTHS = {"Linear": "out_features", "Conv1d": "out_channels", "Conv2d": "out_channels", "Conv3d": "out_channels"}


def layer_of_one(index: Index, values: Sequence[Value]) -> Instance | None:
    """The layer with a single output that all `values` come out of, at most squashed since; None where one may not."""
    layers = [value.layer for value in values]
    return layers[0] if layers and all(one is not None and _is_of_one(index, one) for one in layers) else None


def _is_of_one(index: Index, layer: Instance) -> bool:
    name = layer.name.rpartition(".")[2]
    if name not in _WIDTHS or layer.call is None or layer.spot is None:
        return False
    width = layer.call.argument(1, _WIDTHS[name])
    numbers = [one for one, _ in makers(index, width, layer.spot)] if width is not None else []
    return bool(numbers) and all(one.kind == "number" and one.text == "1" for one in numbers)
