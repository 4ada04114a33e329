"""Listener: of programs that change their parameters themselves, what a change is to the gradient that it follows.

Between the end of a backward and the beginning of the next one some parameters move: by which multiple of their gradient,
and is the gradient cleared? One event "by_hand" at the end, with a rate for each change, the numbers of parameters that moved and that
did not though they get gradients, and the least and largest factor between a gradient that was kept and what it was (a clipping makes another one
each time). Nothing of it where an optimizer of torch was built.
"""

from . import graph
from .tensors import is_dense, local

MOST_PARAMETERS = 400
MOST_RATED = 16  # parameters whose changes are measured
SAMPLE = 64  # elements of each
LOOK_FOR = 3  # backwards in which parameters are looked for
MOST_CHANGES = 5000
PARALLEL = 1 - 1e-6


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.born = False  # an optimizer of torch
        self.backwards = 0
        self.known = {}  # id -> Parameter
        self.changes = []  # [rate, size of the change] of each backward that one follows
        self.left = {"cleared": 0, "kept": 0, "other": 0}  # gradients, when the backward behind a change begins
        self.factors = []  # of those that are kept
        self.site = None

    def optimizer_born(self, optimizer):
        self.born, self.known = True, {}

    def backward_before(self, tensors, gradients):
        if self.born or len(self.changes) >= MOST_CHANGES:
            return
        if self.backwards:
            self._compare()
        self.backwards += 1
        if self.backwards <= LOOK_FOR:
            self._look_for(tensors)
            self.site = self.site or self.bus.sites.here()

    def backward_after(self, tensors):
        if not self.born and len(self.changes) < MOST_CHANGES:
            for one in self._rated():
                one.keep()

    def close(self, reason):
        if self.born or not self.changes or self.site is None:
            return
        held = [one for one in self.known.values() if not one.has_moved()]
        still = [list(one.tensor.shape) for one in held if one.tensor.grad is not None]
        user, library = self.site
        self.events("by_hand", site=user, lib=library, n=self.bus.steps, moved=len(self.known) - len(held), still=len(still), shapes=still[:4],
                    changes=self.changes, factors=[min(self.factors), max(self.factors)] if self.factors else None, **self.left)  # fmt: skip

    def _look_for(self, tensors):
        leaves = (graph.leaf_of(node) for node in graph.nodes_from(tensors))
        for leaf in leaves:
            if leaf is not None and id(leaf) not in self.known and len(self.known) < MOST_PARAMETERS and is_dense(leaf):
                self.known[id(leaf)] = Parameter(self.torch, leaf)

    def _rated(self):
        every = max(1, len(self.known) // MOST_RATED)
        return list(self.known.values())[::every][:MOST_RATED]

    def _compare(self):
        found = [change for one in self._rated() if (change := one.change()) is not None]
        if not found:
            return
        along, squared, moved = (sum(part) for part in zip(*((one.along, one.squared, one.moved) for one in found)))
        if moved == 0.0:
            return
        self.changes.append([along / squared if squared else 0.0, moved**0.5])
        states = {one.gradient for one in found if one.moved}
        state = states.pop() if len(states) == 1 else "other"
        self.left[state] += 1
        if state == "kept":
            self.factors.append(max(one.factor for one in found))


class Change:
    """`gradient` is what became of it: cleared, kept (times `factor`), or other."""

    __slots__ = ("along", "factor", "gradient", "moved", "squared")

    def __init__(self, along, squared, moved, gradient, factor):
        self.along, self.squared, self.moved, self.gradient, self.factor = along, squared, moved, gradient, factor


class Parameter:
    """A leaf with a gradient: a sample of its values and gradients as the last backward left them."""

    def __init__(self, torch, tensor):
        self.torch, self.tensor = torch, tensor
        self.first = self._sample(tensor)
        self.values = self.gradients = None

    def _sample(self, tensor):
        flat = local(tensor.detach()).reshape(-1)
        return flat[:: max(1, flat.numel() // SAMPLE)][:SAMPLE].to("cpu", self.torch.float64, copy=True)

    def keep(self):
        gradient = self.tensor.grad
        self.values = self.gradients = None
        if gradient is not None and is_dense(gradient):
            self.values, self.gradients = self._sample(self.tensor), self._sample(gradient)

    def change(self):
        """None where the last backward left no gradient."""
        if self.gradients is None:
            return None
        now, factor = self.tensor.grad, 0.0
        moved = self.values - self._sample(self.tensor)
        squared, along = float(self.gradients.square().sum()), float((moved * self.gradients).sum())
        if now is None or not bool(now.any()):
            state = "cleared"
        else:
            sampled = self._sample(now)
            state = "kept" if are_parallel(sampled, self.gradients) else "other"
            factor = float((sampled * self.gradients).sum()) / squared if squared else 0.0
        return Change(along, squared, float(moved.square().sum()), state, factor)

    def has_moved(self):
        return bool((self._sample(self.tensor) != self.first).any())


def are_parallel(one, other):
    """The same but for a factor, as behind a clipping."""
    return float((one * other).sum()) ** 2 >= PARALLEL * float(one.square().sum() * other.square().sum()) > 0
