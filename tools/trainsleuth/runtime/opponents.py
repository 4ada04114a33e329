"""Listener: which way two players push the score of what one of them makes.

A module that scores what another module made goes through it twice in a round: in the step of its own optimizer, and in that of the maker's. The
gradient that arrives at the score is positive where that step pushes it down. One event "opponents" for each such pair, with the share of positive
ones in the steps of both.
"""

from . import registered
from .freeze import storage
from .gradients import members
from .tensors import hear_gradient, is_dense, is_unreadable, tensors_in

LAST = 4  # outputs of modules that are known by their memory
MOST_PAIRS = 4
MOST_STEPS = 60  # of each player


class Pair:
    """`own`, `its`: the shares of positive gradients at the score, in steps of the one that scores and of the maker."""

    def __init__(self, scorer, maker, site, inputs):
        self.scorer, self.maker, self.site, self.inputs = scorer, maker, site, inputs
        self.own, self.its = [], []
        self.waiting = []  # of calls since the last step

    @property
    def is_known(self):
        return min(len(self.own), len(self.its)) >= MOST_STEPS


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.made, self.pairs, self.held = [], {}, {}
        self.kept = {}  # modules that were given something else than what another made, as real examples

    def forward_after(self, module, args, kwargs, output):
        if self.torch.is_grad_enabled() and module.training:
            maker = next((one for t in tensors_in((args, kwargs)) if (one := self._maker(t)) is not None), None)
            if maker is None:
                self.kept[id(module)] = module
            elif maker is not module:
                self._scored(module, maker, output, sum(t.is_floating_point() for t in tensors_in((args, kwargs))))
        made = [(storage(t), module) for t in tensors_in(output) if t.is_floating_point() and t.dim() > 1]
        self.made = [*self.made, *made][-LAST:]

    def _maker(self, tensor):
        if not tensor.is_floating_point():
            return None
        return next((maker for memory, maker in reversed(self.made) if memory == storage(tensor)), None)

    def _scored(self, module, maker, output, inputs):
        key = id(module), id(maker)
        outputs = [t for t in tensors_in(output) if t.requires_grad]
        if len(outputs) != 1 or not is_score(outputs[0]) or (key not in self.pairs and len(self.pairs) >= MOST_PAIRS):
            return
        if key not in self.pairs:
            self.pairs[key] = Pair(module, maker, self.bus.sites.here()[0], inputs)
        if self.pairs[key].is_known:
            return
        waiting = self.pairs[key].waiting

        def hear(gradient):
            if not is_unreadable(gradient) and len(waiting) < 2 * MOST_STEPS:
                told = gradient != 0
                waiting.append(float((gradient > 0).sum() / told.sum().clamp(min=1)) if bool(told.any()) else None)

        hear_gradient(outputs[0], self.bus.quietly(self, hear))

    def step_before(self, optimizer):
        if not self.pairs:
            return
        if id(optimizer) not in self.held:
            self.held[id(optimizer)] = (optimizer, {id(p) for p in members(optimizer)})
        held = self.held[id(optimizer)][1]
        for pair in self.pairs.values():
            is_own, is_its = ({id(p) for p in registered.parameters(one)} & held for one in (pair.scorer, pair.maker))
            told = pair.own if is_own and not is_its else pair.its if is_its and not is_own else None
            if told is not None and len(told) < MOST_STEPS:
                told += [share for share in pair.waiting if share is not None]
            pair.waiting.clear()

    def close(self, reason):
        for pair in self.pairs.values():
            if pair.own and pair.its and id(pair.scorer) in self.kept:
                self.events(
                    "opponents", site=pair.site, inputs=pair.inputs, scorer=type(pair.scorer).__name__, maker=type(pair.maker).__name__,
                    own=len(pair.own), its=len(pair.its), own_up=sum(pair.own) / len(pair.own), its_up=sum(pair.its) / len(pair.its),
                    own_range=[min(pair.own), max(pair.own)], its_range=[min(pair.its), max(pair.its)],
                )  # fmt: skip


def is_score(tensor):
    """One number for each example, or for each patch of it."""
    return is_dense(tensor) and (tensor.dim() == 1 or (tensor.dim() > 1 and tensor.shape[1] == 1))
