"""Listener: a look at the model when the run is over: the last training batch again, in evaluation mode.

The program's training is done by then, so nothing of it can change. One event "inspected" per trained
module, or "not_inspected" with the reason; of one that gives back only its loss, "inspected_part" for the largest modules inside; of one
that could not be looked at "inspected_modes", if it can be called at all.
"""

import sys
import time

from . import arrays, effort, registered, trials
from .calls import Call, autocast_states, in_autocast
from .dropping import DropoutWatch
from .freeze import copied
from .gradients import members
from .inside import parts_of
from .replay import alone
from .rows import main_input
from .tensors import is_dense, tensors_in

MOST_ROOTS = 3
MOST_TARGETS = 12  # of the last losses
SECONDS = 8.0  # for all modules together
SHARDED = ("FullyShardedDataParallel", "FSDPModule", "DeepSpeedEngine")


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.optimizers, self.moved = [], {}
        self.called, self.last = {}, {}  # by module: its call since the last backward, its last one before a backward
        self.targets, self.loader = [], None
        self.by_hand = set()  # modules that get gradients where no optimizer of torch was seen

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)
        self.by_hand.clear()

    def batch(self, loader, batch):
        self.loader = loader

    def forward_before(self, module, args, kwargs):
        if not self.torch.is_grad_enabled():
            return
        before = self.called.get(id(module)) or self.last.get(id(module))
        if before is None and len({**self.last, **self.called}) >= 8:
            return
        if before is not None and self.bus.steps < 3 and not self.moved.get(id(module)):
            self.moved[id(module)] = differs(self.torch, before[1:3], (args, kwargs))
        site = self.bus.sites.here() if before is None or self.bus.steps < 3 else before[4]
        self.called[id(module)] = (module, args, kwargs, autocast_states(self.torch), site, self.loader)

    def backward_before(self, tensors, gradients):
        self.last.update(self.called)
        self.called = {}

    def backward_after(self, tensors):
        if not self.optimizers and self.bus.steps < 3:
            graded = (
                key for key, one in self.last.items() if any(p.grad is not None for p in registered.parameters(one[0]))
            )
            self.by_hand.update(graded)

    def loss_after(self, name, arguments, output):
        target = list(arguments.values())[1]
        if getattr(output, "requires_grad", False) and hasattr(target, "dtype"):
            self.targets = [*self.targets[1 - MOST_TARGETS :], target.detach()]

    # -- the end ---------------------------------------------------------------------------

    def close(self, reason):
        if reason == "nonfinite" or getattr(sys, "last_value", None) is not None or not self.bus.steps:
            return
        held = {id(p) for o in self.optimizers for p in members(o)}
        trained = [one for key, one in (self.last or self.called).items() if key in self.by_hand or holds(one[0], held)]
        until = time.monotonic() + SECONDS
        for module, args, kwargs, autocast, site, loader in trained[:MOST_ROOTS]:
            place = {
                "root": self.bus.number("root", module),
                "cls": type(module).__name__,
                "site": site[0],
                "lib": site[1],
            }
            try:
                facts, again = self._inspect(module, args, kwargs, autocast, loader, until, place)
            except Exception as problem:  # a model that cannot be called again this way
                why = "%s: %s" % (type(problem).__name__, str(problem).split("\n")[0][:200])
                self.events("not_inspected", why=why, **place)
                continue
            self.events("inspected", **facts, **place)
            if facts.get("why") == trials.NO_ROWS and again.gives_only_a_loss and is_whole_batch(loader, again.main):
                self._look_inside(again, facts, place)

    def _look_at_modes(self, model, args, kwargs, autocast, place):
        """Of a module whose examples cannot be exchanged, as a batch of graphs: does it drop values in evaluation mode?"""
        try:
            model.eval()
            watch = DropoutWatch(self.torch, self.bus.sites)
            with watch as active, self.torch.no_grad(), in_autocast(self.torch, autocast):
                model(*args, **kwargs)
            self.events("inspected_modes", dropout_in_eval=active, dropout_by_mode=watch.resting, **place)
        except Exception:  # told already: it cannot be called again
            return

    def _look_inside(self, again, facts, place):
        """Of a module that gives back nothing but its loss; what cannot be called again is left."""
        shared = {"rows": again.rows, "by_loader": facts["by_loader"], "moves": facts["moves"], "of": place["cls"]}
        shared.update({name: place[name] for name in ("root", "site", "lib")})
        try:
            for part in parts_of(self.torch, again):
                given = part.module, part.args, part.kwargs, part.main, part.autocast
                found = trials.Again(self.torch, self.bus.sites, *given, again.until).all([])
                found["pairwise"] = facts["pairwise"] or is_graph((part.args, part.kwargs), again.rows)
                self.events("inspected_part", name=part.name, cls=type(part.module).__name__, **found, **shared)
        except Exception as problem:
            self.events("not_inspected_part", why=type(problem).__name__, **shared)

    def _inspect(self, module, args, kwargs, autocast, loader, until, place):
        if any(name in (type(one).__name__ for one in registered.modules(module)) for name in SHARDED):
            raise TypeError("its parameters are spread over ranks")
        takes_arrays = arrays.are_all((args, kwargs))
        args, kwargs = arrays.as_tensors(self.torch, (args, kwargs)) if takes_arrays else copied((args, kwargs))
        model = alone(module)
        given = Call(self.torch, "input", model, args, kwargs, (None, None)).tensors()
        main = main_input([(name, t.detach()) for name, t in given], args)
        if main is None:
            self._look_at_modes(model, args, kwargs, autocast, place)
            raise TypeError("no batch of plain tensors enters it")
        if main[1].dim() == 1 and main[1].is_floating_point() and not is_batch_of(loader, main[1]):
            raise TypeError("numbers along one axis enter it, and no loader shows that these are examples")
        model.eval()
        again = trials.Again(self.torch, self.bus.sites, model, args, kwargs, main[1], autocast, until, takes_arrays)
        facts = {
            "rows": int(main[1].shape[0]), "shape": list(main[1].shape), "by_loader": is_batch_of(loader, main[1]),
            "moves": self.moved.get(id(module)), "pairwise": is_graph((args, kwargs), int(main[1].shape[0])),
        }  # fmt: skip
        facts.update(again.all(self.targets))
        facts.update(effort.measured(self.torch, again, main[1]))
        return facts, again


def holds(module, members_held):
    return any(id(p) in members_held for p in registered.parameters(module))


def is_batch_of(loader, tensor):
    """Does the first axis have the size of this loader's batches?"""
    size = getattr(loader, "batch_size", None)
    return loader is not None and size is not None and 0 < tensor.shape[0] <= size and size > 1


def is_whole_batch(loader, tensor):
    """Has the first axis just as many places as this loader gives examples, so that it is not time that comes first?"""
    return loader is not None and getattr(loader, "batch_size", None) == tensor.shape[0]


def is_graph(given, rows):
    """A square matrix over the rows, or a list of edges, comes with them."""
    return any(
        (t.dim() >= 2 and t.shape[0] == t.shape[1] == rows)
        or (t.dim() == 2 and t.shape[0] == 2 != rows and not t.is_floating_point())
        or not is_dense(t)
        for t in tensors_in(given)
    )


def differs(torch, before, now):
    """Do two calls of one module get different values?"""
    pairs = [(a, b) for a, b in zip(tensors_in(before), tensors_in(now)) if is_dense(a) and is_dense(b)]
    return any(
        a.shape != b.shape or not torch.equal(a.detach(), b.detach())
        for a, b in pairs
        if (a.dtype, a.device) == (b.dtype, b.device)
    )
