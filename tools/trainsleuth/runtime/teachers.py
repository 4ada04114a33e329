"""Listener: outermost modules in training mode that no optimizer holds: do their layers act, and what uses what they give?

A frozen teacher, feature extractor, reward or reference model. One event "teacher" for each at the end. What the loss
is computed from is followed at a few steps, and only where such a module is called and a layer of it acts.
"""

from . import registered
from .checksums import code
from .dropping import DropoutWatch
from .following import AGAINST, INTO, Follower
from .gradients import members
from .phases import inner, kind
from .rows import Coder
from .tensors import tensors_in

LOOK_AT = frozenset({1, 2, 5, 20, 100})  # in the first one anomaly mode is on
MOST = 8  # modules


class Facts:
    """What is known of one module."""

    def __init__(self, module, codes):
        self.module, self.codes, self.site = module, codes, (None, None)
        self.first = self.last = None
        self.calls = self.steps = self.backwards = self.evaluations = 0
        self.waiting = False
        self.acting = {"dropouts": {}, "norms": {}}
        self.against, self.into = set(), set()  # steps

    def called(self, step, here):
        if self.first is None:
            self.first, self.site, self.evaluations = step, here(), 0  # evaluated before: its accuracy, its shapes
        self.steps += self.last != step
        self.last, self.waiting = step, True
        self.calls += 1


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.held, self.optimizers = {}, []
        self.known, self.coder = {}, Coder(bus.torch)
        self.inside, self.watch, self.learning = None, None, False  # of the present call
        self.follower = Follower(lambda: self.learning, lambda: bus.busy)

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)
        self.held.clear()

    def _learns(self, module):
        """Does an optimizer hold any of it?"""
        if id(module) not in self.held:
            held = {id(p) for optimizer in self.optimizers for p in members(optimizer)}
            self.held[id(module)] = any(id(p) in held for p in registered.parameters(module))
        return self.held[id(module)]

    # -- calls -----------------------------------------------------------------------------

    def forward_before(self, module, args, kwargs):
        module, facts = inner(module), self._facts(module)
        self.learning = self._learns(module) and self.torch.is_grad_enabled()
        if facts is None or self._learns(module):
            return
        facts.evaluations += not module.training
        if self.bus.steps in LOOK_AT and module.training:
            self.inside = facts
            self.module_called(module)
            self.watch = DropoutWatch(self.torch, self.bus.sites)
            self.watch.__enter__()

    def module_called(self, module):
        if self.inside is not None and module.training:
            what = kind(self.torch, module)
            if what:
                self.inside.acting[what][id(module)] = True

    def forward_after(self, module, args, kwargs, output):
        self._left()
        module, facts = inner(module), self._facts(module)
        if facts is None or not module.training or self._learns(module):
            return
        given = list(tensors_in(output))
        if given and any(tensor.requires_grad for tensor in given) == self._wants_gradients(module):
            facts.called(self.bus.steps, self.bus.sites.here)
            if self.bus.steps in LOOK_AT and any(facts.acting.values()):
                self.follower.give(id(module), given)

    def forward_broken(self, module):
        self._left()

    def _wants_gradients(self, module):
        """Else a graph in what it gives is that of what entered it."""
        return self.torch.is_grad_enabled() and any(p.requires_grad for p in registered.parameters(module))

    def _left(self):
        if self.watch is not None:
            self.watch.__exit__()
            layers = self.inside.acting["dropouts"]
            if not layers:
                layers.update((seen["site"] or seen["lib"], True) for seen in self.watch.active)
        self.inside, self.watch, self.learning = None, None, False

    def _facts(self, module):
        module = inner(module)
        if id(module) not in self.known:
            is_one = len(self._all()) < MOST and computes(self.torch, module)
            facts = Facts(module, self._codes(module)) if is_one else None
            self.known[id(module)] = (module, facts)  # kept, so that its id stays its own
        return self.known[id(module)][1]

    def _all(self):
        return [facts for _, facts in self.known.values() if facts is not None]

    def _codes(self, module):
        """Of its parameters, and of its statistics."""
        kept = [buffer for buffer in registered.buffers(module) if buffer.dtype.is_floating_point]
        return code(self.coder, registered.parameters(module)), code(self.coder, kept)

    # -- backwards -------------------------------------------------------------------------

    def backward_before(self, tensors, gradients):
        for facts in self._all():
            facts.backwards, facts.waiting = facts.backwards + facts.waiting, False
        self.follower.stop()
        for key, kinds in self.follower.reaching([*tensors, *tensors_in(gradients)]).items():
            if kinds & AGAINST:
                self.known[key][1].against.add(self.bus.steps)
            elif kinds & INTO:
                self.known[key][1].into.add(self.bus.steps)

    def backward_after(self, tensors):
        self.follower.start()

    def boundary(self, step):
        self.follower.end()

    # -- the end ---------------------------------------------------------------------------

    def close(self, reason):
        self.follower.end()
        trained = [facts for facts in self._all() if self._learns(facts.module)]
        for facts in self._all():
            is_graded = any(p.grad is not None for p in registered.parameters(facts.module))
            if facts.calls and facts not in trained:
                self._tell(facts, trained, is_graded)

    def _tell(self, facts, trained, is_graded):
        now = self._codes(facts.module)
        twins = [type(other.module).__name__ for other in trained if other.codes[0] == facts.codes[0]]
        alike = [type(one.module).__name__ for one in trained if _is_built_alike(one.module, facts.module)]
        self.events(
            "teacher", root=self.bus.number("root", facts.module), cls=type(facts.module).__name__, site=facts.site[0],
            lib=facts.site[1], n=facts.first, until=facts.last, calls=facts.calls, steps=facts.steps,
            backwards=facts.backwards, evaluations=facts.evaluations, twin=next(iter(twins), None), kin=next(iter(alike), None),
            elements=sum(p.numel() for p in registered.parameters(facts.module)), unchanged=facts.codes[0] == now[0],
            graded=is_graded, statistics_moved=facts.codes[1] != now[1], against=len(facts.against), into=len(facts.into),
            **{name: len(acting) for name, acting in facts.acting.items()},
        )  # fmt: skip


def _is_built_alike(one, other):
    shapes = ([tuple(p.shape) for p in registered.parameters(module)] for module in (one, other))
    return type(one) is type(other) and next(shapes) == next(shapes)


def computes(torch, module):
    """Does it hold weights other than those of normalisation, which may be there to follow the data?"""
    return any(
        p.dim() > 1 and not isinstance(one, torch.nn.modules.batchnorm._BatchNorm)
        for one in registered.modules(module)
        for p in registered.parameters(one, recurse=False)
    )
