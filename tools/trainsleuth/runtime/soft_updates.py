"""Listener: copies of what trains that are updated from it: which share of the way to the new weights does an update leave?

After an update by a weighted sum the copy lies on the line between what it was and the trained weights; of a sample of the
values it is told how far from them, for a few dozen updates, and how many updates led to another network that trains and is
built alike. And whether the copy is used: called, saved, or put into the trained module to evaluate it. One event
"soft_updates" for each copy at the end; `source` and `led_to` are numbers of networks in it.
"""

from . import registered
from .copies_alive import find
from .gradients import members
from .phases import inner
from .touching import TouchFinder
from .used import Uses

FIND_AT = (2, 20)  # steps
MOST = 8  # copies
MOST_UPDATES, MOST_LOOKS = 40, 400  # of one
IDLE = 20  # looks without an update
LITTLE = 0.1  # of the way left by each of LATEST updates, from which on their line is looked for
LATEST = 3
LONG = 20  # updates of one that is not used, from which on as well
STRAYED = 3  # updates towards another network, from which on as well
ON_LINE, OFF_LINE = 0.99, 0.9  # cosine of an update with the way to the other network, and to its own
NEAR = 0.2  # of the distance to another network, within which a copy is surely of its own


class Copy:
    """One copy, and what its updates left of the way to the trained weights."""

    def __init__(self, thing, mine, its, others):
        self.thing, self.mine, self.its = thing, mine, its
        self.others = [[other, 0] for other in others if self._is_far(other)]  # and the updates that led there
        self.is_module = registered.is_module(thing)
        self.before, self.site = None, (None, None)
        self.looks = self.updates = self.exact = 0
        self.against = 0  # updates away from the trained weights: by less of it
        self.left = []  # [step, share of the way that is left, cosine between what is left and the way]

    def _is_far(self, other):
        mine = self.mine.values()
        return float((mine - self.its.values()).norm()) < NEAR * float((mine - other.values()).norm())

    @property
    def strayed(self):
        """[another network, how many updates led there], of the one that most did; None where none did."""
        return max((one for one in self.others if one[1]), key=lambda one: one[1], default=None)

    @property
    def is_done(self):
        return self.updates >= MOST_UPDATES or self.looks >= MOST_LOOKS

    @property
    def leaves_little(self):
        """Does it hold next to nothing of what it was, and is it no plain copy?"""
        last = self.left[-LATEST:]
        return len(last) == LATEST and all(0 < share < LITTLE for _, share, _ in last)

    def look(self, step):
        self.looks += 1
        now, before = self.mine.values(), self.before
        self.before = now
        trained = self.its.values()
        if before is None or before.shape != now.shape or trained.shape != now.shape:
            return
        moved, way, left = now - before, trained - before, trained - now
        both = before + trained  # of decay * average - (1 - decay) * trained the average moves against their sum
        products = ((moved, moved), (way, way), (left, left), (left, way), (moved, both), (both, both), (now, before), (now, now), (before, before))  # fmt: skip
        dots = self.mine.torch.stack([one.dot(other) for one, other in products]).tolist()
        moved, way, left, along, against, both, turned, after, start = dots
        is_turned = turned < -ON_LINE * (after * start) ** 0.5
        self.against += is_turned or against < -ON_LINE * (moved * both) ** 0.5 < 0.0
        if moved and way:
            self.updates += 1
            self.exact += left == 0.0
            self._look_at_others(before, now, moved * way)
        if moved and way and left:
            self.left.append([step, along / way, along / (left * way) ** 0.5])

    def _look_at_others(self, before, now, own):
        """`own`: product of the squared lengths of the update and of the way to the network it is a copy of."""
        update = now - before
        if self.others and float(update.dot(self.its.values() - before)) < OFF_LINE * own**0.5:
            for other in self.others:
                way = other[0].values() - before
                other[1] += float(update.dot(way)) > ON_LINE * float(update.norm() * way.norm())


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.optimizers, self.roots, self.copies = [], {}, []
        self.found_at, self.touching, self.uses = set(), TouchFinder(bus), Uses(bus)

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def forward_before(self, module, args, kwargs):
        self.touching.stop()  # what updates a copy ran before
        module = inner(module)
        if self.bus.steps <= FIND_AT[-1]:
            self.roots.setdefault(id(module), module)
        self.uses.called(module)

    def module_called(self, module):
        self.uses.called_inside(module)

    def saved(self, thing):
        self.uses.saved(thing)

    def step_before(self, optimizer):
        self.touching.stop()
        if self.bus.steps in FIND_AT and self.bus.steps not in self.found_at:
            self.found_at.add(self.bus.steps)
            self._find()
        for copy in list(self.copies):
            if not copy.is_done:
                try:
                    copy.look(self.bus.steps)
                except (KeyError, IndexError):  # the program took the tensor away
                    copy.looks = MOST_LOOKS
            if copy.looks >= IDLE and not copy.updates:  # a snapshot, which is not to be held
                self.copies.remove(copy)
                self.uses.forget(copy)

    def step_after(self, optimizer):
        """What updates a copy runs between here and what comes next."""
        self.touching.look_for([copy for copy in self.copies if copy.site == (None, None) and self._is_suspect(copy)])

    def _is_suspect(self, copy):
        is_idle = copy.is_module and len(copy.left) >= LONG and not self.uses.of(copy).is_used
        return (
            is_idle
            or copy.leaves_little
            or copy.against >= STRAYED
            or (copy.strayed is not None and copy.strayed[1] >= STRAYED)
        )

    def backward_before(self, tensors, gradients):
        self.touching.stop()

    def _find(self):
        held = {id(p) for optimizer in self.optimizers for p in members(optimizer)}
        known = {id(copy.thing) for copy in self.copies}
        for thing, *sampled in find(self.torch, list(self.roots.values()), held):
            if id(thing) not in known and len(self.copies) < MOST:
                self.copies.append(Copy(thing, *sampled))
                self.uses.watch(self.copies[-1])

    def close(self, reason):
        self.touching.stop()
        numbers = {}
        for copy in self.copies:
            if copy.updates:
                use, (other, strayed) = self.uses.of(copy), copy.strayed or (None, 0)
                source, led_to = (
                    numbers.setdefault(id(one.thing), len(numbers)) if one is not None else None
                    for one in (copy.its, other)
                )
                self.events("soft_updates", cls=type(copy.thing).__name__, is_module=copy.is_module, site=copy.site[0],
                            lib=copy.site[1], updates=copy.updates, exact=copy.exact, left=copy.left, called=use.steps, used=use.is_used,
                            source=source, led_to=led_to, strayed=strayed, against=copy.against)  # fmt: skip
