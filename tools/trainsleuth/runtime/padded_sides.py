"""Listener: on which side the sequences that a model is given are filled up, and on which their labels are.

One event "padded_sides" for each loss and line, with the rows in which both are filled up: on the same side, on
opposite ones by as many places, or otherwise.
"""

from .ends import places_of, run_of, sequences_in
from .freeze import storage
from .padding import is_readable, labels_in
from .targets import CLASSIFIERS
from .tensors import tensors_in

LAST_STEP = 60
MOST_READ = 20  # calls of one loss at one line
MOST_LOSSES = 8
MOST_ENTERED = 4  # sequences that are kept
MOST_ENDS = 8  # values that are tried as filling
LEAST_RUN = 2  # places: a single one may be content
LEAST_LABELS = 16


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.entered = []
        self.losses = {}  # (function, line of the user, of a library) -> Rows

    def forward_before(self, module, args, kwargs):
        if self.bus.steps < LAST_STEP and self.torch.is_grad_enabled():
            labels = labels_in(args, kwargs)
            given = [t.detach() for t in tensors_in((args, kwargs)) if is_readable(t) and storage(t) not in labels]
            self.entered = [*self.entered, *(t for t in given if t.dim() == 2)][-MOST_ENTERED:]

    def loss_after(self, name, arguments, output):
        if name not in CLASSIFIERS or self.bus.steps >= LAST_STEP or not getattr(output, "requires_grad", False):
            return
        labels = list(arguments.values())[1]
        if not self.entered or not is_readable(labels) or labels.is_floating_point() or labels.numel() < LEAST_LABELS:
            return
        place = (name, *self.bus.sites.here())
        if place not in self.losses and len(self.losses) >= MOST_LOSSES:
            return
        rows = self.losses.setdefault(place, Rows(self.torch))
        if rows.calls < MOST_READ:
            rows.add(self.entered, labels.detach().cpu())

    def boundary(self, step):
        self.entered = []

    def close(self, reason):
        for (fn, user, library), rows in self.losses.items():
            if rows.same or rows.opposite:
                self.events("padded_sides", fn=fn, site=user, lib=library, n=self.bus.steps, calls=rows.calls, same=rows.same,
                            opposite=rows.opposite, otherwise=rows.otherwise, lengths=len(rows.lengths))  # fmt: skip


class Rows:
    """Of one loss: the rows on whose sides inputs and labels agree, or do not; `lengths` are those of opposite fillings."""

    def __init__(self, torch):
        self.torch, self.calls = torch, 0
        self.same = self.opposite = self.otherwise = 0
        self.lengths = set()

    def add(self, entered, labels):
        for tensor in reversed(entered):
            for _, sequences in sequences_in(tensor, labels.numel()):
                for _, rows, order in places_of(self.torch, sequences, labels):
                    self.calls += 1
                    self._compare(*ends_of(self.torch, rows), *ends_of(self.torch, labels.reshape(-1)[order]))
                    return

    def _compare(self, before, behind, label_before, label_behind):
        for one, other, of_labels, others in zip(before, behind, label_before, label_behind):
            if max(one, other) < LEAST_RUN or min(one, other):
                continue  # not filled up, or perhaps content on one side
            if (
                max(of_labels, others) < LEAST_RUN
                or min(of_labels, others)
                or abs(one + other - of_labels - others) > 1
            ):
                self.otherwise += 1
            elif bool(one) == bool(of_labels):
                self.same += 1
            else:
                self.opposite += 1
                self.lengths.add(one + other)


def ends_of(torch, rows):
    """(places at the beginning of each row, at its end) that one value fills up: the value that fills the most."""
    rows = rows.long()
    best, most = None, 0
    for value in torch.cat([rows[:, 0], rows[:, -1]]).unique()[:MOST_ENDS].tolist():
        before, behind = (run_of(rows, value, at_end).sum(1) for at_end in (False, True))
        if (count := int(before.sum() + behind.sum())) > most:
            best, most = (before, behind), count
    return [side.tolist() for side in best]
