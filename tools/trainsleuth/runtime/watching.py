"""The cheap part of looking for values that are not finite: what every step pays.

A loss is read when backward starts, gradients by one norm before the optimizer moves. Everything told here
is a dict {"noticed", "value", "site", "lib", "micro"} or None.
"""

from collections import deque

from . import gradients
from .content import counts, is_finite
from .tensors import tensors_in

LOWEST_SCALE = 1.0  # of a gradient scaler; below it even unscaled gradients would overflow


class Watch:
    def __init__(self, bus):
        self.bus, self.torch = bus, bus.torch
        self.unscaled = {}  # id of a scaled loss -> (that loss, the loss itself)
        self.pending = []  # (number of the backward, loss, site) on devices that nobody waits for
        self.loss_values = deque(maxlen=256)  # (name, site, value) of loss functions since the last check
        self.late = None if bus.experiment.get("sync", True) else gradients.LateReader(bus.torch)
        self.scale = None
        self.stepped = False
        self.counted = {"losses": 0, "gradients": 0, "skipped_by_scaler": 0}
        self.unused = {}

    # -- losses ----------------------------------------------------------------------------

    def loss(self, tensors, number):
        """One backward starts here. On the CPU its loss is read now."""
        self.counted["losses"] += 1
        site = self.bus.sites.here()
        values = [self.unscaled.get(id(tensor), (None, tensor))[1] for tensor in tensors]
        self.unscaled.clear()
        self.pending += [(number, value.detach(), site) for value in values if hasattr(value, "detach")]
        if self.late is None and all(value.device.type == "cpu" for _, value, _ in self.pending):
            return self.read()
        return None

    def read(self):
        """Reads the losses that wait; what is wrong with the first that is not finite."""
        if self.late is not None:
            return None  # they are read with the gradients
        waiting, self.pending = self.pending, []
        for number, value, (user, library) in waiting:
            if not is_finite(value):
                kind = "nan" if "nan" in counts(value) else "inf"
                return {"noticed": "loss", "value": kind, "site": user, "lib": library, "micro": number}
        return None

    def loss_function(self, name, site, output):
        """A loss function returned this; whether it goes into a backward will be seen."""
        if hasattr(output, "numel") and output.numel() == 1:
            self.loss_values.append((name, site, output.detach()))

    def sort_out(self):
        """Every backward was finite: loss values that are not went into none."""
        for name, (user, library), value in self.loss_values:
            if self.late is None and not is_finite(value):
                key = (name, user, library)
                self.unused[key] = self.unused.get(key, 0) + 1
        self.loss_values.clear()

    # -- gradients -------------------------------------------------------------------------

    def step(self, optimizer):
        """The optimizer is about to move. Fused ones that a scaler drives skip bad gradients by themselves."""
        self.stepped = True
        if getattr(optimizer, "found_inf", None) is not None:
            return None
        return self.gradients(gradients.of(optimizer))

    def gradients(self, held):
        self.counted["gradients"] += bool(held)
        if self.late is not None:
            waiting, self.pending = self.pending, []
            was_finite = self.late.swap(gradients.total(self.torch, held + [value for _, value, _ in waiting]))
            return None if was_finite else self._bad_gradient("not finite", late=True)
        if gradients.are_finite(self.torch, held):
            return None
        return self._bad_gradient(gradients.worst(held))

    def _bad_gradient(self, value, **more):
        user, library = self.bus.sites.here()
        return dict(more, noticed="gradient", value=value, site=user, lib=library, micro=None)

    # -- gradient scaler -------------------------------------------------------------------

    def scaled(self, given, result):
        for before, after in zip(tensors_in(given), tensors_in(result)):
            self.unscaled[id(after)] = (after, before)

    def updated(self, scale):
        """Infinite gradients at a large scale are the scaler's daily work; only a scale that keeps falling is not."""
        before, self.scale = self.scale, scale
        if not self.stepped:
            self.counted["skipped_by_scaler"] += 1
        self.stepped = False
        if before is not None and scale < before and scale < LOWEST_SCALE:
            return self._bad_gradient("inf", scale=scale)
        return None

    # -- summary ---------------------------------------------------------------------------

    def summary(self):
        unused = [
            {"fn": fn, "site": user, "lib": library, "times": n} for (fn, user, library), n in self.unused.items()
        ]
        return dict(self.counted, scale=self.scale, unused=unused[:10])
