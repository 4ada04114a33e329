"""One step of a run, written down so that it can be tried elsewhere: weights, optimizers, batch, numbers.

bundle.json tells what happened and where; tensors.pt holds tensors in plain containers, so that torch loads it without
running code (`weights_only`).
"""

import gc
import json
import os
import platform
import shutil
import sys
import time

from . import registered
from .calls import named_tensors
from .emit import plain
from .tensors import local

MOST_BYTES = 8 * 2**30  # of all tensors; of larger models the batch alone is kept
SPARE = 2  # times its size must be free on the disk
VERSION = 1


def write(vigil, breach):
    """(folder, "") or (None, why there is none)."""
    torch, config = vigil.torch, vigil.bus.config
    name = "bundle-%s-%s" % (time.strftime("%Y%m%d-%H%M%S"), os.environ.get("RANK") or os.getpid())
    folder = os.path.join(vigil.bus.experiment.get("bundles") or config["run_folder"], name)
    try:
        roots = list(_roots(torch, vigil.optimizers))
        states = [{"class": type(root).__name__, "values": dict(_values(root))} for root in roots]
        batches = [{"loader": n, "tensors": _batch(batch)} for n, batch in vigil.batches]
        optimizers = [{"class": type(one).__name__, "state": one.state_dict()} for one in vigil.optimizers]
        os.makedirs(folder)
        size, left_out = _bytes(torch, (states, optimizers)), ""
        if size > MOST_BYTES or SPARE * size > shutil.disk_usage(folder).free:
            left_out = "%.1f GB of weights and optimizer states were left out" % (size / 2**30)
            states, optimizers = [], []
        torch.save({"modules": states, "optimizers": _on_cpu(torch, optimizers), "batches": batches, "random": vigil.random["torch"]},
                   os.path.join(folder, "tensors.pt"))  # fmt: skip
        told = dict(breach, version=VERSION, command=list(getattr(sys, "orig_argv", sys.argv)), cwd=os.getcwd(),
                    python=platform.python_version(), torch=str(torch.__version__), platform=platform.platform(),
                    history=list(vigil.history), modules=[type(root).__name__ for root in roots], left_out=left_out,
                    optimizers=[type(one).__name__ for one in vigil.optimizers],
                    batches=[[[name, list(t.shape)] for name, t in one["tensors"].items()] for one in batches])  # fmt: skip
        with open(os.path.join(folder, "bundle.json"), "w") as file:
            json.dump(plain(told), file, indent=1)
    except Exception as problem:  # a full disk, a state that cannot be written: the run goes on
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


def _values(root):
    for table in (registered.named_parameters, registered.named_buffers):
        for name, value in table(root):
            yield name, compact(value)


def _batch(batch):
    return {name or "batch": compact(value) for name, value in named_tensors(batch, "")}


def compact(tensor):
    """Its values on the CPU, without the rest of a larger memory that it is a view of; no copy where there is none."""
    tensor = local(tensor).detach().cpu()
    is_view = tensor.untyped_storage().nbytes() > tensor.numel() * tensor.element_size()
    return tensor.clone() if is_view else tensor


def _on_cpu(torch, value):
    if isinstance(value, torch.Tensor):
        return compact(value)
    if isinstance(value, dict):
        return {key: _on_cpu(torch, one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_on_cpu(torch, one) for one in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def _bytes(torch, value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(_bytes(torch, one) for one in parts)
