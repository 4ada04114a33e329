"""What is not finite in a tensor, in numbers. Tensors without readable real values count as finite."""

import cmath
import math

from .tensors import is_dense


def is_readable(tensor):
    """Dense, floating or complex, not empty, with real storage."""
    try:
        return (
            (tensor.dtype.is_floating_point or tensor.dtype.is_complex)
            and not tensor.is_quantized
            and is_dense(tensor)
            and tensor.device.type != "meta"
            and tensor.numel() > 0
        )
    except (AttributeError, NotImplementedError, RuntimeError):
        return False


def is_finite(tensor):
    """Are all values finite? Also True where torch cannot tell (some 8-bit formats)."""
    if tensor.dim() == 0 and tensor.device.type == "cpu" and tensor.dtype.is_floating_point:
        return math.isfinite(tensor.item())
    if not is_readable(tensor):
        return True
    values = tensor.detach()
    try:
        if cmath.isfinite(values.sum().item()):  # on CPUs a sum takes a thirtieth of the time of isfinite
            return True
    except (NotImplementedError, RuntimeError):
        pass
    try:  # the sum of finite values may overflow
        return bool(values.isfinite().all())
    except (NotImplementedError, RuntimeError):
        return True


def counts(tensor):
    """{"nan": n, "inf": n, "-inf": n} with only those that occur; {} when finite or unreadable."""
    if is_finite(tensor):
        return {}
    values = tensor.detach()
    if values.dtype.is_complex:
        return {"nan": int((~values.isfinite()).sum())}
    found = {"nan": values.isnan(), "inf": values.isposinf(), "-inf": values.isneginf()}
    return {name: int(where.sum()) for name, where in found.items() if where.any()}


def stats(tensor):
    """Shape, dtype, range of the finite values, number of exact zeros, and what is not finite."""
    facts = {"shape": list(tensor.shape), "dtype": str(tensor.dtype).replace("torch.", "")}
    if not is_readable(tensor) or tensor.dtype.is_complex:
        return facts
    values = tensor.detach().float()
    finite = values[values.isfinite()]
    if finite.numel():
        facts["min"], facts["max"] = float(finite.min()), float(finite.max())
        facts["zeros"] = int((finite == 0).sum())
    facts.update(counts(tensor))
    return facts


def first_index(tensor):
    """Where the first value that is not finite lies, as a list with one index per axis."""
    places = (~tensor.detach().isfinite()).nonzero()
    return places[0].tolist() if len(places) else []
