"""Listener: does a model that is given two views of each example ever get two that differ?

Two views are two calls of one module before a backward, or two parts of one batch. Compared are the values that go in,
what comes out of them, and the gradients that come back. A module of which one backward does not find all three
equal is not looked at again, so that a healthy program pays for its first step only.
"""

from contextlib import suppress

from . import registered
from .phases import inner
from .rows import Coder, is_batch, main_input
from .tensors import tensors_in
from .twins import Side, are_equal, halves, is_near

MOST_CALLS = 4  # of one module before a backward
MOST_MODULES = 400  # inside an outermost one
TELL_AT = frozenset({10, 30, 100, 300, 1000})
SYMMETRIC = 1e-4  # of the range of the scores
GRADIENTS = 0.02  # of the largest: what is left of a sum that cancels is rounded by more than its parts


class Watched:
    """A module: its calls since the last backward, its pairs of equal views, and the backwards whose views were all equal."""

    def __init__(self, name, cls):
        self.name, self.cls = name, cls
        self.is_over, self.calls, self.pairs = False, [], []
        self.rounds = self.rows = 0
        self.sets, self.how, self.place = set(), "", (None, None)


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.coder, self.watched, self.has_views, self.handles = Coder(bus.torch), {}, {}, []
        self.scored = {}  # place of a loss -> calls whose scores were symmetric; None when one was not

    # -- calls -----------------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        self._unhook()
        module = inner(module)
        root = self.bus.number("root", module)
        if not self.torch.is_grad_enabled() or self.has_views.get(root) is False:
            return
        is_first = root not in self.has_views and not is_compiled(module)  # it may make both views itself
        self.has_views[root] = (
            is_first or self._are_inside(root) or holds_views(self.torch, list(tensors_in((args, kwargs))))
        )
        if self.has_views[root]:
            self._watch_inside(root, module)

    def _are_inside(self, root):
        return any(one.rounds and not one.is_over for (own, name), one in self.watched.items() if own == root and name)

    def _watch_inside(self, root, module):
        """The model may be given both views at once, and call its encoder on each."""
        for name, one in list(registered.named_modules(module))[1:MOST_MODULES]:
            if next(registered.children(one), None) is not None and next(registered.parameters(one), None) is not None:
                with suppress(RuntimeError):  # scripted modules take no such hooks
                    told = self.bus.quietly(self, self._inside(root, name))
                    self.handles.append(one.register_forward_hook(told, with_kwargs=True))

    def _inside(self, root, name):
        def hook(module, args, kwargs, output):
            self._called((root, name), module, args, kwargs, output)

        return hook

    def _unhook(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def forward_broken(self, module):
        self._unhook()

    def forward_after(self, module, args, kwargs, output):
        self._unhook()
        module = inner(module)
        self._called((self.bus.number("root", module), ""), module, args, kwargs, output)

    def _called(self, key, module, args, kwargs, output):
        watched = self.watched.get(key)
        if not self.torch.is_grad_enabled() or (watched is not None and watched.is_over):
            return
        result = next((t for t in tensors_in(output) if t.grad_fn is not None and is_batch(t)), None)
        given = list(tensors_in((args, kwargs)))
        if result is None or not given or any(t.grad_fn is not None or t.requires_grad for t in given):
            return
        if watched is None:
            watched = self.watched[key] = Watched(key[1], type(module).__name__)
        if len(watched.calls) < MOST_CALLS:
            self._add(watched, Side(given, result))

    def _add(self, watched, side):
        main = main_input([("", t) for t in side.given])
        pairs = [("calls", side, other) for other in watched.calls if other.gets_and_gives_the_same(self.torch, side)]
        if not pairs:
            pairs = [
                (how, *parts) for how, parts in side.parts() if parts[0].gets_and_gives_the_same(self.torch, parts[1])
            ]
        watched.calls.append(side)
        if main is None or not pairs:
            return
        how, first, _ = pairs[0]
        codes, telling, _ = self.coder.codes(main[1])
        kinds = set(codes[telling].tolist())
        if len(kinds) > 1:  # rows of a few values, or all the same, may be equal by chance
            watched.pairs.append(pairs[0])
            watched.sets.add(hash(tuple(sorted(kinds))))
            watched.how, watched.rows = how, len(first.result)
            watched.place = self.bus.sites.here()

    # -- backwards -------------------------------------------------------------------------

    def backward_after(self, tensors):
        for watched in self.watched.values():
            if watched.calls:
                equal = [one for one in watched.pairs if is_near(one[1].gradient, one[2].gradient, GRADIENTS)]
                watched.is_over = not equal
                watched.rounds += bool(equal)
            watched.calls, watched.pairs = [], []

    # -- scores ----------------------------------------------------------------------------

    def loss_after(self, name, arguments, output):
        """Row i is asked to find column i among all: are both the same examples, seen twice?"""
        if name != "cross_entropy" or not output.requires_grad:
            return
        place = self.bus.sites.here()
        if self.scored.setdefault(place, 0) is None:
            return
        scores, target = arguments["input"].detach(), arguments["target"]
        is_told = is_square(scores) and is_own_number(self.torch, target) and is_symmetric(scores)
        self.scored[place] = self.scored[place] + 1 if is_told else None

    # -- telling ---------------------------------------------------------------------------

    def boundary(self, step):
        if step in TELL_AT:
            self._tell()

    def close(self, reason):
        self._unhook()
        self._tell()

    def _tell(self):
        for (root, name), one in self.watched.items():
            if one.rounds:
                self.events("equal_views", n=self.bus.steps, root=root, module=name, cls=one.cls, how=one.how, rows=one.rows, sets=len(one.sets),
                            rounds=one.rounds, always=not one.is_over, site=one.place[0], lib=one.place[1])  # fmt: skip
        for (user, library), calls in self.scored.items():
            self.events("symmetric_scores", n=self.bus.steps, site=user, lib=library, calls=calls or 0)


def is_compiled(module):
    """A hook inside would have it compiled again."""
    parts = list(registered.modules(module))
    return any(hasattr(one, "_orig_mod") or getattr(one, "_compiled_call_impl", None) is not None for one in parts)


def holds_views(torch, given):
    """Are two of the tensors that go in equal, or two parts of one: the cue to look inside?"""
    floats = [t for t in given if is_batch(t) and t.is_floating_point()]
    if any(are_equal(torch, one, other) for place, one in enumerate(floats) for other in floats[:place]):
        return True
    pairs = [pair for t in given if is_batch(t) for _, pair in halves(t)]
    pairs += [t.unbind(1) for t in given if t.dim() > 2 and t.shape[1] == 2]
    return any(are_equal(torch, *pair) for pair in pairs)


def is_square(scores):
    return is_batch(scores) and scores.dim() == 2 and scores.shape[0] == scores.shape[1] >= 4


def is_own_number(torch, target):
    if target.dim() != 1 or target.is_floating_point():
        return False
    return torch.equal(target, torch.arange(len(target), device=target.device, dtype=target.dtype))


def is_symmetric(scores):
    return bool((scores - scores.t()).abs().max() < SYMMETRIC * (scores.max() - scores.min()))
