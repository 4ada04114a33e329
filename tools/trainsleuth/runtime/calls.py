"""One recorded call of an outermost module or a loss function: enough to run it again, by reference only.

Nothing is copied but random states; a program that changes its inputs in place after the call is
recognised by torch's version counters. Gradients that reach the outputs are kept until the step is done.
"""

import inspect
import itertools
from contextlib import ExitStack, contextmanager
from functools import partial

from . import randomness
from .freeze import storage
from .tensors import hear_gradient, is_mapping, tensors_in


class Call:
    """`function` is what was called, `site` the (user, library) place of the call."""

    def __init__(self, torch, kind, function, args, kwargs, site):
        self.kind, self.function, self.args, self.kwargs, self.site = kind, function, args, kwargs, site
        self.random = randomness.save(torch, everything=False) if kind == "module" else None
        self.with_grad, self.autocast = torch.is_grad_enabled(), autocast_states(torch)
        self.gradients = {}  # number of the output -> gradient that arrived at it
        self.backwards = set()  # numbers of the backwards that reached it
        self.output_storages = ()
        self.is_checked = False

    def watch(self, output, keep):
        """Hooks the outputs; `keep(call, number, gradient)` hears what arrives.

        Where the loss is computed inside the module only the loss is watched: the rest lies behind it.
        """
        outputs = list(tensors_in(output))
        numbered = [(n, t) for n, t in enumerate(outputs) if t.requires_grad and t.grad_fn is not None]
        scalars = [(n, t) for n, t in numbered if t.numel() == 1 and len(numbered) > 1]
        for number, tensor in scalars or numbered:
            hear_gradient(tensor, partial(keep, self, number))
        self.output_storages = [storage(tensor) for tensor in outputs]

    def tensors(self):
        """(name, tensor) of everything that was given, by the names of the parameters where they can be read."""
        for name, value in zip(_parameter_names(self.function), self.args):
            yield from named_tensors(value, name)
        yield from named_tensors(self.kwargs, "")


def _parameter_names(function):
    """Names of the positional parameters, then numbers."""
    called = getattr(function, "forward", function)
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return itertools.chain(names, map(str, itertools.count(len(names))))


def named_tensors(value, name, depth=6):
    """(name, tensor) for nested containers: ".0", ".input_ids", ".1.mask" behind the given name."""
    if hasattr(value, "grad_fn") and hasattr(value, "dtype"):
        yield name.lstrip("."), value
    elif depth and is_mapping(value):
        for key in list(value.keys()):
            yield from named_tensors(value[key], "%s.%s" % (name, key), depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from named_tensors(item, "%s.%d" % (name, number), depth - 1)


@contextmanager
def in_autocast(torch, states):
    """As it was when `autocast_states` told them. No cache: it may hold a graph that is spent."""
    with ExitStack() as stack:
        for device, enabled, dtype in states:
            stack.enter_context(torch.autocast(device, dtype, enabled=enabled, cache_enabled=False))
        yield


def autocast_states(torch):
    """(device, is enabled, dtype) of each kind of device that can be in use."""
    devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() and torch.cuda.is_initialized() else [])
    return [(device, *_autocast(torch, device)) for device in devices]


def _autocast(torch, device):
    if hasattr(torch, "get_autocast_dtype"):  # torch 2.4
        return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
    if device == "cpu":
        return torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()
    return torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype()
