"""Listener: does a loss rise when the targets of a batch go to other examples? Until then nothing of the pairs was learned.

Each loss of torch that a step asks for is computed twice more, without gradients: as it is, and with the targets moved by
half a batch. The model is not called again.
"""

from collections import deque
from contextlib import suppress

from .freeze import storage
from .padding import labels_in
from .targets import CLASSIFIERS
from .tensors import hear_gradient, is_dense, is_unreadable, tensors_in

PAIRED = (
    *CLASSIFIERS, "binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
)  # fmt: skip
FIRST_STEP = 10
WINDOW = 40  # calls that are compared, the last ones
EVERY = 2  # steps
LAST_STEP = 400
MOST_PLACES = 8
LEAST_ROWS = 4
MOST_VALUES = 10_000_000
TELL_AT = frozenset({60, 100, 150, 200, 300, LAST_STEP})


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.places = {}  # (function, line of the user, of a library) -> Pairs
        self.entered = set()  # memory of what entered modules since the last backward

    def forward_before(self, module, args, kwargs):
        if self.bus.steps <= LAST_STEP and self.torch.is_grad_enabled():
            self.entered.update({storage(tensor) for tensor in tensors_in((args, kwargs))} - labels_in(args, kwargs))

    def backward_after(self, tensors):
        self.entered = set()

    def loss_after(self, name, arguments, output):
        step = self.bus.steps
        if name not in PAIRED or step > LAST_STEP or (step and (step < FIRST_STEP or step % EVERY)):
            return
        given, target = list(arguments.values())[:2]
        if not getattr(output, "requires_grad", False) or not self._are_rows(given, target):
            return
        place = (name, *self.bus.sites.here())
        if place not in self.places and len(self.places) >= MOST_PLACES:
            return
        pairs = self.places.setdefault(place, Pairs(given, name in CLASSIFIERS))
        if not pairs.is_trained_on:
            with suppress(RuntimeError):  # inside of torch.func
                hear_gradient(output, pairs.arrives)
        others = target.roll(len(target) // 2, 0)
        pairs.add(step, *(self._loss(name, arguments, given, one) for one in (target, others)))

    def _are_rows(self, given, target):
        if not (is_read(given) and is_read(target)) or target.requires_grad or storage(target) in self.entered:
            return False  # the last: of what is restored the pairs are right
        return len(given) == len(target) >= LEAST_ROWS and given.numel() <= MOST_VALUES

    def _loss(self, name, arguments, given, target):
        first, second = list(arguments)[:2]
        mean = "batchmean" if name == "kl_div" else "mean"  # for which torch warns
        changed = {**arguments, first: given.detach(), second: target, "reduction": mean}
        with self.torch.no_grad():
            return getattr(self.torch.nn.functional, name)(**changed)

    def boundary(self, step):
        if step in TELL_AT:
            self._tell()

    def close(self, reason):
        self._tell()

    def _tell(self):
        for (fn, user, library), pairs in self.places.items():
            if not pairs.is_trained_on:
                continue
            self.events(
                "mispaired", fn=fn, site=user, lib=library, n=self.bus.steps, classes=pairs.classes, **pairs.facts()
            )


def is_read(tensor):
    return hasattr(tensor, "grad_fn") and tensor.dim() > 0 and is_dense(tensor) and not is_unreadable(tensor)


class Pairs:
    """Losses of one place, as they are and with targets of other examples; on their device until they are told."""

    def __init__(self, given, is_of_classes):
        self.first, self.last, self.is_trained_on = None, deque(maxlen=WINDOW), False
        self.classes = int(given.shape[1]) if is_of_classes and given.dim() > 1 else 0

    def arrives(self, gradient):
        self.is_trained_on = True

    def add(self, step, real, mixed):
        if step < FIRST_STEP:
            self.first = real if self.first is None else self.first
        else:
            self.last.append((real, mixed))

    def facts(self):
        both = [(float(real), float(mixed)) for real, mixed in self.last]
        apart = [mixed - real for real, mixed in both]
        count = max(1, len(apart))
        middle = sum(apart) / count
        spread = (sum((one - middle) ** 2 for one in apart) / max(1, count - 1)) ** 0.5
        return {
            "first": None if self.first is None else float(self.first), "real": sum(real for real, _ in both) / count,
            "mixed": sum(mixed for _, mixed in both) / count, "error": spread / count**0.5, "compared": len(both),
            "unlike": sum(one != 0.0 for one in apart),
        }  # fmt: skip
