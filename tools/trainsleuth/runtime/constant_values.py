"""Listener: results that are one and the same number in all places, though what they are computed from differs.

At a few steps every difference, product, exponential or the like is looked at. One event "constant" for each line at which
all of them gave the same number in all places at every look, with how many looks there were.
"""

from .hearing import Hearing
from .tensors import is_dense, is_unreadable, tensors_in

LOOK_FROM = (3, 8, 15, 25, 40, 60, 90, 130)  # steps; at the first weights may stand at zero
ENOUGH = 4  # looks before the event is told
LEAST = 8  # values that agree
MOST = 4000  # results of one look
MOST_PLACES = 200
OPERATIONS = frozenset([
    "sub", "__sub__", "rsub", "__rsub__", "mul", "__mul__", "__rmul__", "div", "true_divide", "__truediv__", "exp", "log", "pow", "__pow__",
    "__rtruediv__", "square", "abs", "clamp", "clamp_min", "clamp_max", "clip", "maximum", "minimum", "where",
])  # fmt: skip


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.hearing = Hearing(bus.torch, self, self.seen)
        self.places = {}  # (name, line) -> its value, or None where it was not one alone; number of the last look; looks
        self.looks = self.left = 0

    def boundary(self, step):
        self.hearing.stop()
        if self.looks < len(LOOK_FROM) and step >= LOOK_FROM[self.looks]:
            self.hearing.start()
            if self.hearing.is_on:
                self.looks, self.left = self.looks + 1, MOST

    def seen(self, function, given, result):
        name = getattr(function, "__name__", "")
        if name not in OPERATIONS or not self.left or not self._can_be_read(result):
            return
        self.left -= 1
        value = the_one_value(result)
        if value is not None and (is_times_nothing(name, given[0]) or not _differs(given)):
            return  # it tells nothing, neither way
        if value is None and not any(known[0] is not None and key[0] == name for key, known in self.places.items()):
            return
        user, library = self.bus.sites.here()
        if user is None or library is not None:
            return
        self._note((name, user), value, result)

    def _note(self, key, value, result):
        if key not in self.places and (value is None or len(self.places) >= MOST_PLACES):
            return
        known = self.places.setdefault(key, [value, 0, 0, list(result.shape)])
        if known[0] != value:
            known[0] = None
        elif known[1] != self.looks:
            known[1], known[2] = self.looks, known[2] + 1

    def _can_be_read(self, tensor):
        if not hasattr(tensor, "grad_fn") or not tensor.dtype.is_floating_point or tensor.numel() < LEAST:
            return False
        if not is_dense(tensor) or is_unreadable(tensor) or hasattr(tensor, "_local_tensor"):
            return False
        return not (tensor.is_cuda and self.torch.cuda.is_current_stream_capturing())

    def close(self, reason):
        self.hearing.stop()
        for (name, site), (value, _, looks, shape) in self.places.items():
            if value is not None and looks >= ENOUGH:
                self.events("constant", op=name, site=site, value=value, looks=looks, shape=shape)


def is_times_nothing(name, operands):
    """A weight that is a number of the program and 0 for the time being."""
    return name.strip("_").endswith("mul") and any(type(one) in (int, float) and one == 0 for one in operands)


def _differs(given):
    """Does any operand hold several values?"""
    several = (t for t in tensors_in(given) if t.numel() >= LEAST and is_dense(t) and not is_unreadable(t))
    return any(the_one_value(t) is None for t in several)


def the_one_value(tensor):
    """What all its places hold; None where they differ."""
    values = tensor.detach().reshape(-1)
    first = values[0]
    if bool(values[-1] != first) or not bool((values == first).all()):
        return None
    return float(first) + 0.0  # minus zero is zero
