"""Listener: which of the tokens that enter a model of the next token are targets of its loss.

A token is a target where the label of the place before it is the token itself, and counts: it is not ignored, and a
gradient comes back where each label has a loss of its own. Losses of one call of a model are taken together.
"""

from contextlib import suppress

from . import registered
from .ends import places_of
from .freeze import storage
from .padding import is_readable, labels_in
from .phases import inner
from .targeted import Targeted
from .targets import CLASSIFIERS
from .tensors import hear_gradient, tensors_in

LAST_STEP = 60
MOST_READ = 60  # backwards of one loss
MOST_LOSSES = 8
MOST_PENDING = 16  # batches of tokens before a backward
MOST_ENTERED = 4  # calls of modules that are kept
MOST_VALUES = 4_000_000
LEAST_KINDS = 8  # of tokens in a batch
TELL_AT = frozenset({3, 10, 30, LAST_STEP})


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.entered = []  # (module, tokens, mask of what is attended to or None)
        self.losses = {}  # (function, line of the user, of a library) -> Targeted
        self.read = {}  # place -> calls
        self.ends = {}  # number of the root -> ids that end a sequence
        self.pending, self.others = {}, 0  # since the last backward: readings by tokens; losses of something else

    def forward_before(self, module, args, kwargs):
        if self.bus.steps < LAST_STEP and self.torch.is_grad_enabled():
            named = labels_in(args, kwargs)
            mask = kwargs.get("attention_mask")
            for tokens in tensors_in((args, kwargs)):
                if is_tokens(tokens) and storage(tokens) not in named and tokens is not mask:
                    self.entered = [*self.entered[1 - MOST_ENTERED :], (inner(module), tokens, mask)]

    def loss_after(self, name, arguments, output):
        if self.bus.steps >= LAST_STEP or not self.entered or not getattr(output, "requires_grad", False):
            return
        labels, place = list(arguments.values())[1], (name, *self.bus.sites.here())
        self.read[place] = self.read.get(place, 0) + 1
        if self.read[place] > MOST_READ or len(self.pending) >= MOST_PENDING:
            return
        reading = None
        if name in CLASSIFIERS and is_readable(labels) and not labels.is_floating_point() and labels.numel() >= 8:
            reading = self._reading(labels.detach().cpu(), arguments.get("ignore_index", -100))
        if reading is None:
            self.others += 1
            return
        reading.place = place
        if output.numel() == labels.numel():
            with suppress(RuntimeError):  # inside of torch.func
                hear_gradient(output, reading.arrives)
        self.pending.setdefault(id(reading.tokens), []).append(reading)

    def _reading(self, labels, ignored):
        for module, tokens, mask in reversed(self.entered):
            rows = tokens.detach().cpu().long()
            if len(rows.reshape(-1)[:4096].unique()) < LEAST_KINDS:
                continue
            for (is_first, _), _, order in places_of(self.torch, rows, labels):
                found = labels.reshape(-1)[order]
                counts = found != ignored
                full = rows if is_first else rows.t()
                if are_next(full, found, counts):
                    return Reading(module, tokens, mask, full, found, counts, order)
        return None

    def backward_after(self, tensors):
        for readings in self.pending.values():
            first = readings[0]
            if first.place not in self.losses and len(self.losses) >= MOST_LOSSES:
                continue
            one = self.losses.setdefault(first.place, Targeted(self._ends_of(first.module)))
            one.others += self.others
            counted = first.counted()
            for other in readings[1:]:
                if other.counts.shape == first.counts.shape:
                    counted = counted | other.counted()
                else:
                    one.others += 1
            one.add(self.torch, first, counted)
        self.pending, self.others = {}, 0

    def _ends_of(self, module):
        root = self.bus.number("root", module)
        if root not in self.ends:
            self.ends[root] = end_ids(module)
        return self.ends[root]

    def boundary(self, step):
        self.entered, self.pending = [], {}
        if step in TELL_AT:
            self._tell()

    def close(self, reason):
        self._tell()

    def _tell(self):
        for (fn, user, library), one in self.losses.items():
            self.events("next_tokens", fn=fn, site=user, lib=library, n=self.bus.steps, **one.facts())


class Reading:
    """The labels of one call of a loss, by sequence and place."""

    def __init__(self, module, tokens, mask, rows, labels, counts, order):
        self.module, self.tokens, self.mask, self.rows = module, tokens, mask, rows
        self.labels, self.counts, self.order, self.gradient, self.place = labels, counts, order, None, None

    def arrives(self, gradient):
        self.gradient = gradient.detach()

    def counted(self):
        if self.gradient is None:
            return self.counts
        return self.counts & (self.gradient.reshape(-1).cpu()[self.order] != 0)


def is_tokens(tensor):
    return is_readable(tensor) and tensor.dim() == 2 and not tensor.is_floating_point() and str(tensor.dtype) != "torch.bool" and 16 <= tensor.numel() <= MOST_VALUES and min(tensor.shape) >= 2  # fmt: skip


def are_next(rows, labels, counts):
    """Is each label that counts the token at the next place?"""
    width = min(labels.shape[1], rows.shape[1] - 1)
    counts, labels, rows = counts[:, :width], labels[:, :width], rows[:, 1 : width + 1]
    return bool(counts.any()) and bool(((labels == rows) | ~counts).all())


def end_ids(module):
    """What the settings of the model, or of the first part that has any, say ends a sequence."""
    for one in registered.modules(module):
        found = set()
        for holder in (getattr(one, "config", None), getattr(one, "generation_config", None)):
            value = getattr(holder, "eos_token_id", None)
            found.update(v for v in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(v, int))
        if found:
            return sorted(found)
    return []
