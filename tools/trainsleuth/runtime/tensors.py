"""What a tensor holds, in a few numbers; and walks over nested containers of tensors."""

import copy
import ctypes
import hashlib


def tensors_in(value, depth=6):
    """Every tensor inside dicts, lists, tuples and attribute containers, in a stable order."""
    if hasattr(value, "grad_fn") and hasattr(value, "dtype"):
        yield value
    elif depth and is_mapping(value):
        for item in value.values():
            yield from tensors_in(item, depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors_in(getattr(value, name, None), depth - 1)


def is_mapping(value):
    """A dict, or what has its methods: a BatchEncoding, not a table of pandas, whose `values` are an array."""
    kind = type(value)
    return isinstance(value, dict) or all(callable(getattr(kind, name, None)) for name in ("keys", "items", "values"))


def filled(table, change):
    """A mapping of the same kind with `change` of each of its values."""
    other = copy.copy(table)
    for key in list(table.keys()):
        other[key] = change(table[key])
    return other


def hear_gradient(tensor, hear):
    """`hear(gradient)` whenever one arrives: to an output of several, of which a backward takes another, torch hands None."""

    def hook(gradient):
        if gradient is not None:
            hear(gradient)

    tensor.register_hook(hook)


def local(tensor):
    """What this rank holds of a tensor that is spread over ranks (DTensor); any other tensor itself."""
    return getattr(tensor, "_local_tensor", tensor)


def is_mapped(tensor):
    """Does it stand for many at once (torch.func.vmap), so that no value can be read?"""
    import torch

    known = getattr(torch._C, "_functorch", None)
    return known is not None and known.is_batchedtensor(tensor)


def is_unreadable(tensor):
    return tensor.device.type == "meta" or is_mapped(tensor)


def is_dense(tensor):
    """Do all its values stand one by one? Not where most are left out (COO, CSR), or the rows differ in length."""
    return str(tensor.layout) == "torch.strided" and not tensor.is_nested


def has_memory(tensor):
    """Do its values lie in memory as they are? Not in wrappers, as torch.func makes them."""
    try:
        return bool(tensor.data_ptr())
    except (NotImplementedError, RuntimeError):
        return False


def shape(tensor):
    return list(tensor.shape)


def kind(tensor):
    return str(tensor.dtype).replace("torch.", "")


def describe(tensor):
    """Shape, dtype and range. Values are read only from dense, non-empty tensors with real numbers.

    Of a tensor that is spread over ranks the values are those that this rank holds.
    """
    facts = {"shape": shape(tensor), "dtype": kind(tensor), "requires_grad": bool(tensor.requires_grad)}
    tensor = local(tensor)
    if tensor.numel() and not tensor.is_complex() and is_dense(tensor) and not is_unreadable(tensor):
        values = tensor.detach()
        if values.dtype.is_floating_point:
            values = values.float()
            facts["finite"] = bool(values.isfinite().all())
            facts["mean"] = float(values.mean())
            facts["std"] = float(values.std()) if values.numel() > 1 else 0.0
        facts["min"], facts["max"] = float(values.min()), float(values.max())
    return facts


def fingerprint(tensor):
    """A short hash of the exact content, equal for equal values whatever the storage; None if unreadable."""
    if not is_dense(tensor) or tensor.is_quantized or tensor.device.type == "meta":
        return None
    values = local(tensor.detach()).cpu().contiguous()
    if values.numel() and not has_memory(values):
        return None
    content = ctypes.string_at(values.data_ptr(), values.numel() * values.element_size()) if values.numel() else b""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def scalar(value):
    """The number in a one-element tensor, the mean of a larger one, None when there is none."""
    if value is None or not hasattr(value, "numel"):
        return float(value) if isinstance(value, (int, float)) else None
    value = local(value)
    if not value.numel() or is_unreadable(value):
        return None
    return float(value.detach().float().mean()) if value.numel() > 1 else float(value.detach())
