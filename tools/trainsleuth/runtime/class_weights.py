"""Listener: what a loss weighs its classes with, and how often each of them comes.

One event "class_weights" for each loss and line, with groups of classes that exclude each other: the classes of a cross
entropy, or absent and present for each label of a binary one (`pos_weight`, or a `weight` for each of its elements).
"""

from .padding import is_readable

LAST_STEP = 300
MOST_PLACES = 8
MOST_CLASSES = 1000
MOST_GROUPS = 50
PLAIN_SAMPLERS = ("RandomSampler", "SequentialSampler", "DistributedSampler", "NoneType", "_InfiniteConstantSampler")
SAME = 1e-3  # of a weight: how far it may move by rounding
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.is_drawn = False  # are examples drawn otherwise than each once, so that weights may count them back?
        self.seen = {}  # (function, line of the user, of a library) -> Weighed

    def batch(self, loader, batch):
        self.is_drawn = type(getattr(loader, "sampler", None)).__name__ not in PLAIN_SAMPLERS

    def loss_after(self, name, arguments, output):
        given = arguments.get("weight"), arguments.get("pos_weight")
        if given == (None, None) or self.bus.steps > LAST_STEP or not getattr(output, "requires_grad", False):
            return
        found = self._binary(arguments, *given) if name in BINARY else self._classes(arguments, given[0])
        if found is None:
            return
        place = (name, *self.bus.sites.here())
        if place in self.seen or len(self.seen) < MOST_PLACES:
            if place not in self.seen:
                self.seen[place] = Weighed(*found)
            self.seen[place].add(*found, self.is_drawn)

    def _classes(self, arguments, weight):
        target = list(arguments.values())[1]
        if not is_readable(weight) or not is_readable(target) or target.dtype.is_floating_point:
            return None
        classes = weight.numel()
        if not 2 <= classes <= MOST_CLASSES or not target.numel():
            return None
        labels = target.detach().reshape(-1)
        kept = (labels != arguments.get("ignore_index", -100)) & (labels >= 0) & (labels < classes)
        counts = self.torch.zeros(
            classes, dtype=self.torch.float64, device="cpu" if labels.device.type == "mps" else labels.device
        )
        counts.index_add_(0, labels.clamp(0, classes - 1).long(), kept.to(counts.dtype))
        return weight.detach().reshape(1, -1).to(counts), counts[None]

    def _binary(self, arguments, weight, positive):
        target = list(arguments.values())[1]
        if not is_readable(target) or not target.numel():
            return None
        target = target.detach()
        counts_at_all = (
            weight != 0 if is_readable(weight) and weight.shape == target.shape else 1
        )  # 0 where a label is missing
        present, absent = (target == 1).double() * counts_at_all, (target == 0).double() * counts_at_all
        if positive is not None:
            labels = positive.numel()
            if (
                not is_readable(positive)
                or labels not in (1, target.shape[-1] if target.dim() else 1)
                or labels > MOST_GROUPS
            ):
                return None
            rows = (present.reshape(-1, labels), absent.reshape(-1, labels))
            counts = self.torch.stack([rows[1].sum(0), rows[0].sum(0)], 1)
            weights = positive.detach().reshape(-1).to(counts)
            return self.torch.stack([self.torch.ones_like(weights), weights], 1), counts
        if not is_readable(weight) or weight.shape != target.shape:
            return None
        sums = [(present.sum(), (present * weight.detach()).sum()), (absent.sum(), (absent * weight.detach()).sum())]
        (ones, of_ones), (zeros, of_zeros) = sums
        means = self.torch.stack([of_zeros / zeros.clamp(min=1), of_ones / ones.clamp(min=1)])
        return means[None], self.torch.stack([zeros, ones])[None]

    def close(self, reason):
        for (fn, user, library), seen in self.seen.items():
            self.events(
                "class_weights", fn=fn, site=user, lib=library, calls=seen.calls, n=self.bus.steps, changed=int(seen.changed), drawn=seen.drawn,
                weights=(seen.sums / seen.counts.clamp(min=1)).tolist(), counts=[[int(one) for one in group] for group in seen.counts.tolist()],
            )  # fmt: skip


class Weighed:
    """Of one place: how often each class came, the sum of its weights, in how many calls one differed from the first."""

    def __init__(self, weights, counts):
        self.calls, self.changed, self.drawn = 0, 0, False
        self.sums, self.counts, self.first = counts * 0, counts * 0, weights * (counts > 0)

    def add(self, weights, counts, is_drawn):
        if counts.shape != self.counts.shape:
            return
        self.calls += 1
        self.drawn = self.drawn or is_drawn  # by the loader of this call: an evaluation may come last
        self.sums, self.counts = self.sums + weights * counts, self.counts + counts
        is_known = (counts > 0) & (self.first > 0)
        self.changed = self.changed + ((weights - self.first).abs() > SAME * self.first).logical_and(is_known).any()
        self.first = self.first + weights * (counts > 0) * (self.first == 0)
