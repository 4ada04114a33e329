"""Listener: does what enters a model hold the target of its loss, at the same place in every row?

Each call of a loss that follows a call of a model is compared with what entered it, until nothing agrees any more: in a
healthy program that is the first batch. What agreed to the end is exchanged among the rows of the last batch, when
the run is over, to see whether the model uses it.
"""

import time
from contextlib import suppress

from . import registered
from .calls import Call, autocast_states
from .columns import MOST_VALUES, Agreement
from .freeze import copied, storage
from .phases import inner
from .replay import alone
from .rows import is_batch
from .tensors import hear_gradient
from .trials import Again, distance

MOST_LOSSES = 20
MOST_READ = 30  # calls of one loss
WIDER = 4  # times the target; what is less wide is looked at only where it can be steps of a series
TELL_AT = frozenset({10, 30, 100})
SECONDS = 4.0


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.call, self.calls, self.is_inside = None, 0, False
        self.agreeing = []  # since the last backward
        self.places = {}  # of losses -> name of what enters -> Agreement

    # -- the model -------------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        module = inner(module)
        if not self.torch.is_grad_enabled() or next(registered.parameters(module), None) is None:
            return
        self.is_inside = True
        self.calls += 1
        self.call = (module, args, kwargs)

    def forward_after(self, module, args, kwargs, output):
        self.is_inside = False

    def forward_broken(self, module):
        self.is_inside = False

    def backward_after(self, tensors):
        for one in self.agreeing:
            one.followed(self.calls)
        self.agreeing, self.calls = [], 0

    # -- the loss --------------------------------------------------------------------------

    def loss_after(self, name, arguments, output):
        """Inside a model the targets are among its arguments, by design."""
        target = list(arguments.values())[1]
        if self.call is None or self.is_inside or not getattr(output, "requires_grad", False):
            return
        if not hasattr(target, "dtype") or target.requires_grad or not is_batch(target):
            return
        place = (name, *self.bus.sites.here())
        if place not in self.places and len(self.places) < MOST_LOSSES:
            self.places[place] = {key: Agreement(self.torch, x, target, self.call[0]) for key, x in self._wide(target)}
        agreeing = [one for one in self.places.get(place, {}).items() if one[1].goes_on(MOST_READ)]
        if agreeing:
            given = dict(self._wide(target))
            for key, one in agreeing:
                x = given.get(key)
                one.is_part &= x is not None and storage(x) == storage(target)
                one.add(x, target)
                if not one.is_over:
                    one.call, one.autocast = self.call, autocast_states(self.torch)
                    self.agreeing.append(one)
                    with suppress(RuntimeError):  # inside of torch.func
                        hear_gradient(output, one.arrives)

    def _wide(self, target):
        """(name, tensor) of what entered, with as many rows as the target and more columns or like steps."""
        call = Call(self.torch, "input", self.call[0], *self.call[1:], (None, None))
        for name, x in call.tensors():
            if not is_batch(x) or x.grad_fn is not None or x.dtype == self.torch.bool or x.numel() > MOST_VALUES:
                continue
            is_series = x.dim() in (2, 3) and x.shape[2:] == target.shape[2:]
            if len(x) == len(target) and (x.numel() >= WIDER * target.numel() or is_series):
                yield name, x.detach()

    # -- telling ---------------------------------------------------------------------------

    def boundary(self, step):
        if step in TELL_AT:
            self._tell(None)

    def close(self, reason):
        self._tell(time.monotonic() + SECONDS)

    def _tell(self, until):
        for (fn, user, library), agreements in self.places.items():
            for name, one in agreements.items():
                if one.read and (one.told or not one.is_over):
                    one.told = True
                    is_asked = until is not None and not one.is_over and one.width >= WIDER
                    effect = self._effect(name, one, until) if is_asked else None
                    self.events(
                        "target_in_input",
                        fn=fn,
                        site=user,
                        lib=library,
                        name=name,
                        n=self.bus.steps,
                        effect=effect,
                        **one.facts(),
                    )

    def _effect(self, name, one, until):
        """How far the outputs move when only what agrees is exchanged among the rows; None when that cannot be tried."""
        module, args, kwargs = one.call
        try:
            args, kwargs = copied((args, kwargs))
            model = alone(module)
            model.eval()
            call = Call(self.torch, "input", model, args, kwargs, (None, None))
            main = dict(call.tensors())[name]
            again = Again(self.torch, self.bus.sites, model, args, kwargs, main, one.autocast, until)
            plain = again.outputs()
            moved = again.outputs(lambda tensor: one.exchanged(tensor) if tensor is main else tensor)
        except Exception:  # a model that cannot be called again this way
            return None
        return distance(plain, moved)
