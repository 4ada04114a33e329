"""Arrays of numpy that a model is given, and makes tensors of by itself."""

KINDS = "biuf"  # of numbers


def are_all(given):
    """Is it given arrays, and no tensor?"""
    found = list(leaves(given))
    return any(map(is_array, found)) and not any(hasattr(one, "grad_fn") for one in found)


def is_array(value):
    return type(value).__module__ == "numpy" and getattr(value, "ndim", 0) > 0 and value.dtype.kind in KINDS


def leaves(value):
    if isinstance(value, dict):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from leaves(one)
    else:
        yield value


def as_tensors(torch, value):
    return exchanged(value, lambda one: torch.from_numpy(one.copy()) if is_array(one) else one)


def as_arrays(value):
    return exchanged(value, lambda one: one.numpy() if hasattr(one, "grad_fn") else one)


def exchanged(value, change):
    """Nested dicts, lists and plain tuples, with `change` of what is in them."""
    if isinstance(value, dict):
        return {key: exchanged(one, change) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(exchanged(one, change) for one in value)
    return change(value)
