"""Listener: stands watch over a whole run at next to no cost, and writes a bundle at the first breach.

What it hears is a backward, a step of an optimizer, a batch: modules and losses of the program stay as they are, so
that compilers see nothing of it. Losses on the CPU are read before their backward; those on other devices, and
gradients, as often as SHARE of the time allows, for each look waits for the device.
"""

import math
import os
import sys
import time
from collections import deque

from . import bundle, gradients, randomness
from .breaches import Rules
from .tensors import scalar

SHARE = 0.01  # of the time, for looks of one kind
MOST_BETWEEN = 256  # steps between two looks
KEPT_BATCHES = 2
HISTORY = 256  # losses
TELL = 10.0  # seconds between two lines of the log
BUNDLED = ("nonfinite", "divergence", "constant loss", "no gradient")


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.exact = bus.experiment.get("exact", False)
        self.rules, self.optimizers = Rules(), []
        self.batches, self.history = deque(maxlen=KEPT_BATCHES), deque(maxlen=HISTORY)
        self.losses, self.waiting = [], deque(maxlen=MOST_BETWEEN)  # of this step; (step, losses) not read yet
        self.unscaled, self.has_scaler = {}, False
        self.site = None
        self.random = randomness.save(self.torch, everything=False)
        self.reads, self.norms = Pace(), Pace()
        self.norm = None
        self.ended = self.told_at = time.monotonic()
        self.found, self.bundles = [], []

    # -- moments ---------------------------------------------------------------------------

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def batch(self, loader, batch):
        self.batches.append((self.bus.number("loader", loader), batch))

    def scaler(self, operation, scaler, given, result):
        if operation == "scale":
            self.has_scaler = True
            self.unscaled[id(result)] = (result, given)

    def backward_before(self, tensors, given):
        losses = [self.unscaled.get(id(tensor), (None, tensor))[1].detach() for tensor in tensors]
        self.unscaled.clear()
        self.losses += losses
        if self.exact or all(loss.device.type == "cpu" for loss in losses):
            self.site = self.bus.sites.here()[0] if self.site is None else self.site
            self._judge_loss(value_of(losses))
        else:
            self.waiting.append((self.bus.steps, losses))

    def step_before(self, optimizer):
        self._told(self.rules.rate([group.get("lr") for group in optimizer.param_groups]))
        if self.norms.is_due():
            with self.norms:
                norm = gradients.total(self.torch, gradients.of(optimizer))
                self.norm = None if norm is None else float(norm)
            if self.norm is not None:
                self._told(self.rules.gradient(self.norm, self.has_scaler))

    def boundary(self, step):
        now = time.monotonic()
        seconds, self.ended = now - self.ended, now
        for pace in (self.reads, self.norms):
            pace.step(seconds)
        self._told(self.rules.seconds(seconds))
        if self.waiting and self.reads.is_due():
            with self.reads:
                read = [(n, value_of(losses)) for n, losses in self.waiting]
            self.waiting.clear()
            for _, value in read:
                self._judge_loss(value)
        self.losses = []
        self.random = randomness.save(self.torch, everything=False)
        if now - self.told_at > TELL:
            self.told_at = now
            self.events(
                "watching", n=step, loss=self.history[-1] if self.history else None, norm=self.norm, seconds=seconds
            )

    def close(self, reason):
        self.events("watch_ended", steps=self.bus.steps, breaches=len(self.found), reason=reason)
        if rank() in (None, "0") and not self.found and self.bus.steps:
            say("%d steps, no breach" % self.bus.steps)

    # -- judging ---------------------------------------------------------------------------

    def _judge_loss(self, value):
        if value is not None:
            self.history.append(value)
            self._told(self.rules.loss(value, is_single=len(self.optimizers) < 2))

    def _told(self, breach):
        if breach is None:
            return
        self.found.append(breach)
        user = self.bus.sites.here()[0] or self.site
        told = dict(breach, n=self.bus.steps, site=user, rank=rank())
        place = " at %s" % user if user else ""
        who = "" if rank() is None else " (rank %s)" % rank()
        say("step %d%s: %s%s" % (self.bus.steps, who, breach["message"], place))
        if breach["breach"] in BUNDLED and not self.bundles:
            folder, why = bundle.write(self, told)
            self.bundles.append(folder)
            told["bundle"] = folder
            say(
                "the step is kept in %s; try it anywhere: trainsleuth replay %s -- COMMAND" % (folder, folder)
                if folder
                else why
            )
        self.events("breach", **told)
        if self.bus.experiment.get("stop") and breach["breach"] in BUNDLED:
            say("stopped, as --stop asks")
            self.bus.stop(1)


class Pace:
    """When to look again, so that looking takes no more than SHARE of the time."""

    def __init__(self):
        self.between, self.since = 1, 0
        self.cost, self.usual = 0.0, None

    def is_due(self):
        return self.since >= self.between

    def step(self, seconds):
        self.since += 1
        self.usual = seconds if self.usual is None else 0.9 * self.usual + 0.1 * seconds

    def __enter__(self):
        self.began = time.perf_counter()

    def __exit__(self, *problem):
        cost = time.perf_counter() - self.began
        self.cost = cost if not self.cost else 0.5 * (self.cost + cost)
        if self.usual:
            self.between = min(MOST_BETWEEN, max(1, math.ceil(self.cost / (SHARE * self.usual))))
        self.since = 0


def value_of(losses):
    """Their sum; None where none is a number."""
    values = [value for value in map(scalar, losses) if value is not None]
    return sum(values) if values else None


def rank():
    return os.environ.get("RANK") or os.environ.get("LOCAL_RANK")


def say(words):
    bars = getattr(getattr(sys.modules.get("tqdm"), "tqdm", None), "_instances", ())
    begin = "\n" if bars else ""  # one stands on the line
    try:
        sys.stderr.write("%strainsleuth watch: %s\n" % (begin, words))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # closed, or none at all
        return
