"""Listener: labels that a classifying loss is given where the sequences of the batch are only filled up.

The sequences are those that entered an outermost module: whole numbers (examples, places), or frames, of which the
filling is zero. Whether a label counts is read from the gradient that comes back to the loss.
"""

from contextlib import suppress

from .ends import asked, filled, is_told, places_of, run_of, sequences_in, stands_elsewhere
from .freeze import storage
from .targets import CLASSIFIERS
from .tensors import hear_gradient, is_dense, is_unreadable, tensors_in

LAST_STEP = 60
MOST_READ = 12  # calls of one loss at one line
MOST_LOSSES = 8
MOST_ENTERED = 4  # calls of modules that are kept
TELL_AT = frozenset({3, 10, 30, LAST_STEP})


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.entered = []  # (module, tensors) of the last calls
        self.losses = {}  # (function, line of the user, of a library) -> Loss
        self.waiting = []  # (Loss, Reading) whose gradient has not come yet

    def forward_before(self, module, args, kwargs):
        if self.bus.steps < LAST_STEP and self.torch.is_grad_enabled():
            given = [t.detach() for t in tensors_in((args, kwargs)) if is_readable(t) and 1 <= t.dim() <= 3]
            self.entered = [*self.entered[1 - MOST_ENTERED :], (module, given, labels_in(args, kwargs))]

    def loss_after(self, name, arguments, output):
        labels = list(arguments.values())[1]
        if name not in CLASSIFIERS or self.bus.steps >= LAST_STEP or not getattr(output, "requires_grad", False):
            return
        if not is_readable(labels) or labels.is_floating_point() or labels.numel() < 8:
            return
        place = (name, *self.bus.sites.here())
        if place not in self.losses and len(self.losses) >= MOST_LOSSES:
            return
        loss = self.losses.setdefault(place, Loss(self.torch, arguments))
        reading = loss.read(self.entered, labels.detach()) if loss.calls < MOST_READ else None
        if reading is not None:
            with suppress(RuntimeError):  # inside of torch.func
                hear_gradient(output, reading.arrives)
                self.waiting.append((loss, reading))

    def backward_after(self, tensors):
        for loss, reading in self.waiting:
            if reading.gradient is not None:
                loss.add(reading)
        self.waiting = [pair for pair in self.waiting if pair[1].gradient is None]

    def boundary(self, step):
        self.waiting, self.entered = [], []
        if step in TELL_AT:
            self._tell()

    def close(self, reason):
        self._tell()

    def _tell(self):
        for (fn, user, library), loss in self.losses.items():
            for fill in loss.fills.values():
                self.events("padding", fn=fn, site=user, lib=library, n=self.bus.steps, calls=loss.calls,
                            ignored=loss.ignored, reduction=loss.reduction, **fill)  # fmt: skip


class Loss:
    """One loss at one line: `fills` are what its sequences are filled up with, by where they come from and the value."""

    def __init__(self, torch, arguments):
        self.torch, self.calls, self.fills = torch, 0, {}
        self.ignored, self.reduction = arguments.get("ignore_index", -100), arguments.get("reduction")
        self.weight = arguments.get("weight")

    def read(self, entered, labels):
        """What this call shows, but for its gradient; None where nothing is filled up, or no label there counts."""
        own, labels = storage(labels), labels.cpu()
        ways = [
            way
            for module, given, named in entered
            for way in self._ways(module, given, labels, own if own in named else None)
        ]
        self.calls += bool(ways)
        for _, _, key, rows, order, _ in ways:
            self._doubt(key, rows, labels.reshape(-1)[order])
        fills = [(filled(self.torch, way[3]), way) for way in ways]
        found = [Reading(fill, labels, self, way) for fill, way in fills if fill is not None]
        found = [one for one in found if one.label is not None]
        return max(found, key=lambda one: one.at.numel(), default=None)

    def _ways(self, module, given, labels, own):
        """With whether the sequences are what the module was given as labels: their values lie at `own`."""
        for number, tensor in enumerate(given):
            for kind, sequences in sequences_in(tensor, labels.numel()):
                for layout, rows, order in places_of(self.torch, sequences, labels):
                    yield module, given, (number, kind, layout), rows, order, storage(tensor) == own

    def _doubt(self, key, rows, labels):
        """A value that was taken for filling stands among what is held, or with another label."""
        for (known, value), fill in self.fills.items():
            if known == key:
                places = run_of(rows, value, fill["at_end"])
                there = labels[asked(places, fill["at_end"])]
                others = there[(there != fill["label"]) & (there != self.ignored)]
                fill["doubts"] += stands_elsewhere(rows, value, places) or bool(others.numel())

    def is_left_out(self, label):
        return self.weight is not None and float(self.weight[label]) == 0.0

    def add(self, reading):
        facts = reading.facts()
        known = self.fills.setdefault((reading.key, reading.fill.value), facts)
        if known is facts:
            return
        for name in ("padded", "labels", "at", "reached", "elsewhere", "told", "copies"):
            known[name] += facts[name]
        for name in ("longest", "run"):
            known[name] = max(known[name], facts[name])
        known["doubts"] += known["label"] != facts["label"]


class Reading:
    """The filled places of one call, and the gradient of the loss there once it has come."""

    def __init__(self, fill, labels, loss, way):
        self.module, given, self.key, rows, order, is_label = way
        flat, self.fill, self.gradient = labels.reshape(-1), fill, None
        counts = flat != loss.ignored
        self.at = order[asked(fill.places, fill.at_end)]
        self.at = self.at[counts[self.at]]
        found = flat[self.at].unique().tolist()
        self.label = found[0] if len(found) == 1 and not loss.is_left_out(found[0]) else None
        if self.label is None:
            return
        weight = loss.weight
        are_equal = ((flat[order] == rows) | ~counts[order]).all()
        self.known = {
            "labels": int(counts.sum()), "elsewhere": int((flat[counts] == self.label).sum()) - self.at.numel(),
            "light": weight is not None and bool(weight[self.label] < weight.float().mean()),
            "told": is_told(fill, self.module, given), "copies": bool(are_equal) and not is_label,
            "longest": int(fill.places.sum(1).max()), "run": fill.run,
        }  # fmt: skip

    def arrives(self, gradient):
        self.gradient = gradient.detach()

    def facts(self):
        gradient = self.gradient.reshape(-1)
        reached = gradient[self.at.to(gradient.device)] if gradient.numel() > 1 else gradient.expand(self.at.numel())
        return dict(
            self.known, padded=1, at=self.at.numel(), reached=int((reached != 0).sum()), label=self.label, value=self.fill.value,
            held=self.key[1], at_end=self.fill.at_end, cls=type(self.module).__name__, doubts=0,
        )  # fmt: skip


def is_readable(tensor):
    return hasattr(tensor, "dtype") and is_dense(tensor) and not is_unreadable(tensor) and not tensor.is_complex()


def labels_in(args, kwargs):
    """Where the values lie of what goes in as labels and as nothing else: model(input_ids=tokens, labels=labels)."""
    found = {True: set(), False: {storage(one) for one in tensors_in(args)}}
    for name, value in kwargs.items():
        if hasattr(value, "untyped_storage"):
            found["label" in name or "target" in name].add(storage(value))
    return found[True] - found[False]
