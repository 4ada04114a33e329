"""Listener: trains for a while, then holds the parameters still and gives every other step mixed-up inputs.

Batches that were kept back from the training are compared, and batches that were not (held_back.py): new ones in the first half of the comparison, known ones in the second,
for a program may fetch a batch one step ahead.
Mixed up: the rows of what enters each outermost module are moved against everything else, targets included.
What the labels are called among the arguments stays in place.
"""

import re

from .backwards import LossValue
from .freeze import copied
from .gradients import Hidden
from .held_back import HeldBack
from .rows import is_batch
from .trials import replaced

FIT = 0.7  # of the steps: before this the program trains as it is
LABELS = re.compile(r"label|target|truth|^y$|^gt", re.IGNORECASE)


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.steps = bus.experiment.get("steps") or 200
        self.fit_until = int(FIT * self.steps)
        self.losses, self.mixed, self.met = [], 0, {}
        self.whole, self.together = False, 0
        self.held_back = HeldBack()
        self.hidden, self.value = Hidden(), LossValue()
        self.seconds = bus.experiment.get("seconds")
        self.first = None

    @property
    def _holds(self):
        return self.bus.steps >= self.fit_until

    @property
    def _mixes(self):
        return self._holds and (self.bus.steps - self.fit_until) % 2 == 1

    def batch(self, loader, batch):
        if not self.torch.is_grad_enabled():  # an evaluation
            return None
        if not self._holds:
            return self.held_back.fit(loader, batch)
        after = self.bus.steps - self.fit_until
        kind, place = "new" if after < (self.steps - self.fit_until) // 2 else "known", after // 2
        kept = self.held_back.kept(loader, kind)
        if not kept:
            return None
        self.met = {"pairs": kind, "batches": len(kept)}
        return copied(kept[place % len(kept)])

    def forward_before(self, module, args, kwargs):
        if not (self._mixes and module.training and self.torch.is_grad_enabled()):
            return None
        names = {id(value) for key, value in kwargs.items() if LABELS.search(key)}
        names.update(id(value) for value, name in zip(args, _names(module)) if LABELS.search(name))

        self.whole = True  # all that enters is moved

        def mix(tensor):
            if id(tensor) in names or not is_batch(tensor):
                self.whole = self.whole and id(tensor) not in names
                return tensor
            self.mixed += 1
            return tensor.roll(1, 0)

        return replaced(args, mix), replaced(kwargs, mix)

    def forward_after(self, module, args, kwargs, output):
        """A network that gives back the loss of what was moved as a whole: nothing stayed in place to be paired with."""
        if self._mixes and self.whole and getattr(output, "ndim", None) == 0:
            self.together += 1

    def scaler(self, operation, scaler, given, result):
        self.value.scaler(operation, given, result)

    def backward_before(self, tensors, gradients):
        self.losses.append(self.value.of(tensors))

    def step_before(self, optimizer):
        if self._holds:  # without gradients a step changes nothing
            self.hidden.hide(optimizer)

    def step_after(self, optimizer):
        self.hidden.give_back()

    def boundary(self, step):
        after = step - 1 - self.fit_until
        phase = "fit" if after < 0 else "mixed" if after % 2 else "real"
        self.events("paired", n=step, phase=phase, losses=self.losses[-16:], changed=self.mixed, together=self.together,
                    **self.met)  # fmt: skip
        self.whole, self.together = False, 0
        self.losses, self.mixed, self.met = [], 0, {}


def _names(module):
    code = getattr(getattr(type(module), "forward", None), "__code__", None)
    return () if code is None else code.co_varnames[1 : code.co_argcount]
