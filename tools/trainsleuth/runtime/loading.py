"""What a call of load_state_dict brought: how much of the module was given, and by what."""

import weakref

from . import registered

SHOWN = 3  # names
MOST = 5000  # tensors of files, and names of one table
BEGIN = 16  # values by which a matrix is known again
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


class Files:
    """What torch.load has read: the names in its tables, and tensors that are still there."""

    def __init__(self, torch):
        self.torch, self.names, self.tensors = torch, set(), []

    def read(self, what, deep=DEEP):
        if isinstance(what, self.torch.Tensor):
            if len(self.tensors) < MOST:
                self.tensors.append(weakref.ref(what))
        elif deep and isinstance(what, (dict, list, tuple)):
            if isinstance(what, dict):
                self.names.update(name for name in list(what)[:MOST] if isinstance(name, str))
            for part in what.values() if isinstance(what, dict) else what:
                self.read(part, deep - 1)

    def are_in(self, state):
        """True where some matrix begins as one of the state does, False where none does and no name is shared either; None where
        names are shared, which values in place may have come by, or no matrix is left.
        """
        begun = [begins for ref in self.tensors if (begins := beginning(ref())) is not None]
        if not begun:
            return None
        ours = [begins for value in state.values() if (begins := beginning(value)) is not None]
        if not set(begun).isdisjoint(ours):
            return True
        return None if not self.names.isdisjoint(state) else False


def beginning(value):
    """Shape and first values of a matrix."""
    if value is None or not hasattr(value, "dim") or value.dim() < 2 or not value.numel():
        return None
    first = value.detach()[(0,) * (value.dim() - 1)]
    return (*value.shape, *first[:BEGIN].float().tolist())
