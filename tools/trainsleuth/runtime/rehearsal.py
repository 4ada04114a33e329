"""Listener: cuts epochs short, so that the program comes to what lies behind one: evaluation, checkpoint, the next.

Nothing is cut for WHOLE steps, and where `whole_epoch` is asked for, within a SHARE of the time, not before an epoch has
shown all of its data, rare examples too. From then on a pass over a loader that trains ends after STEPS more steps, one
that does not train after BATCHES batches, as if the data ended there. Passes from before the first step are never
cut: a vocabulary or a mean is made of all the data. Nor are those that the program takes its batches from by calls of
next(), for it may count on their number. With `whole_epoch` it also ends when enough was met. "cut" events tell of it,
"rehearsed" of all that was come to.
"""

import dis
import os
import sys
import time

from .patches import Stop
from .phases import inner
from .sites import OWN

SHARE = 0.3  # of the time, in which an epoch may show all of its data
WHOLE = 100  # steps before anything is cut within it
LEAST_WHOLE = 12  # of a program so slow that it takes fewer in its share
WHOLE_TOGETHER = 40  # with several ranks, whose clocks differ
STEPS = 4  # of one epoch after that
BATCHES = 4  # of a pass that does not train
MOST_BATCHES = 64  # of one that trains and seldom steps: it accumulates
EPOCHS = 2  # that end, before enough was seen
MANY_EPOCHS = 12  # after which what was not met is waited for within WAITS of the time alone
WAITS = 0.15
LEAST = 120  # steps of a rehearsal
AFTER = 4  # steps that follow the last of it
LAST = 100  # steps after its share of the time: what was not met in them is not waited for
MOST_TOLD = 20
LOOPS = ("FOR_ITER", "SEND", "YIELD_FROM")  # instructions that take the end of an iterator for their own end


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.shortens = bus.experiment.get("short_epochs", True)
        self.is_alone = os.environ.get("WORLD_SIZE", "1") == "1"
        self.ends_early = bus.experiment.get("whole_epoch", True)  # when enough was met, not after a number of steps
        self.wants_whole = self.ends_early and self.is_alone
        self.wanted = bus.experiment.get("epochs", EPOCHS)
        self.seconds = bus.experiment.get("seconds") or float("inf")
        self.passes = {}  # number of a loader -> [batches, steps at its start, backwards at its start] of its pass
        self.backwards = self.cuts = self.epochs = self.evaluations = self.saves = 0
        self.trained, self.is_evaluating = set(), False
        self.seen_whole = set()  # numbers of the loaders of which a pass came to its own end
        self.enough_at = self.last_at = float("inf")  # steps at which all was met, and nothing more is waited for
        self.began = None

    # -- passes ----------------------------------------------------------------------------

    def loader_started(self, loader):
        self.passes[self.bus.number("loader", loader)] = [0, self.bus.steps, self.backwards]

    def loader_ended(self, loader):
        number = self.bus.number("loader", loader)
        self.seen_whole.add(number)
        self._ended(self.passes.pop(number, None))

    def _ended(self, known):
        """A pass that trained and is over, whether it was cut or not, is an epoch."""
        if known is not None and known[2] < self.backwards and self.bus.steps > known[1]:
            self.epochs += 1

    def batch_before(self, loader):
        number = self.bus.number("loader", loader)
        known = self.passes.get(number)
        if (
            known is None
            or not (self.shortens and self._is_over(number, known))
            or not is_left_to_the_loop(self.bus.sites)
        ):
            return None
        del self.passes[number]
        self._ended(known)
        self.cuts += 1
        if self.cuts <= MOST_TOLD:
            self.events("cut", loader=number, n=self.bus.steps, batches=known[0], of=length(loader),
                        trains=known[2] < self.backwards)  # fmt: skip
        return Stop

    def _is_over(self, number, known):
        batches, steps, backwards = known
        trains = backwards < self.backwards
        if not self._may_cut(self.epochs if trains else number in self.seen_whole):
            return False
        if not trains:
            return batches >= BATCHES
        return self.bus.steps >= steps + STEPS or (batches >= MOST_BATCHES and self.bus.steps > steps)

    def _may_cut(self, was_whole):
        """The same on all ranks, which wait for each other."""
        if not self.is_alone:
            return self.bus.steps >= WHOLE_TOGETHER
        is_late = self._is_late()
        has_shown = is_late or was_whole or not self.wants_whole
        return has_shown and self.bus.steps >= (LEAST_WHOLE if is_late else WHOLE)

    def _is_late(self):
        """Is its share of the time over?"""
        return self._spent() > SHARE * self.seconds

    def _has_waited(self):
        """A program that evaluates at its end comes there soon, with its epochs cut short."""
        return self.seconds == float("inf") or self._spent() > WAITS * self.seconds

    def _spent(self):
        return 0.0 if self.began is None else time.monotonic() - self.began

    def batch(self, loader, batch):
        known = self.passes.get(self.bus.number("loader", loader))
        if known is not None:
            known[0] += 1

    # -- what is come to -------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        number = self.bus.number("root", inner(module))
        if not self.is_evaluating and self.backwards and self._evaluates(number, module):
            self.is_evaluating = True  # until the next backward
            self.evaluations += 1
        elif self.torch.is_grad_enabled():
            self.trained.add(number)

    def _evaluates(self, number, module):
        """A model that is trained, in the other mode; or any model over data that nothing is trained on, as an average
        of the weights. The first batch of a pass does not tell yet: targets may be made of it in the midst of training.
        Where gradients are on, both.
        """
        is_other_mode = number in self.trained and not module.training
        has_learnt_nothing = any(known[0] > 1 and known[2] == self.backwards for known in self.passes.values())
        if self.torch.is_grad_enabled():
            return is_other_mode and has_learnt_nothing
        return is_other_mode or has_learnt_nothing

    def backward_before(self, tensors, gradients):
        if self.began is None:
            self.began = time.monotonic()
        self.backwards += 1
        self.is_evaluating = False

    def saved(self, thing):
        self.saves += bool(self.backwards)

    def boundary(self, step):
        if self.shortens and self.wants_whole and self._is_late():
            self.last_at = min(self.last_at, step + LAST)
        if self._has_met_all() or (self.epochs >= MANY_EPOCHS and self._has_waited()):
            self.enough_at = min(self.enough_at, max(LEAST, step + AFTER))
        if self.ends_early and step >= min(self.enough_at, self.last_at):
            self.bus.finish("rehearsed")

    def _has_met_all(self):
        takes_from_loaders = self.passes or self.cuts
        has_epochs = self.epochs >= self.wanted if takes_from_loaders else not self.wants_whole or self._is_late()
        return has_epochs and self.evaluations > 1 and self.saves

    def close(self, reason):
        seconds = None if self.began is None else round(time.monotonic() - self.began, 3)
        self.events("rehearsed", steps=self.bus.steps, seconds=seconds, epochs=self.epochs, cuts=self.cuts,
                    evaluations=self.evaluations, saves=self.saves)  # fmt: skip


def is_left_to_the_loop(sites):
    """Does the statement that waits for the batch take the end of the data for the end of its loop?"""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    if frame is None or sites.classify(frame.f_code.co_filename)[0] != "user":
        return True  # a framework knows what an end is
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in LOOPS


def length(loader):
    try:
        return len(loader)
    except (AttributeError, NotImplementedError, TypeError):
        return None  # a stream
