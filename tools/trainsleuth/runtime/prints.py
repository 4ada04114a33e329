"""Listener: exact codes of everything a step computes, in the order it is computed, for comparing two runs.

Per step: what enters the model, every layer's output, the loss, every gradient, every parameter after the
step. Made for few steps: codes are read at once, so a device is waited for.
"""

from contextlib import suppress

from . import registered
from .gradients import members
from .tensors import fingerprint, tensors_in

MOST_STEPS = 12
MOST_LAYERS = 300
MOST_PARAMETERS = 400


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.optimizers, self.handles, self.names = [], [], {}
        self.rows = []

    def seeded(self, seed):
        user, library = self.bus.sites.here()
        self.events("seeded", seed=str(seed)[:40], site=user, lib=library)

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    # -- one step --------------------------------------------------------------------------

    def _add(self, place, name, tensors):
        codes = [fingerprint(tensor) for tensor in tensors]
        self.rows.append([place, name, "-".join(code or "?" for code in codes)])

    def forward_before(self, module, args, kwargs):
        self._unhook()
        if self.bus.steps >= MOST_STEPS or not self.torch.is_grad_enabled():
            return
        for name, parameter in registered.named_parameters(module):
            self.names.setdefault(id(parameter), name)
        if self.bus.steps == 0 and not any(row[0] == "start" for row in self.rows):
            self._add("start", type(module).__name__, list(registered.parameters(module))[:MOST_PARAMETERS])
        self._add("input", type(module).__name__, tensors_in((args, kwargs)))
        for name, one in list(registered.named_modules(module))[:MOST_LAYERS]:
            with suppress(RuntimeError):
                told = self.bus.quietly(self, self._layer(name or type(module).__name__))
                self.handles.append(one.register_forward_hook(told))

    def _layer(self, name):
        def hook(module, args, output):
            self._add("layer", name, list(tensors_in(output))[:4])

        return hook

    def forward_after(self, module, args, kwargs, output):
        self._unhook()

    def forward_broken(self, module):
        self._unhook()

    def _unhook(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def backward_before(self, tensors, gradients):
        if self.bus.steps < MOST_STEPS:
            self._add("loss", "loss", [t.detach() for t in tensors])

    def step_before(self, optimizer):
        if self.bus.steps < MOST_STEPS:
            for parameter in self._held(optimizer):
                if parameter.grad is not None:
                    self._add("gradient", self.names.get(id(parameter), "?"), [parameter.grad])

    def boundary(self, step):
        if step <= MOST_STEPS:
            held = [p for optimizer in self.optimizers for p in self._held(optimizer)]
            self._add("parameters", "after the step", held)
            self.events("prints", n=step - 1, rows=self.rows)
        self.rows = []

    def _held(self, optimizer):
        return members(optimizer)[:MOST_PARAMETERS]
