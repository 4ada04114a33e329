"""Runs recorded calls of the failing step again, each operation watched, and looks for the first bad value.

Parameters have not moved since, so what happened happens again. The program's own state is put back:
random generators, buffers that the forward changes, and gradients.
"""

import warnings
from contextlib import ExitStack, contextmanager

from . import dispatch, randomness, registered
from .calls import in_autocast
from .content import counts
from .dispatch import Finder
from .freeze import storage
from .places import Places
from .tensors import tensors_in


class Replay:
    """One search. `sources` are (fields, tensor) of values from outside that deserve a name."""

    def __init__(self, torch, sites, sources):
        self.torch = torch
        self.places = Places(torch, sites)
        self.finder = Finder(self.places.here)
        self.finder.sources.update((storage(tensor), fields) for fields, tensor in sources)
        self.failures = []

    def search(self, calls, backward):
        """(Origin of the first bad value, its call) or (None, None); with `backward` the value is a gradient.

        A NaN that leaves a call, or a loss that is not finite, ends the search. An infinity that leaves a
        module may be wanted (a mask's), so it is only the answer when it reaches a loss function.
        """
        modules = [call.function for call in calls if call.kind == "module"]
        with _state_kept(self.torch, modules), recording(self.torch), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program has given its warnings already
            for call in calls:
                origin = self._one(call, backward)
                if origin is not None:
                    return origin, call
        return None, None

    def _one(self, call, backward):
        try:
            with self._conditions(call):
                outputs = list(tensors_in(run_again(call)))
                self._carry_over(call, outputs)
                origin = self._of_outputs(call, outputs)
                if origin is None and backward and call.gradients:
                    origin = self._of_gradients(call, outputs)
                return origin
        except Exception as problem:  # memory, or a call that cannot be repeated: the next one may tell
            self.failures.append("%s: %s" % (type(problem).__name__, str(problem).split("\n")[0][:200]))
            return None
        finally:
            self.places.detach()

    @contextmanager
    def _conditions(self, call):
        self.places.called_at = call.site
        if call.kind == "module":
            self.places.attach(alone(call.function))
        if call.random is not None:  # loss functions draw no numbers
            randomness.restore(self.torch, call.random)
        with ExitStack() as stack:
            stack.enter_context(self.torch.set_grad_enabled(call.with_grad))
            stack.enter_context(in_autocast(self.torch, call.autocast))
            dispatch.start(self.finder)
            stack.callback(dispatch.stop, self.finder)
            yield

    def _carry_over(self, call, outputs):
        """Loss functions are given the program's own tensors: what is known of their replayed twins holds for them."""
        for key, output in zip(call.output_storages, outputs):
            for table in (self.finder.nan, self.finder.inf):
                if storage(output) in table:
                    table[key] = table[storage(output)]

    def _of_outputs(self, call, outputs):
        for output in outputs:
            bad = counts(output)
            is_loss = output.numel() == 1 and output.requires_grad
            if "nan" in bad or (bad and is_loss):
                return self.finder.origin(output)
        return None

    def _of_gradients(self, call, outputs):
        """Feeds the gradients that arrived in the failing step backward through the call."""
        pairs = [(n, g) for n, g in sorted(call.gradients.items()) if outputs[n].requires_grad]
        if not pairs or any(counts(gradient) for _, gradient in pairs):
            return None  # it was bad before it came here
        held = list(registered.parameters(call.function)) if call.kind == "module" else []
        leaves = [t for t in held + list(tensors_in((call.args, call.kwargs))) if t.requires_grad]
        try:  # fills no .grad and wakes no hook of an optimizer or of a parallel wrapper
            fed = [outputs[n] for n, _ in pairs], leaves, [g for _, g in pairs]
            found = self.torch.autograd.grad(*fed, allow_unused=True)
        except RuntimeError as problem:
            if "checkpoint" not in str(problem).lower():
                raise
            found = self._backward_into_grads(call, pairs, leaves)
        return next((self.finder.origin(g) for g in found if g is not None and counts(g)), None)

    def _backward_into_grads(self, call, pairs, leaves):
        """For checkpoints that run a backward of their own, which autograd.grad refuses."""
        if call.random is not None:
            randomness.restore(self.torch, call.random)
        outputs = list(tensors_in(run_again(call)))
        kept = [(leaf, leaf.grad) for leaf in leaves if leaf.is_leaf]
        try:
            for leaf, _ in kept:
                leaf.grad = None
            self.torch.autograd.backward([outputs[n] for n, _ in pairs], [g for _, g in pairs])
            return [leaf.grad for leaf, _ in kept]
        finally:
            for leaf, gradient in kept:
                leaf.grad = gradient


def run_again(call):
    """The call itself; frames above this one are the replayed program's (see places.py)."""
    return alone(call.function)(*call.args, **call.kwargs)


def alone(function):
    """Without the wrapper that talks to other ranks, which do not replay at the same time, or to other devices."""
    while type(function).__name__ in ("DistributedDataParallel", "DataParallel"):
        function = function.module
    if registered.is_module(function) and any(
        "FSDP" in _classes(m) or "FullySharded" in _classes(m) for m in registered.modules(function)
    ):
        raise RuntimeError("a module whose parameters are sharded over ranks cannot be called again by one of them")
    return function


def _classes(module):
    return " ".join(base.__name__ for base in type(module).__mro__)


@contextmanager
def recording(torch):
    """Anomaly mode for its tracebacks, without its check."""
    was_on, checked = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    try:
        yield
    finally:
        torch.autograd.set_detect_anomaly(was_on, check_nan=checked)


@contextmanager
def _state_kept(torch, modules):
    """Puts random generators and changed buffers back. Through .data, so that no graph in use notices."""
    state = randomness.save(torch)
    buffers = {id(b): b for module in modules for b in registered.buffers(module)}.values()
    copies = [(b, _version(b), b.detach().clone()) for b in buffers if b.device.type != "meta"]
    try:
        yield
    finally:
        randomness.restore(torch, state)
        for buffer, version, copy in copies:
            if _version(buffer) != version:
                buffer.data.copy_(copy)


def _version(tensor):
    return None if tensor.is_inference() else tensor._version
