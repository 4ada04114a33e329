"""Listener: masks of padding that batches hold and that the model, which could take them, is never given.

A batch is a table of tensors by name. Its mask belongs to a call when the tokens beside it enter the model. When the
run is over, the last such call is made again with the mask: see mask_effects.
"""

import inspect
import time
from collections import deque

from . import mask_effects, registered
from .arrays import exchanged
from .calls import autocast_states, named_tensors
from .ends import is_mask
from .phases import inner
from .rows import is_batch
from .tensors import is_mapping

MOST_BATCHES = 8  # that were read ahead of their calls
LAST_STEP = 60  # whose batches are read
MOST_READ = 12  # calls whose tokens are compared
MOST_VALUES = 4_000_000
SECONDS = 4.0


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.recent = deque(maxlen=MOST_BATCHES)  # name -> Mask
        self.parameters = {}  # number of the root -> its parameters by name, with their places
        self.found = {}  # (number of the root, name) -> LeftOut

    def batch(self, loader, batch):
        if self.bus.steps >= LAST_STEP:
            self.recent.clear()
            return
        held = dict(masks_in(batch))
        if held:
            self.recent.append(held)

    def forward_before(self, module, args, kwargs):
        if self.recent and self.bus.steps <= LAST_STEP:
            module = inner(module)
            root = self.bus.number("root", module)
            if root not in self.parameters:
                self.parameters[root] = places_of(module)
            for name in {name for held in self.recent for name in held if name in self.parameters[root]}:
                self._call(
                    self.found.setdefault((root, name), LeftOut(module, name, self.parameters[root][name])),
                    args,
                    kwargs,
                )

    def _call(self, one, args, kwargs):
        is_training = self.torch.is_grad_enabled() and next(registered.parameters(one.module), None) is not None
        if one.is_given(args, kwargs):
            one.given[is_training] += 1
            one.last = None if is_training else one.last
        elif is_training and not one.given[True] and one.read < MOST_READ:
            mask = self._mask_of(one.name, args, kwargs)
            if mask is not None:
                one.add(mask, args, kwargs, self.bus.sites.here(), autocast_states(self.torch))

    def _mask_of(self, name, args, kwargs):
        """That of the batch whose tokens are given here; None where lengths or another mask tell the model as much."""
        given = [t.detach() for _, t in named_tensors((args, kwargs), "")]
        for mask in (held[name] for held in self.recent if name in held):
            if any(are_same(self.torch, t, mask.tokens) for t in given):
                return None if any(tells(t, mask.real) for t in given) else mask
        return None

    def close(self, reason):
        until = time.monotonic() + SECONDS
        for one in self.found.values():
            if one.read and not one.given[True]:
                try:
                    facts = mask_effects.measured(self.torch, self.bus.sites, one, until)
                except Exception:  # a model that cannot be called again this way
                    facts = {"effect": None}
                self.events("mask_left_out", n=self.bus.steps, **one.facts(), **facts)


class Mask:
    """`real` are the places where no padding stands."""

    def __init__(self, tensor, tokens, real):
        self.tensor, self.tokens, self.real = tensor, tokens, real


class LeftOut:
    """Calls of one module that could be given the mask of this name: with and without gradients, and those that are not."""

    def __init__(self, module, name, place):
        self.module, self.name, self.place = module, name, place
        self.given, self.read, self.padded, self.places = {True: 0, False: 0}, 0, 0, 0
        self.last = self.site = None

    def is_given(self, args, kwargs):
        if self.name in kwargs:
            return kwargs[self.name] is not None
        return len(args) > self.place and args[self.place] is not None

    def add(self, mask, args, kwargs, site, autocast):
        self.read += 1
        self.padded += int((~mask.real).sum())
        self.places += mask.real.numel()
        self.last, self.site = (mask, *without_graph((args, kwargs)), autocast), self.site or site

    def facts(self):
        user, library = self.site
        return {
            "cls": type(self.module).__name__, "name": self.name, "site": user, "lib": library, "read": self.read, "padded": self.padded,
            "places": self.places, "evaluated_with": self.given[False],
        }  # fmt: skip


def without_graph(given):
    return exchanged(given, lambda one: one.detach() if hasattr(one, "grad_fn") else one)


def masks_in(batch):
    """(name, Mask) for each mask of a table of tensors, with the first of the tokens beside it."""
    if not is_mapping(batch):
        return
    tables = {str(name): t for name, t in batch.items() if is_table(t)}
    for name, tensor in tables.items():
        if "mask" in name and is_mask(tensor):
            marks = tensor.bool()
            for other, tokens in tables.items():
                real = real_places(tokens, marks) if "label" not in other else None
                if real is not None:
                    yield name, Mask(tensor, tokens, real)
                    break


def is_table(value):
    return hasattr(value, "grad_fn") and value.dim() == 2 and is_batch(value) and value.numel() <= MOST_VALUES


def real_places(tokens, marks):
    """Where the mask says that something stands: at its other places all tokens are alike. None where it says nothing of them."""
    is_whole = not tokens.is_floating_point() and str(tokens.dtype) != "torch.bool"
    if not is_whole or tokens.shape != marks.shape or bool(marks.all()) or not bool(marks.any()):
        return None
    sides = [side for side in (marks, ~marks) if is_one_value(tokens[~side]) and not is_one_value(tokens[side])]
    return sides[0] if len(sides) == 1 else None


def is_one_value(values):
    return bool((values == values[0]).all())


def are_same(torch, one, other):
    return one.shape == other.shape and one.dtype == other.dtype and bool(torch.equal(one, other.to(one.device)))


def tells(given, real):
    """Another mask, lengths, or what was made of a mask: scores for all pairs of places."""
    if given.dim() >= 3:
        return given.shape[-1] == real.shape[1]
    given = given.cpu()
    if given.dim() == 1:
        return given.shape[0] == real.shape[0] and bool((given == real.sum(1)).all())
    return given.shape == real.shape and is_mask(given) and len((given.bool() == real).unique()) == 1


def places_of(module):
    """Name of each parameter of its forward -> its place."""
    try:
        return {name: place for place, name in enumerate(inspect.signature(module.forward).parameters)}
    except (TypeError, ValueError):
        return {}
