"""What the present step of training was made of, by reference: calls, batches, random states."""

from . import randomness, registered
from .calls import named_tensors
from .tensors import tensors_in

MOST_CALLS = 64
MOST_WITHOUT_GRAD = 4  # evaluation and teachers: the last ones only
MOST_ON_GRAPH = 8  # calls that hold a graph no backward has freed yet
MOST_BYTES = 256 * 2**20  # of inputs and of arrived gradients, each


class Record:
    def __init__(self, torch):
        self.torch = torch
        self.calls, self.batches = [], []  # batches: (loader, batch, random state after it)
        self.bytes = self.batch_bytes = self.gradient_bytes = 0
        self.is_cut = False  # some gradient was too large to be kept
        self.randoms = [None, randomness.save(torch)]  # at the start of the step before, and of this one

    def add(self, call):
        given = list(tensors_in((call.args, call.kwargs)))
        call.bytes = sum(t.numel() * t.element_size() for t in given)
        call.is_on_graph = call.with_grad and any(t.grad_fn is not None for t in given)
        self.calls.append(call)
        self.bytes += call.bytes
        if len(self.calls) > MOST_WITHOUT_GRAD:
            self._limit(lambda c: not c.with_grad, MOST_WITHOUT_GRAD)
            self._limit(lambda c: c.is_on_graph and not c.backwards, MOST_ON_GRAPH)
        while len(self.calls) > MOST_CALLS or (self.bytes > MOST_BYTES and len(self.calls) > 1):
            self._drop(self.calls[0])

    def _limit(self, question, most):
        matching = [call for call in self.calls if question(call)]
        for call in matching[:-most]:
            self._drop(call)

    def _drop(self, call):
        self.calls.remove(call)
        self.bytes -= call.bytes

    def keep(self, call, number, gradient, backward):
        """A gradient arrived at an output; several backwards add up."""
        call.backwards.add(backward)
        size = gradient.numel() * gradient.element_size()
        if self.gradient_bytes + size > MOST_BYTES:
            self.is_cut = True
            return
        self.gradient_bytes += size
        known = call.gradients.get(number)
        call.gradients[number] = gradient if known is None else known + gradient

    def batch(self, loader, batch):
        size = sum(t.numel() * t.element_size() for t in tensors_in(batch))
        self.batches.append((loader, batch, randomness.save(self.torch), size))
        self.batch_bytes += size
        while len(self.batches) > MOST_CALLS or (self.batch_bytes > MOST_BYTES and len(self.batches) > 1):
            self.batch_bytes -= self.batches.pop(0)[3]

    def checked(self):
        """All gradients of the calls that a backward has reached are finite."""
        for call in self.calls:
            if call.backwards:
                call.is_checked = True
                call.gradients = {}
        self.gradient_bytes, self.is_cut = 0, False

    def skipped(self):
        """A gradient scaler skipped this step: its calls are history, their gradients were scaled too high."""
        for call in self.calls:
            call.is_checked, call.gradients = True, {}
        self.gradient_bytes = 0

    def next_step(self):
        self.calls, self.batches = [], []
        self.bytes = self.batch_bytes = self.gradient_bytes = 0
        self.is_cut = False
        self.randoms = [self.randoms[1], randomness.save(self.torch)]

    def suspects(self):
        """The calls, those first that no check has cleared."""
        return sorted(self.calls, key=lambda call: call.is_checked)

    def sources(self, optimizers):
        """(fields of a link, tensor): parameters, buffers, inputs and batches by name, best names last."""
        for number, optimizer in enumerate(optimizers):
            for index, parameter in enumerate(p for g in optimizer.param_groups for p in g["params"]):
                yield {"source": "parameter", "name": "%d of optimizer %d" % (index, number)}, parameter
        for _, batch, _, _ in self.batches:
            for name, tensor in named_tensors(batch, "batch"):
                yield {"source": "batch", "name": name}, tensor
        for call in self.calls:
            owner = type(call.function).__name__ if call.kind == "module" else call.function.__name__
            for name, tensor in call.tensors():
                site, library = call.site
                yield {"source": "input", "name": name, "of": owner, "site": site, "lib": library}, tensor
        for call in self.calls:
            if call.kind == "module":
                for name, buffer in registered.named_buffers(call.function):
                    yield {"source": "buffer", "name": name, "of": type(call.function).__name__}, buffer
                for name, parameter in registered.named_parameters(call.function):
                    yield {"source": "parameter", "name": name, "of": type(call.function).__name__}, parameter
