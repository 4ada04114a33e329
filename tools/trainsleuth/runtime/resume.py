"""Listener: goes back to a saved state in the middle of the run and does the next steps again.

After some steps the state dicts of all called modules, optimizers, schedulers and scalers are written down
as a checkpoint would hold them. Some steps later they are loaded again, with the random state and the data
of that moment, and the same steps are done once more: what no state dict holds shows as a difference.
"""

import io

from . import generators, randomness, registered
from .freeze import copied
from .tensors import fingerprint, scalar, tensors_in

WARM = 6  # steps before the state is saved
AGAIN = 5  # steps that are done twice


class Listener:
    def __init__(self, bus):
        self.bus, self.torch = bus, bus.torch
        self.owners = []  # everything with a state dict
        self.state = None
        self.passes = [_Pass()]

    @property
    def now(self):
        return self.passes[-1]

    def _own(self, thing):
        if not any(thing is one for one in self.owners) and self.state is None:
            self.owners.append(thing)

    # -- what happens ----------------------------------------------------------------------

    def optimizer_born(self, optimizer):
        self._own(optimizer)

    def schedule(self, scheduler):
        self._own(scheduler)

    def scaler(self, operation, scaler, given, result):
        self._own(scaler)

    def batch(self, loader, batch):
        if self.state is None:
            return None
        if len(self.passes) == 3:
            return copied(self.passes[1].next_batch(loader))
        self.now.batches.append((loader, copied(batch)))
        return None

    def forward_before(self, module, args, kwargs):
        self._own(module)
        if self.state is not None and self.torch.is_grad_enabled() and module.training:
            self.now.inputs.append([fingerprint(t) for t in tensors_in((args, kwargs)) if t.grad_fn is None])

    def backward_before(self, tensors, gradients):
        if self.state is not None:
            self.now.losses.append(sum(scalar(t) or 0.0 for t in tensors))

    def step_before(self, optimizer):
        """Rates that the program sets by its own count of steps are those of the first time."""
        if len(self.passes) == 2:
            self.now.rates.append([group.get("lr") for group in optimizer.param_groups])
        elif len(self.passes) == 3 and self.passes[1].rates:
            for group, rate in zip(optimizer.param_groups, self.passes[1].rates.pop(0)):
                group["lr"] = rate

    def boundary(self, step):
        if step == WARM:
            self._save()
        elif step == WARM + AGAIN and self.state is not None:
            self._load()
        elif step == WARM + 2 * AGAIN and self.state is not None:
            self._tell()

    # -- there and back --------------------------------------------------------------------

    def _save(self):
        self.state = io.BytesIO()
        self.torch.save([owner.state_dict() for owner in self.owners], self.state)
        own = generators.find(self.torch, self.bus.sites)
        self.random = randomness.save(self.torch), [(one, generators.save(one)) for one in own]
        self.outside = {name: tensor.detach().clone() for name, tensor in self._outside()}
        self.passes.append(_Pass())

    def _load(self):
        self.changed = [name for name, tensor in self._outside() if self._has_changed(name, tensor)]
        self.state.seek(0)
        states = self.torch.load(self.state, weights_only=False)
        for owner, state in zip(self.owners, states):
            owner.load_state_dict(state)
        randomness.restore(self.torch, self.random[0])
        for generator, state in self.random[1]:
            generators.restore(generator, state)
        self.passes.append(_Pass())

    def _outside(self):
        """Tensors of the modules that no state dict holds: plain attributes and buffers that are not persistent."""
        for root in self.owners:
            if not hasattr(root, "named_modules"):
                continue
            held = {tensor.data_ptr() for tensor in root.state_dict().values() if hasattr(tensor, "data_ptr")}
            for name, module in registered.named_modules(root):
                attributes = list(vars(module).items()) + list(registered.named_buffers(module, recurse=False))
                for attribute, value in attributes:
                    if hasattr(value, "data_ptr") and hasattr(value, "grad_fn") and value.data_ptr() not in held:
                        yield ".".join(part for part in (type(root).__name__, name, attribute) if part), value

    def _has_changed(self, name, tensor):
        before = self.outside.get(name)
        return before is None or before.shape != tensor.shape or not self.torch.equal(before, tensor.detach())

    def _tell(self):
        first, second = self.passes[1:]
        user, library = self.bus.sites.here()
        self.bus.events(
            "resumed", n=WARM, steps=AGAIN, first=first.losses, second=second.losses, same_inputs=first.inputs == second.inputs,
            any_inputs=any(first.inputs), outside=self.changed[:10], owners=[type(one).__name__ for one in self.owners],
            site=user, lib=library,
        )  # fmt: skip
        self.bus.finish("resumed")


class _Pass:
    """What a stretch of steps met and gave."""

    def __init__(self):
        self.batches, self.inputs, self.losses, self.rates = [], [], [], []

    def next_batch(self, loader):
        for number, (known, batch) in enumerate(self.batches):
            if known is loader:
                del self.batches[number]
                return batch
        return None
