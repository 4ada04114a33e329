"""Listener: of the labels that a classifying loss counts, how many stand in the sequence that the model is given, at the same place.

A label counts where a gradient comes back to its scores: what is weighed with zero, or ignored, gets none. One event
"given_answers" for each loss and line, with the places that count and those that do not.
"""

from contextlib import suppress
from functools import partial

from .targets import CLASSIFIERS
from .tensors import hear_gradient, is_dense, is_unreadable, tensors_in

LAST_STEP = 60
MOST_READ = 12  # calls of one loss at one line
MOST_LOSSES = 4
LEAST_PLACES = 16


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.entered = []  # sequences of numbers that modules were given since the last step
        self.losses = {}  # (function, line of the user, of a library) -> [calls, counted and given, counted, left and given, left]

    def forward_before(self, module, args, kwargs):
        if self.bus.steps < LAST_STEP and self.torch.is_grad_enabled():
            self.entered += [
                t.detach() for t in tensors_in((args, kwargs)) if is_numbers(t) and t.dim() == 2 and t.shape[1] > 1
            ]
            self.entered = self.entered[-4:]

    def loss_after(self, name, arguments, output):
        scores, labels = list(arguments.values())[:2]
        if (
            name not in CLASSIFIERS
            or self.bus.steps >= LAST_STEP
            or not getattr(scores, "requires_grad", False)
            or not is_numbers(labels)
        ):
            return
        tokens = [
            one for one in self.entered if one.numel() == labels.numel() >= LEAST_PLACES and one.device == labels.device
        ]
        place = (name, *self.bus.sites.here())
        if not tokens or scores.dim() < 2 or (place not in self.losses and len(self.losses) >= MOST_LOSSES):
            return
        seen = self.losses.setdefault(place, [0, 0, 0, 0, 0])
        if seen[0] < MOST_READ:
            seen[0] += 1
            equal = tokens[-1].reshape(-1) == labels.detach().reshape(-1)
            ignored = labels.detach().reshape(-1) == arguments.get("ignore_index", -100)
            with suppress(RuntimeError):  # inside of torch.func
                hear_gradient(scores, partial(self._arrives, seen, equal, ignored))

    def _arrives(self, seen, equal, ignored, gradient):
        counted = (gradient.detach() != 0).any(1).reshape(-1)
        if counted.numel() != equal.numel():
            return
        left = ~counted & ~ignored
        for place, which in enumerate((counted & equal, counted, left & equal, left), 1):
            seen[place] = seen[place] + which.sum()

    def boundary(self, step):
        self.entered = []

    def close(self, reason):
        for (fn, user, library), (calls, *counts) in self.losses.items():
            given, counted, left_given, left = map(int, counts)
            self.events("given_answers", fn=fn, site=user, lib=library, n=self.bus.steps, calls=calls, given=given, counted=counted,
                        left_given=left_given, left=left)  # fmt: skip


def is_numbers(tensor):
    return (
        hasattr(tensor, "dtype")
        and str(tensor.dtype) == "torch.int64"
        and is_dense(tensor)
        and not is_unreadable(tensor)
    )
