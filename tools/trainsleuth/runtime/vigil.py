"""Listener: stands watch over a whole run at next to no cost, and writes a bundle at the first breach.

What it hears is a backward, a step of an optimizer, a batch: modules and losses of the program stay as they are, so
that compilers see nothing of it. Losses on the CPU are read before their backward; those on other devices, and
gradients, as often as SHARE of the time allows, for each look waits for the device.
"""

import math
import sys
import time
import weakref
from collections import deque

from . import bundle, gradients, rank
from .breaches import Rules
from .tensors import scalar, tensors_in

SHARE = 0.01  # of the time, for looks of one kind
MOST_BETWEEN = 256  # steps between two looks
KEPT_BATCHES = 8  # a loader may be read ahead
MOST_BYTES = 256 * 2**20  # of them, beside the newest two
HISTORY = 256  # losses
TELL = 10.0  # seconds between two lines of the log
STOPS = ("nonfinite", "no gradient")
BUNDLED = (*STOPS, "divergence")


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.exact = bus.experiment.get("exact", False)
        self.rules, self.born = Rules(), []  # weak references: a program may be done with an optimizer
        self.sized, self.bytes = deque(), 0  # the last batches with their sizes
        self.history = deque(maxlen=HISTORY)
        self.waiting = deque(maxlen=MOST_BETWEEN)  # (step, losses) that were not read yet
        self.unscaled, self.has_scaler = {}, False
        self.site = None
        self.random = self.torch.get_rng_state()
        self.reads, self.norms = Pace(), Pace()
        self.norm, self.looks = None, True  # are gradients looked at in this step?
        self.ended = self.told_at = time.monotonic()
        self.found, self.bundles = [], []

    # -- moments ---------------------------------------------------------------------------

    def optimizer_born(self, optimizer):
        self.born.append(weakref.ref(optimizer))

    @property
    def optimizers(self):
        return [optimizer for optimizer in (known() for known in self.born) if optimizer is not None]

    def batch(self, loader, batch):
        if len(self.sized) == KEPT_BATCHES:
            self.bytes -= self.sized.popleft()[1]
        self.sized.append((batch, size_of(batch)))
        self.bytes += self.sized[-1][1]
        while len(self.sized) > 2 and self.bytes > MOST_BYTES:
            self.bytes -= self.sized.popleft()[1]

    @property
    def batches(self):
        return [batch for batch, _ in self.sized]

    def scaler(self, operation, scaler, given, result):
        if operation == "scale" and hasattr(given, "detach"):
            self.has_scaler = True
            self.unscaled[id(result)] = (result, given.detach())

    def backward_before(self, tensors, given):
        losses = [self.unscaled.get(id(tensor), (None, tensor))[1] for tensor in tensors]
        losses = [loss.detach() for loss in losses if hasattr(loss, "numel") and loss.numel() == 1]
        self.unscaled.clear()
        if self.exact or all(loss.device.type == "cpu" for loss in losses):
            self.site = self.bus.sites.here()[0] if self.site is None else self.site
            self._judge_loss(value_of(losses), self.bus.steps)
        else:
            self.waiting.append((self.bus.steps, losses))

    def step_before(self, optimizer):
        self._told(self.rules.rate([group.get("lr") for group in optimizer.param_groups]))
        if not self.looks:
            return
        with self.norms:
            held = gradients.of(optimizer)
            norm = gradients.total(self.torch, held)
            self.norm = None if norm is None else float(norm)
            is_finite = self.norm is None or math.isfinite(self.norm) or gradients.are_finite(self.torch, held)
        if self.norm is not None and (is_finite is math.isfinite(self.norm) or self.has_scaler):
            self._told(self.rules.gradient(self.norm, self.has_scaler))

    def boundary(self, step):
        now = time.monotonic()
        seconds, self.ended = now - self.ended, now
        if self.waiting and self.reads.is_due():
            with self.reads:
                read = [(n, value_of(losses)) for n, losses in self.waiting]
            self.waiting.clear()
            for n, value in read:
                self._judge_loss(value, n)
        for pace in (self.reads, self.norms):
            pace.step(seconds)
        self.looks = self.norms.is_due()
        self._told(self.rules.seconds(seconds))
        self.unscaled.clear()
        self.random = self.torch.get_rng_state()
        if now - self.told_at > TELL:
            self.told_at = now
            self.events(
                "watching", n=step, loss=self.history[-1] if self.history else None, norm=self.norm, seconds=seconds
            )

    def close(self, reason):
        self.events("watch_ended", steps=self.bus.steps, breaches=len(self.found), reason=reason)
        if not rank() and not self.found and self.bus.steps:  # launchers and workers import torch as well
            say("%d steps, no breach" % self.bus.steps)

    # -- judging ---------------------------------------------------------------------------

    def _judge_loss(self, value, step):
        if value is not None:
            self.history.append(value)
            is_single = len(self.born) < 2 and bool(self.sized)  # where it plays, a loss may well rise
            self._told(self.rules.loss(value, is_single), step)

    def _told(self, breach, step=None):
        """`step`: where it was, if that is not this one."""
        if breach is None:
            return
        self.found.append(breach)
        user = self.bus.sites.here()[0] or self.site
        step = self.bus.steps if step is None else step
        told = dict(breach, n=step, read_at=self.bus.steps, site=user, rank=rank())
        place = " at %s" % user if user else ""
        who = "" if rank() is None else " (rank %s)" % rank()
        late = "" if step == self.bus.steps else ", read at step %d" % self.bus.steps
        say("step %d%s: %s%s%s" % (step, who, breach["message"], place, late))
        if breach["breach"] in BUNDLED and not self.bundles:
            folder, why = bundle.write(self, told)
            self.bundles.append(folder)
            told["bundle"] = folder
            where = "the step is kept in %s; try it anywhere: trainsleuth replay %s -- COMMAND"
            say(where % (folder, folder) if folder else why)
        self.events("breach", **told)
        if self.bus.experiment.get("stop") and breach["breach"] in STOPS:
            say("stopped, as --stop asks")
            self.bus.stop(1)


class Pace:
    """When to look again, so that looking takes no more than SHARE of the time. A step may take several looks."""

    def __init__(self):
        self.between, self.since = 1, 0
        self.cost, self.spent, self.usual = 0.0, 0.0, None

    def is_due(self):
        return self.since >= self.between

    def __enter__(self):
        self.began = time.perf_counter()

    def __exit__(self, *problem):
        self.spent += time.perf_counter() - self.began

    def step(self, seconds):
        """One step is over, and took so long."""
        self.usual = seconds if self.usual is None else 0.9 * self.usual + 0.1 * seconds
        self.since += 1
        if self.spent:
            self.cost = self.spent if not self.cost else 0.5 * (self.cost + self.spent)
            self.between = min(MOST_BETWEEN, max(1, math.ceil(self.cost / (SHARE * max(self.usual, 1e-9)))))
            self.since, self.spent = 0, 0.0


def value_of(losses):
    """Their sum; None where none is a number."""
    values = [value for value in map(scalar, losses) if value is not None]
    return sum(values) if values else None


def size_of(batch):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(batch))


def say(words):
    bars = getattr(getattr(sys.modules.get("tqdm"), "tqdm", None), "_instances", ())
    begin = "\n" if bars else ""  # one stands on the line
    try:
        sys.stderr.write("%strainsleuth watch: %s\n" % (begin, words))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # closed, or none at all
        return
