"""Listener: of the labels that a classifying loss counts, how many stand in the sequence that the model is given, at the same place.

A label counts where a gradient comes back to its scores: what is weighed with zero, or ignored, gets none. One event
"given_answers" for each loss and line, with the places that count and those that do not.
"""

from contextlib import suppress
from functools import partial

from .padding import is_readable
from .targets import CLASSIFIERS
from .tensors import hear_gradient, tensors_in

LAST_STEP = 60
MOST_READ = 12  # calls of one loss at one line
MOST_LOSSES = 4
LEAST_PLACES = 16
MOST_KINDS = 4  # calls whose hidden places are kept


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.entered = []  # sequences of numbers that modules were given since the last step
        self.losses = {}  # (function, line of the user, of a library) -> [calls, counted and given, counted, left and given, left]
        self.places = set()  # of all classifying losses that are trained on
        self.hidden = {}  # the same -> [tokens, labels] at the places of a call that do not count

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
        self.places.add(place)
        if not tokens or scores.dim() < 2 or (place not in self.losses and len(self.losses) >= MOST_LOSSES):
            return
        seen = self.losses.setdefault(place, [0, 0, 0, 0, 0])
        if seen[0] < MOST_READ:
            seen[0] += 1
            shown, wanted, rows = tokens[-1].reshape(-1), labels.detach().reshape(-1), tokens[-1].shape
            ignored = labels.detach().reshape(-1) == arguments.get("ignore_index", -100)
            with suppress(RuntimeError):  # inside of torch.func
                hear_gradient(scores, partial(self._arrives, place, seen, (shown, wanted), rows, ignored))

    def _arrives(self, place, seen, both, rows, ignored, gradient):
        counted = (gradient.detach() != 0).any(1).reshape(-1)
        equal = both[0] == both[1]
        if counted.numel() != equal.numel():
            return
        left = ~counted & ~ignored
        behind = (
            left.view(rows).flip(1).long().cumprod(1).flip(1).bool().view(-1)
        )  # up to the end of its row, as padding is
        left = left & ~behind
        if seen[0] <= MOST_KINDS and bool(left.any()):
            self.hidden.setdefault(place, []).append([values[left].cpu() for values in both])
        for slot, which in enumerate((counted & equal, counted, left & equal, left), 1):
            seen[slot] = seen[slot] + which.sum()

    def boundary(self, step):
        self.entered = []

    def close(self, reason):
        for (fn, user, library), (calls, *counts) in self.losses.items():
            given, counted, left_given, left = map(int, counts)
            hidden = [self.torch.cat(part) for part in zip(*self.hidden.get((fn, user, library), ()))]
            tokens, labels = (most_common(values) for values in hidden) if hidden else (0.0, 1.0)
            self.events("given_answers", fn=fn, site=user, lib=library, n=self.bus.steps, calls=calls, given=given, counted=counted,
                        left_given=left_given, left=left, one_token=tokens, one_label=labels, losses=len(self.places))  # fmt: skip


def most_common(values):
    """The share of the value that comes most often."""
    return float(values.unique(return_counts=True)[1].max() / values.numel())


def is_numbers(tensor):
    return is_readable(tensor) and str(tensor.dtype) == "torch.int64"
