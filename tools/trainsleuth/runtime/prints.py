"""Listener: exact codes of everything a step computes, in the order it is computed, for comparing two runs.

Per step: what enters the model, every layer's output, the loss, every gradient, every parameter after the
step. Made for few steps: codes are read at once, so a device is waited for. A row is [kind, name, code, size, marks]:
`size` is the norm of some of the values, `marks` their products with fixed random vectors, so that the differences of
marks tell how far two tensors lie apart that are not the same to the last bit.
"""

from contextlib import suppress

from . import registered
from .gradients import members
from .phases import inner
from .tensors import fingerprint, is_dense, is_unreadable, local, tensors_in

MOST_STEPS = 12
MOST_LAYERS = 300
MOST_PARAMETERS = 400
MOST_VALUES = 65_536  # of one tensor that are marked
MARKS = 8
PLACES = 1024  # where in the vectors the tensors of a row begin


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.optimizers, self.handles, self.names = [], [], {}
        self.rows = []
        self.vectors = None
        self.before = {}  # id -> (parameter, its values before the step)

    def seeded(self, seed):
        user, library = self.bus.sites.here()
        self.events("seeded", seed=str(seed)[:40], site=user, lib=library)

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def _add(self, place, name, tensors):
        tensors = list(tensors)
        codes = [fingerprint(tensor) for tensor in tensors]
        self.rows.append([place, name, "-".join(code or "?" for code in codes), *self._mark(tensors)])

    def _mark(self, tensors):
        """(norm, products with the fixed vectors) of values at even distances; of all tensors together."""
        if self.vectors is None:
            generator = self.torch.Generator("cpu").manual_seed(0)
            shape = MARKS, MOST_VALUES + PLACES
            self.vectors = self.torch.randn(shape, generator=generator, dtype=self.torch.float64, device="cpu")
        squares, marks = 0.0, self.torch.zeros(MARKS, dtype=self.torch.float64, device="cpu")
        for number, values in enumerate(map(self._values, tensors)):
            if values is not None:
                squares += float(values.square().sum())
                first = 61 * number % PLACES  # the same tensors in another order give other marks
                marks += self.vectors[:, first : first + values.numel()] @ values
        return squares**0.5, marks.tolist()

    def _values(self, tensor):
        """Some of its values as numbers of double precision on the CPU; None where they cannot be read."""
        tensor = local(tensor)
        tensor = tensor.coalesce().values() if tensor.is_sparse else tensor
        if is_unreadable(tensor) or not is_dense(tensor) or tensor.is_quantized or not tensor.numel():
            return None
        values = tensor.detach().reshape(-1)
        values = values[:: max(1, -(-values.numel() // MOST_VALUES))]
        values = self.torch.view_as_real(values.resolve_conj()).reshape(-1) if values.is_complex() else values
        return values[:MOST_VALUES].cpu().double()

    # -- one step --------------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        self._unhook()
        if self.bus.steps >= MOST_STEPS or not self.torch.is_grad_enabled():
            return
        module = inner(module)
        for name, parameter in registered.named_parameters(module):
            self.names.setdefault(id(parameter), name)
        if self.bus.steps == 0 and not any(row[0] == "start" for row in self.rows):
            self._add("start", "", list(registered.parameters(module))[:MOST_PARAMETERS])
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
                if id(parameter) not in self.before:
                    values = self._values(parameter)
                    self.before[id(parameter)] = parameter, None if values is None else values.clone()
                if parameter.grad is not None:
                    self._add("gradient", self.names.get(id(parameter), "?"), [parameter.grad])

    def boundary(self, step):
        if step <= MOST_STEPS:
            held = [p for optimizer in self.optimizers for p in self._held(optimizer)]
            self._add("update", str(held[0].dtype).replace("torch.", "") if held else "", list(self._updates()))
            self._add("parameters", "after the step", held)
            self.events("prints", n=step - 1, rows=self.rows)
        self.rows, self.before = [], {}

    def _updates(self):
        """What the step has added to each parameter."""
        for parameter, before in self.before.values():
            if before is not None:
                yield self._values(parameter) - before

    def _held(self, optimizer):
        return members(optimizer)[:MOST_PARAMETERS]
