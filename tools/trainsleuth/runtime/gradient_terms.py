"""Listener: numbers without a graph that are added to a loss: made of gradients that autograd.grad gave, or of comparisons.

From the call of autograd.grad, or from a model's output at the first steps, to the next backward all that is computed of them is
followed. One event "gradient_term" or "compared_term" with both lines where the loss is a sum of it.
"""

from . import graph
from .hearing import Hearing
from .tensors import tensors_in

MOST_CALLS = 6
FIRST_STEPS = 2  # in which comparisons are heard
COMPARES = frozenset({"gt", "ge", "lt", "le", "__gt__", "__ge__", "__lt__", "__le__", "argmax", "greater", "less"})
MOST_KEPT = 500
SUMS = frozenset(
    {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "sub_", "__sub__", "__rsub__", "__isub__", "rsub"}
)


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.hearing = Hearing(bus.torch, self, self.heard)
        self.made = {}  # id -> (tensor, (kind, line)), kept so that ids stay theirs
        self.sums = []  # (node of the graph, (kind, line), line of the sum)
        self.calls = 0

    def autograd_grad_after(self, gradients):
        bare = [t for t in tensors_in(gradients) if not t.requires_grad]
        if not bare or self.calls >= MOST_CALLS or not self.torch.is_grad_enabled():
            return
        self.calls += 1
        site = ("gradient_term", self.bus.sites.here()[0])
        self.made.update((id(tensor), (tensor, site)) for tensor in bare)
        self.hearing.start()

    def forward_after(self, module, args, kwargs, output):
        if self.bus.steps < FIRST_STEPS and module.training and self.torch.is_grad_enabled():
            self.hearing.start()

    def heard(self, function, given, result):
        if len(self.made) > MOST_KEPT:
            return
        name = getattr(function, "__name__", "")
        if name in COMPARES and any(t.requires_grad and t.numel() > 1 for t in tensors_in(given)):
            site = ("compared_term", self.bus.sites.here()[0])
            self.made.update((id(tensor), (tensor, site)) for tensor in tensors_in(result))
            return
        sites = [self.made[id(t)][1] for t in tensors_in(given) if id(t) in self.made]
        if not sites:
            return
        for tensor in tensors_in(result):
            if not tensor.requires_grad:
                self.made[id(tensor)] = (tensor, sites[0])
            elif name in SUMS and self._is_loss(tensor, given):
                self.sums.append((tensor.grad_fn, sites[0], self.bus.sites.here()[0]))

    def _is_loss(self, result, given):
        """Numbers alone, and none of them a parameter: that one is moved by its gradient."""
        return (
            result.requires_grad
            and not result.dim()
            and not any(t.dim() or (t.is_leaf and t.requires_grad) for t in tensors_in(given))
        )

    def backward_before(self, tensors, gradients):
        self.hearing.pause()
        if self.sums:
            nodes = set(graph.linear_from(tensors))
            for node, (kind, site), added in self.sums:
                if node in nodes:
                    self.events(kind, n=self.bus.steps, site=site, added=added)
        self.made, self.sums = {}, []

    def boundary(self, step):
        self.hearing.stop()

    def close(self, reason):
        self.hearing.stop()
