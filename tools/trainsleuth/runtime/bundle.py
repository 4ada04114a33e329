"""One step of a run, written down so that it can be tried elsewhere: weights, optimizers, batch, numbers.

bundle.json tells what happened and where; tensors.pt holds tensors in plain containers, so that torch loads it without
running code (`weights_only`).
"""

import gc
import json
import numbers
import os
import platform
import shutil
import sys
import time
from contextlib import suppress

from . import registered
from .calls import named_tensors
from .emit import plain
from .tensors import is_dense, is_unreadable, local, tensors_in

MOST_BYTES = 8 * 2**30  # of all tensors; of larger models the batch alone is kept
SPARE = 2  # times its size must be free on the disk
VERSION = 1
SHARED = ("ZeroRedundancy", "FSDP", "DeepSpeed")  # optimizers whose ranks hold a part each


def write(vigil, breach):
    """(folder, "") or (None, why there is none)."""
    torch, config = vigil.torch, vigil.bus.config
    name = "bundle-%s-%s" % (time.strftime("%Y%m%d-%H%M%S"), os.environ.get("RANK") or os.getpid())
    folder = os.path.join(vigil.bus.experiment.get("bundles") or config["run_folder"], name)
    try:
        os.makedirs(folder)
        optimizers = vigil.optimizers
        roots = list(_roots(torch, optimizers))
        batches = [_batch(torch, batch) for batch in vigil.batches]
        left_out = _too_large(roots, optimizers, folder)
        kept = ([], []) if left_out else (roots, optimizers)
        states = [{"class": type(root).__name__, "values": dict(_values(torch, root))} for root in kept[0]]
        steps = [{"class": type(one).__name__, "state": _state(torch, one)} for one in kept[1]]
        tensors = {"modules": states, "optimizers": steps, "batches": batches, "random": vigil.random}
        torch.save(tensors, os.path.join(folder, "tensors.pt"))
        told = dict(breach, version=VERSION, command=list(getattr(sys, "orig_argv", sys.argv)), cwd=os.getcwd(),
                    python=platform.python_version(), torch=str(torch.__version__), platform=platform.platform(),
                    history=list(vigil.history), modules=[type(root).__name__ for root in roots], left_out=left_out,
                    optimizers=[type(one).__name__ for one in optimizers], spoiled=_spoiled(torch, roots),
                    batches=[[[name, list(t.shape)] for name, t in batch.items()] for batch in batches])  # fmt: skip
        with open(os.path.join(folder, "bundle.json"), "w") as file:
            json.dump(plain(told), file, indent=1)
    except Exception as problem:  # a full disk, a state that cannot be written: the run goes on
        shutil.rmtree(folder, ignore_errors=True)
        return None, "no bundle could be written: %s: %s" % (type(problem).__name__, str(problem)[:200])
    return folder, ""


def _roots(torch, optimizers):
    """Outermost modules that hold a parameter of an optimizer."""
    held = {id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    found = [one for one in gc.get_objects() if issubclass(type(one), torch.nn.Module)]
    inside = {id(part) for one in found for part in registered.modules(one) if part is not one}
    for one in found:
        if id(one) not in inside and any(id(p) in held for p in registered.parameters(one)):
            yield one


def _tensors(root):
    yield from registered.named_parameters(root)
    yield from registered.named_buffers(root)


def _too_large(roots, optimizers, folder):
    """Why weights and states are left out, "" where there is room for them; nothing is copied to know."""
    held = [value for root in roots for _, value in _tensors(root)]
    held += [value for one in optimizers for state in one.state.values() for value in tensors_in(state)]
    size = sum(local(value).numel() * value.element_size() for value in held)
    if size <= MOST_BYTES and SPARE * size <= shutil.disk_usage(folder).free:
        return ""
    return "%.1f GB of weights and optimizer states were left out" % (size / 2**30)


def _spoiled(torch, roots):
    """Parameters that hold a value that is not finite already: then the step before did it."""
    with torch.no_grad():
        return [name for root in roots for name, value in registered.named_parameters(root)
                if not is_unreadable(value) and is_dense(value) and not bool(local(value).isfinite().all())][:10]  # fmt: skip


def _values(torch, root):
    return ((name, compact(torch, value)) for name, value in _tensors(root))


def _batch(torch, batch):
    names = {id(value): name for name, value in named_tensors(batch, "")}
    found = list(tensors_in(batch))
    return {names.get(id(value)) or str(number): compact(torch, value) for number, value in enumerate(found)}


def _state(torch, optimizer):
    """None where its state_dict() asks other ranks, or cannot be had."""
    if any(word in type(optimizer).__name__ for word in SHARED):
        return None
    with suppress(Exception):  # of another make
        return _plain(torch, optimizer.state_dict())
    return None


def _plain(torch, value):
    """In types that torch loads without running code."""
    if isinstance(value, torch.Tensor):
        return compact(torch, value)
    if isinstance(value, dict):
        return {key: _plain(torch, one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(torch, one) for one in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else str(value)


def compact(torch, tensor):
    """Its values on the CPU as a plain tensor, without the rest of a larger memory that it is a view of."""
    tensor = local(tensor).detach().cpu()
    if not is_dense(tensor):
        return tensor
    tensor = tensor.as_subclass(torch.Tensor)
    is_view = tensor.untyped_storage().nbytes() > tensor.numel() * tensor.element_size()
    return tensor.clone() if is_view else tensor
