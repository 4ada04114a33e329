"""How many examples make one step of the optimizer, where every factor of it is set."""

from __future__ import annotations

import re
from typing import Any

from ...configuration import Key, Truth
from .topics import TOPICS

_BATCH = re.compile(  # of each process, whatever reads it
    r"train_dataloader\.(?:batch_sampler\.)?batch_size|(?:.*\.)?(?:samples_per_gpu|per_device_train_batch_size|"
    r"train_micro_batch_size_per_gpu|per_gpu_train_batch_size|(?:train_)?batch_size_per_gpu)"
)
_PROCESSES = ("nproc_per_node", "num_processes")
_ACCUMULATION = next(one.words for one in TOPICS if one.name == "accumulation")


def per_step(truth: Truth) -> tuple[str, dict[str, Any]] | None:
    """("64 train_dataloader.batch_size x 8 nproc_per_node = 512 examples a step", data); None when a factor is open."""
    sizes = [key for key in truth.plain_keys if _BATCH.fullmatch(key.name)]
    processes = [key for name in _PROCESSES for key in truth.plain_keys if key.name == name]
    nodes = [key for key in truth.plain_keys if key.name == "nnodes"]  # of accelerate, the processes are all of them
    steps = [key for key in truth.plain_keys if _ACCUMULATION.fullmatch(key.name.rpartition(".")[2])]
    factors = [*sizes, *processes, *nodes, *steps]
    counts = [_count(key) for key in factors]
    if len(sizes) != 1 or len(processes) != 1 or len(nodes) > 1 or len(steps) > 1 or None in counts:
        return None
    product = 1
    for count in counts:
        product *= count or 1
    said = " x ".join(f"{count} {key.name}" for key, count in zip(factors, counts, strict=True) if count != 1)
    unseen = "" if steps else " (no setting for accumulation was found)"
    return f"{said} = {product} examples a step{unseen}", {
        "keys": [key.to_dict() for key in factors],
        "product": product,
    }


def _count(key: Key) -> int | None:
    """None for what is no whole number, or may become something else."""
    sure = key.source is not None and all(layer.certain for layer in key.layers)
    return int(key.value) or None if sure and key.value.isdecimal() and len(key.value) < 10 else None
