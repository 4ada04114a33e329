"""Listener: gradients that autograd.grad gave without a graph, of which a number is made that is added to a loss.

From the call of autograd.grad to the next backward everything that is computed of them is followed, at the first few calls.
One event "gradient_term" with both lines where the backward goes through that sum.
"""

from . import graph
from .hearing import Hearing
from .tensors import tensors_in

MOST_CALLS = 6
MOST_KEPT = 500
SUMS = frozenset(
    {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "sub_", "__sub__", "__rsub__", "__isub__", "rsub"}
)


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.hearing = Hearing(bus.torch, self, self.heard)
        self.made = {}  # id -> (tensor, line of autograd.grad), kept so that ids stay theirs
        self.sums = []  # (node of the graph, line of autograd.grad, line of the sum)
        self.calls = 0

    def autograd_grad_after(self, gradients):
        bare = [t for t in tensors_in(gradients) if not t.requires_grad]
        if not bare or self.calls >= MOST_CALLS or not self.torch.is_grad_enabled():
            return
        self.calls += 1
        site = self.bus.sites.here()[0]
        self.made.update((id(tensor), (tensor, site)) for tensor in bare)
        self.hearing.start()

    def heard(self, function, given, result):
        sites = [self.made[id(t)][1] for t in tensors_in(given) if id(t) in self.made]
        if not sites or len(self.made) > MOST_KEPT:
            return
        for tensor in tensors_in(result):
            if tensor.is_floating_point() and not tensor.requires_grad:
                self.made[id(tensor)] = (tensor, sites[0])
            elif getattr(function, "__name__", "") in SUMS and self._is_loss(tensor, given):
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
            for node, site, added in self.sums:
                if node in nodes:
                    self.events("gradient_term", n=self.bus.steps, site=site, added=added)
        self.made, self.sums = {}, []

    def boundary(self, step):
        self.hearing.stop()

    def close(self, reason):
        self.hearing.stop()
