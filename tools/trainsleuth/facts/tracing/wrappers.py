"""Calls that give back the object they were given: the names of torch and its companions."""

from __future__ import annotations

from ..records import Expr
from ..words import words

# method of the object itself
SAME_OBJECT = words(
    """
    to cuda cpu xpu npu eval train half float double bfloat16 requires_grad_ apply share_memory type
    to_empty
    """
)
# function or class of one object
AROUND_ONE = words(
    """
    DataParallel DistributedDataParallel DDP FullyShardedDataParallel FSDP compile script trace
    freeze deepcopy copy weight_norm spectral_norm convert_sync_batchnorm convert_syncbn_model
    prepare prepare_model prepare_optimizer prepare_data_loader setup setup_module setup_optimizers
    fully_shard replicate unwrap_model unwrap_ddp de_parallel
    """
)
# attribute of a wrapper that is the wrapped object
INNER = frozenset(("module", "_orig_mod", "_forward_module"))


def wrapped(call: Expr, item: int | None = None) -> Expr | None:
    """The expression that a wrapping call gives back, or None. `item`: of `a, b = prepare(a, b)`, which
    one.
    """
    name = call.last
    if name in AROUND_ONE and call.parts[1:]:
        receiver = call.receiver
        arguments = call.arguments
        if item is not None and len(arguments) > item:
            return arguments[item]
        if not arguments:
            return call.keyword("module") or call.keyword("model")
        if name == "compile" and receiver is not None and receiver.last not in ("torch", "jit"):
            return None
        return arguments[0] if len(arguments) == 1 or item is None else None
    if name in SAME_OBJECT:
        return call.receiver
    return None
