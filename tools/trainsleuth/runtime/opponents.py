"""Listener: which way two players push the score of what one of them makes.

A module that scores what another module made goes through it twice in a round: in the step of its own optimizer, and in that of the maker's. The
gradient that arrives at the score is positive where that step pushes it down. One event "opponents" for each such pair, with the share of positive
ones in the steps of both, and at what the first says of other examples, as real ones, in its own steps.
"""

from . import graph, registered
from .following import Marks
from .gradients import members
from .tensors import hear_gradient, is_dense, is_unreadable, tensors_in

MOST_MADE = 100  # outputs of modules that are known by their memory
MOST_PAIRS = 4
MOST_STEPS = 60  # of each player
MOST_LABELS = 2  # values of a target that tells real from made
REGRESSIONS = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})


class Pair:
    """`own`, `its`: the shares of positive gradients at the score, in steps of the one that scores and of the maker."""

    def __init__(self, scorer, maker, site):
        self.scorer, self.maker, self.site = scorer, maker, site
        self.own, self.its, self.real = [], [], []
        self.waiting, self.of_others = [], []  # of calls since the last step

    @property
    def is_known(self):
        return min(len(self.own), len(self.its)) >= MOST_STEPS


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.made, self.pairs, self.held = Marks(), {}, {}
        self.scores = {}  # last operation of a score -> its module
        self.regressing = set()  # modules whose score meets many values
        self.kept = {}  # modules that were given something else than what another made, as real examples

    def forward_after(self, module, args, kwargs, output):
        if self.torch.is_grad_enabled() and module.training:
            given = [t for t in tensors_in((args, kwargs)) if t.is_floating_point()]
            maker = next((one for t in given if (one := self._maker(t)) is not None), None)
            if maker is None:
                self.kept[id(module)] = module
                if not any(t.is_leaf and t.requires_grad for t in given):  # between real and made, for a penalty
                    self._scored_others(module, output)
            elif maker is not module:
                self._scored(module, maker, given, output)
        if len(self.made.known) > MOST_MADE:
            self.made = Marks()
        for tensor in tensors_in(output):
            if tensor.is_floating_point() and tensor.dim() > 1:
                self.made.put(tensor, {"maker": module, "order": order_of_values(tensor)})

    def _maker(self, tensor):
        """The module whose output this is, or would be but for its graph; not behind a function that may turn its gradient."""
        known = self.made.of(tensor)
        if known and next(registered.parameters(known["maker"]), None) is None:
            return None  # it only moves or scales
        is_the_same = tensor.grad_fn is None or order_of_values(tensor) == known.get("order")
        return known.get("maker") if is_the_same else None

    def _scored(self, module, maker, given, output):
        key = id(module), id(maker)
        outputs = [t for t in tensors_in(output) if t.requires_grad]
        if (
            len(outputs) != 1
            or not is_score(outputs[0], given)
            or (key not in self.pairs and len(self.pairs) >= MOST_PAIRS)
        ):
            return
        if key not in self.pairs:
            self.pairs[key] = Pair(module, maker, self.bus.sites.here()[0])
        if self.pairs[key].is_known:
            return
        self.scores[graph.source(outputs[0].grad_fn)] = id(module)
        self._hear(outputs[0], self.pairs[key].waiting)

    def loss_after(self, name, arguments, output):
        """What regresses, as the value of an action does to returns, may push upwards for long: no labels of a game."""
        given, target = list(arguments.values())[:2]
        if (
            name not in REGRESSIONS
            or not self.scores
            or getattr(given, "grad_fn", None) is None
            or not hasattr(target, "dtype")
        ):
            return
        module = self.scores.get(graph.source(given.grad_fn))
        if module is not None and module not in self.regressing and is_dense(target) and not is_unreadable(target):
            if len(target.detach().unique()) > MOST_LABELS:
                self.regressing.add(module)

    def _scored_others(self, module, output):
        outputs = [t for t in tensors_in(output) if t.requires_grad]
        for pair in self.pairs.values():
            if pair.scorer is module and len(outputs) == 1 and is_score(outputs[0]) and not pair.is_known:
                self._hear(outputs[0], pair.of_others)

    def _hear(self, score, waiting):
        def hear(gradient):
            if not is_unreadable(gradient) and len(waiting) < 2 * MOST_STEPS:
                told = gradient != 0
                waiting.append(float((gradient > 0).sum() / told.sum().clamp(min=1)) if bool(told.any()) else None)

        hear_gradient(score, self.bus.quietly(self, hear))

    def step_before(self, optimizer):
        self.scores = {}
        if not self.pairs:
            return
        if id(optimizer) not in self.held:
            self.held[id(optimizer)] = (optimizer, {id(p) for p in members(optimizer)})
        held = self.held[id(optimizer)][1]
        climbs = any(group.get("maximize") for group in optimizer.param_groups)
        for pair in self.pairs.values():
            is_own, is_its = ({id(p) for p in registered.parameters(one)} & held for one in (pair.scorer, pair.maker))
            told = pair.own if is_own and not is_its else pair.its if is_its and not is_own else None
            if told is not None and len(told) < MOST_STEPS:
                told += turned(pair.waiting, climbs)
            if told is pair.own and len(pair.real) < MOST_STEPS:
                pair.real += turned(pair.of_others, climbs)
            pair.waiting.clear()
            pair.of_others.clear()

    def close(self, reason):
        for pair in self.pairs.values():
            if pair.own and pair.its and id(pair.scorer) in self.kept and id(pair.scorer) not in self.regressing:
                self.events(
                    "opponents", site=pair.site, scorer=type(pair.scorer).__name__, maker=type(pair.maker).__name__,
                    own=len(pair.own), its=len(pair.its), own_up=sum(pair.own) / len(pair.own), its_up=sum(pair.its) / len(pair.its),
                    own_range=[min(pair.own), max(pair.own)], its_range=[min(pair.its), max(pair.its)],
                    real=len(pair.real), real_range=[min(pair.real), max(pair.real)] if pair.real else [0, 1],
                )  # fmt: skip


def turned(shares, climbs):
    return [1 - share if climbs else share for share in shares if share is not None]


def is_score(tensor, given=()):
    """One number for each example, or for each patch of it; not a picture of one channel, as large as what it is made of."""
    is_one = tensor.dim() == 1 or (tensor.dim() > 1 and tensor.shape[1] == 1)
    return (
        is_dense(tensor) and is_one and not (tensor.dim() > 2 and any(t.shape[2:] == tensor.shape[2:] for t in given))
    )


def order_of_values(tensor):
    """Of the operation that last changed its values; None without a graph."""
    node = graph.source(tensor.grad_fn)
    return None if node is None else graph.order_of(node)
