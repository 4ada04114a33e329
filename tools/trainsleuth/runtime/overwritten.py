"""Listener: losses of one line that follow each other within a step: do all of them reach the backward, or only the last?

Where a step had several calls with gradients before its backward, a few steps after it are looked at: each number that a
reduction outside of modules makes is held against the next ones of its line. One event "loss_overwritten" for a line whose
last number alone enters the loss each time, while the earlier ones were read by nobody and gone before the next but one.
"""

import linecache
import os
import weakref

from . import graph
from .hearing import Hearing
from .tensors import tensors_in

SEVERAL = 3
LOOKS = 8  # backwards
MOST = 400  # numbers of a step
FRAMES = 3  # of the user that tell one place from another
READS = frozenset({
    "item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__format__", "__repr__",
})  # fmt: skip


class Number:
    """What a reduction made, with all numbers that were computed from it alone."""

    def __init__(self, node):
        self.node, self.order, self.tensors, self.used = node, graph.order_of(node), [], False

    @property
    def is_alive(self):
        return any(ref() is not None for ref in self.tensors)


class Line:
    def __init__(self):
        self.numbers, self.kept = [], False

    def add(self, number):
        self.kept = self.kept or any(one.is_alive for one in self.numbers[:-1])
        for one in self.numbers[-1:]:
            one.node = None  # it holds all that was kept for its backward
        self.numbers.append(number)


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.calls = self.looks = 0
        self.hearing, self.several = Hearing(bus.torch, self, self.seen), False
        self.told = {}  # place -> [looks, those with the last alone, numbers, calls of the user]
        self._forget()

    def _forget(self):
        self.lines, self.owners = {}, {}

    # -- when to look ----------------------------------------------------------------------

    def forward_after(self, module, args, kwargs, output):
        self.calls += self.torch.is_grad_enabled()

    def loss_after(self, name, arguments, output):
        self.calls += bool(getattr(output, "requires_grad", False))

    def boundary(self, step):
        self._forget()
        self.calls = 0
        if self.looks >= LOOKS or not self.several:
            self.hearing.stop()
        else:
            self.hearing.start()

    def autograd_grad(self):
        self._forget()

    def backward_before(self, tensors, gradients):
        self.several = self.calls >= SEVERAL
        if self.hearing.is_on:
            self.hearing.pause()
            self._judge(tensors)
        self._forget()

    def backward_after(self, tensors):
        self.calls = 0
        if self.looks < LOOKS:
            self.hearing.resume()

    # -- what happens ----------------------------------------------------------------------

    def seen(self, function, given, result):
        """Any function of torch that the program calls, when it is through."""
        given = list(tensors_in(given))
        owners = [self.owners[id(t)][1] for t in given if self._is_known(t)]
        if self.bus.depth or not self.torch.is_grad_enabled():
            for owner in owners:
                owner.used = True
        elif is_number(result):
            if owners or any(t.numel() > 1 and t.grad_fn is not None for t in given):
                self._keep(result, owners)
        elif owners and (getattr(function, "__name__", "") in READS or list(tensors_in(result))):
            for owner in owners:
                owner.used = True

    def _is_known(self, tensor):
        known = self.owners.get(id(tensor))
        return known is not None and known[0]() is tensor

    def _keep(self, tensor, owners):
        if not owners:
            place = tuple(site for site, _ in self.bus.sites.callers(FRAMES))
            if not place or len(self.owners) >= MOST:
                return
            owners = [Number(tensor.grad_fn)]
            self.lines.setdefault(place, Line()).add(owners[0])
        elif len(set(map(id, owners))) > 1:
            for owner in owners:
                owner.used = True  # a sum of several
        ref = weakref.ref(tensor)
        self.owners[id(tensor)] = (ref, owners[-1])
        owners[-1].tensors.append(ref)

    def _judge(self, tensors):
        self.looks += 1
        lines = {place: line for place, line in self.lines.items() if len(line.numbers) > 1}
        terms = set(terms_of(tensors))
        behind = None
        for place, line in lines.items():
            *earlier, last = line.numbers
            if last.node not in terms:
                continue
            behind = behind or set(map(graph.order_of, graph.nodes_from(tensors)))
            is_alone = not line.kept and not any(
                one.used or one.order is None or one.order in behind for one in earlier
            )
            told = self.told.setdefault(place, {"looks": 0, "alone": 0, "least": len(line.numbers)})
            told["looks"] += 1
            told["alone"] += is_alone and len(behind) <= graph.MOST_NODES
            told["least"] = min(told["least"], len(line.numbers))

    def close(self, reason):
        self.hearing.stop()
        for place, told in self.told.items():
            if told["alone"]:
                within, site = self._made_and_kept(place)
                self.events("loss_overwritten", site=site, within=within, steps=self.looks, **told)

    def _made_and_kept(self, place):
        """(the line that computes it where another gets it back, else None; the line that gets it)"""
        for number, site in enumerate(place):
            path, _, line = site.rpartition(":")
            text = linecache.getline(os.path.join(self.bus.sites.told_from, path), int(line)).strip()
            if not text.startswith("return"):
                return (place[0] if number else None), site
        return None, place[0]


def is_number(result):
    """One value with a graph behind it."""
    return getattr(result, "grad_fn", None) is not None and result.numel() == 1 and result.is_floating_point()


def terms_of(roots):
    """The nodes between what backward starts from and the first that is more than one number, these last ones left out."""
    waiting = [
        tensor.grad_fn for tensor in roots if getattr(tensor, "grad_fn", None) is not None and tensor.numel() == 1
    ]
    seen = set(waiting)
    for node in waiting:  # grows while it is walked
        yield node
        for parent, _ in node.next_functions:
            size = graph.shape_of(parent) if parent is not None else None
            if size is not None and all(n == 1 for n in size) and parent not in seen and len(seen) < graph.MOST_OF_LOSS:
                seen.add(parent)
                waiting.append(parent)
