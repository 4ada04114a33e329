"""What a call of load_state_dict brought: how much of the module was given, and by what."""

import weakref

from . import registered

SHOWN = 3  # names
MOST = 5000  # tensors of files that are remembered
DEEP = 4  # tables in tables of a file


def own_storage(module):
    """Where the values of the module lie."""
    held = (*registered.parameters(module), *registered.buffers(module))
    return {value.data_ptr() for value in held if value.numel()}


def brought(torch, module, state, result, own):
    """`own`: how many values are the module's own memory; `left`: the share of its parameters' elements that stayed as it was."""
    keys = [key for key, value in state.items() if not (isinstance(value, torch.Tensor) and not value.numel())]
    keys = [key for key in keys if not key.endswith("_extra_state")]
    missing, unexpected = (list(getattr(result, name, ())) for name in ("missing_keys", "unexpected_keys"))
    sizes = {name: value.numel() for name, value in registered.named_parameters(module)}
    left = sum(sizes.get(name, 0) for name in missing)
    return {
        "keys": len(keys),
        "taken": len(set(keys) - set(unexpected)),
        "own": sum(isinstance(state[key], torch.Tensor) and state[key].data_ptr() in own for key in keys),
        "left": left / max(1, sum(sizes.values())),
        "missing": [len(missing), missing[:SHOWN]],
        "unexpected": [len(unexpected), unexpected[:SHOWN]],
        "parameters": len(sizes),
    }


def tensors_of(torch, what, deep=DEEP):
    """Those in what torch.load has read."""
    if isinstance(what, torch.Tensor):
        yield what
    elif deep and isinstance(what, (dict, list, tuple)):
        for part in what.values() if isinstance(what, dict) else what:
            yield from tensors_of(torch, part, deep - 1)


def remember(torch, known, what):
    for value in tensors_of(torch, what):
        if len(known) < MOST:
            known.append(weakref.ref(value))


def holds_some(torch, known, state):
    """Some matrix of a file that is still there equals one of the state; None where none of its shape is there."""
    by_shape = {}
    for value in state.values():
        if isinstance(value, torch.Tensor) and value.dim() > 1:
            by_shape.setdefault(tuple(value.shape), []).append(value)
    pairs = [
        (one, value)
        for one in (ref() for ref in known)
        if one is not None
        for value in by_shape.get(tuple(one.shape), ())
    ]
    if not pairs:
        return None
    return any(torch.equal(one.detach().cpu(), value.detach().cpu().to(one.dtype)) for one, value in pairs[:MOST])
