"""What must not happen in a healthy run, told from a few numbers per step. Each kind is told once.

A breach is {"breach", "message", "measured"}. Numbers are those of one process.
"""

import math
from collections import deque

WINDOW = 50  # losses of which a median is taken
RISES = 3.0  # times the first median
ABOVE = 10.0  # times the lowest median
SAME = 200  # steps with a rate of 0
NO_GRADIENT = 20  # looks in a row at gradients that are all 0
TIMES = 200  # steps of which a median time is taken
SLOWER = 2.0
EVERY = 20  # steps between two looks at these times


class Rules:
    def __init__(self):
        self.told = set()
        self.losses, self.first, self.lowest, self.high = deque(maxlen=WINDOW), None, math.inf, 0
        self.still = self.at_zero = 0
        self.times, self.counted, self.usual, self.slow = deque(maxlen=TIMES), 0, None, 0

    def _breach(self, kind, message, **measured):
        if kind in self.told:
            return None
        self.told.add(kind)
        return {"breach": kind, "message": message, "measured": measured}

    def loss(self, value, is_single=True):
        """`is_single`: one optimizer over given data. Adversaries go up and down, and so does what learns from its own play."""
        if not math.isfinite(value):
            return self._breach("nonfinite", "the loss became %s" % value)
        self.losses.append(value)
        return self._rise() if is_single and value > 0 else None

    def _rise(self):
        if len(self.losses) < WINDOW:
            return None
        now = sorted(self.losses)[WINDOW // 2]
        self.first = now if self.first is None else self.first
        self.lowest = min(self.lowest, now)
        is_high = min(self.losses) > 0 and now > RISES * self.first and now > ABOVE * self.lowest
        self.high = self.high + 1 if is_high else 0
        if self.high < WINDOW:
            return None
        said = "the loss rose: its median over %d steps is %.4g, it was %.4g at first and %.4g at its lowest"
        return self._breach("divergence", said % (WINDOW, now, self.first, self.lowest),
                            now=now, first=self.first, lowest=self.lowest)  # fmt: skip

    def gradient(self, norm, is_scaled=False):
        """The norm over all gradients. A gradient scaler skips what is not finite by itself."""
        if not math.isfinite(norm):
            return None if is_scaled else self._breach("nonfinite", "the gradient became %s" % norm)
        self.still = self.still + 1 if norm == 0 else 0
        if self.still >= NO_GRADIENT:
            return self._breach("no gradient", "all gradients were exactly 0 at %d looks in a row" % NO_GRADIENT)
        return None

    def rate(self, rates):
        """Learning rates of all groups of an optimizer at its step; tensors are not read, that would wait for a device."""
        is_zero = bool(rates) and all(isinstance(rate, (int, float)) and rate == 0 for rate in rates)
        self.at_zero = self.at_zero + 1 if is_zero else 0
        if self.at_zero >= SAME:
            return self._breach("no rate", "the learning rate was 0 for %d steps" % SAME)
        return None

    def seconds(self, seconds):
        """Of one step, with all that lies between it and the step before."""
        self.times.append(seconds)
        self.counted += 1
        if len(self.times) < TIMES or self.counted % EVERY:
            return None
        now = sorted(self.times)[TIMES // 2]
        self.usual = now if self.usual is None else self.usual
        self.slow = self.slow + 1 if now > SLOWER * self.usual else 0
        if self.slow < TIMES // EVERY:
            return None
        said = "a step takes %.3g s, where it took %.3g s in the first %d steps" % (now, self.usual, TIMES)
        return self._breach("slower", said, now=now, first=self.usual)
