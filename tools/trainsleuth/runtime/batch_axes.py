"""Listener: along which axis of what enters a module the examples of a batch stand, in calls that a backward follows and in others.

Known where all tensors of a loader's batch are equally long, and one axis of what enters is as long as they are, and no
other; compared where all other axes are the same. One event "batch_axes" for each argument for which both are known.
"""

from collections import Counter

from .calls import named_tensors
from .phases import inner
from .tensors import is_dense, tensors_in

MOST_WAYS = 30


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.length = None  # of the batch that a loader gave last
        self.met = set()
        self.axes = {}  # (root, argument, lengths of all other axes) -> {is it training: Counter of axes}
        self.sites = {}  # (key, is it training) -> (class, place of its first call, shape)
        self.waiting = {}  # key -> (axis, site) of the last call, until a backward comes, or another call

    def batch(self, loader, batch):
        lengths = {len(tensor) for tensor in tensors_in(batch) if tensor.dim() and is_dense(tensor)}
        self.length = lengths.pop() if len(lengths) == 1 else None
        self.met = set()  # keys of calls since then: only the first is surely of this batch

    def forward_before(self, module, args, kwargs):
        if self.length is None:
            return
        module = inner(module)
        root = self.bus.number("root", module)
        for name, tensor in (*named_tensors(args, ""), *named_tensors(kwargs, "")):
            axes = [axis for axis, size in enumerate(tensor.shape) if size == self.length]
            if tensor.dim() < 2 or len(axes) != 1:
                continue
            key = (root, name, (*tensor.shape[: axes[0]], *tensor.shape[axes[0] + 1 :]))
            if key in self.met or (key not in self.axes and len(self.axes) >= MOST_WAYS):
                continue
            self.met.add(key)
            self._count(key, False)  # no backward came since
            self.waiting[key] = axes[0], (type(module).__name__, self.bus.sites.here(), list(tensor.shape))
            if not self.torch.is_grad_enabled():
                self._count(key, False)

    def backward_before(self, tensors, gradients):
        for key in list(self.waiting):
            self._count(key, True)

    def _count(self, key, is_training):
        if key in self.waiting:
            axis, site = self.waiting.pop(key)
            self.axes.setdefault(key, {True: Counter(), False: Counter()})[is_training][axis] += 1
            self.sites.setdefault((key, is_training), site)

    def close(self, reason):
        for key, counts in self.axes.items():
            if counts[True] and counts[False]:
                (cls, (user, library), trained), (_, (at, _), tried) = (self.sites[key, role] for role in (True, False))
                self.events(
                    "batch_axes", root=key[0], name=key[1], cls=cls, site=at or user, lib=library, trained_at=user, shapes=[trained, tried],
                    train=[list(one) for one in counts[True].items()], eval=[list(one) for one in counts[False].items()],
                )  # fmt: skip
