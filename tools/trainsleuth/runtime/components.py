"""Listener: which objects play the parts of the program: their classes, where these are defined and the objects made.

One "component" event per object and use, in the order in which they came up; one "settings" event at the
first backward, with what the program was configured with by then.
"""

import itertools
import sys

from . import graph, registered
from .calls import named_tensors
from .definitions import Definitions
from .settings import Reads, held
from .tensors import describe, kind, shape

WRAPPERS = ("DataParallel", "DistributedDataParallel", "OptimizedModule", "FullyShardedDataParallel")
MOST = 40  # objects of one kind that are told
NEAR_LOSS = 300  # nodes of the graph, nearest to the loss
MOST_KEYS = 12  # of a checkpoint
MOST_TENSORS = 12  # of one batch, input or output


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.told, self.kept, self.calls = {}, [], {}
        self.words = Definitions(bus.sites)
        self.reads = Reads(bus.sites)
        self.is_configured = False
        self.numbers = []  # (module, node) of single numbers made from what a network computed, since the last backward

    # -- objects are made ------------------------------------------------------------------

    def loader_born(self, loader):
        dataset = getattr(loader, "dataset", None)
        self._made("loader", loader, dataset=self.words.of_class(type(dataset)), length=_length(dataset),
                   inner=self.words.inner(dataset), batch_size=getattr(loader, "batch_size", None),
                   workers=getattr(loader, "num_workers", None), sampler=type(getattr(loader, "sampler", None)).__name__,
                   collate=self.words.of_function(getattr(loader, "collate_fn", None)))  # fmt: skip

    def optimizer_born(self, optimizer):
        self._made("optimizer", optimizer)

    def schedule_born(self, schedule):
        self._made("schedule", schedule)

    def _made(self, component, made, **facts):
        if self._is_news(component, id(made)):
            self.kept.append(made)
            stack = self._stack(made)
            self.events("component", component=component, id=id(made), stack=stack, lib=self.bus.sites.here()[1],
                        **dict(self.words.of_class(type(made)), **facts))  # fmt: skip

    def saved(self, thing):
        self._kept_at("saved", thing)

    def loaded(self, thing):
        self._kept_at("loaded", thing)

    def _kept_at(self, component, thing):
        """A checkpoint is written, or was read: at which line, with which parts."""
        user, library = self.bus.sites.here()
        if self._is_news(component, (user, library)):
            keys = [str(key)[:60] for key in list(thing)[:MOST_KEYS]] if isinstance(thing, dict) else []
            self.events("component", component=component, site=user, lib=library, keys=keys, cls=type(thing).__name__)

    # -- objects are used ------------------------------------------------------------------

    def batch(self, loader, batch):
        if self._is_news("batch", id(loader)):
            self.kept.append(loader)
            user, library = self.bus.sites.here()
            self.events(
                "component", component="batch", id=id(loader), site=user, lib=library, tensors=_described(batch)
            )

    def forward_before(self, module, args, kwargs):
        user, library = self.bus.sites.here()
        self.calls[id(module)] = (user, library, _described((args, kwargs)), _has_graph((args, kwargs)))

    def forward_after(self, module, args, kwargs, output):
        user, library, given, has_graph = self.calls.pop(id(module), (None, None, [], False))
        grad = self.torch.is_grad_enabled()
        if has_graph and getattr(output, "grad_fn", None) is not None and output.numel() == 1:
            self.numbers.append((id(module), output.grad_fn))
        if not self._is_news("model", (id(module), user, grad)):
            return
        self.kept.append(module)
        inner = module
        while type(inner).__name__ in WRAPPERS and hasattr(inner, "module"):
            inner = inner.module
        inner = getattr(inner, "_orig_mod", inner)
        self.events("component", component="model", id=id(module), site=user, lib=library, grad=grad,
                    training=module.training, given=given, gives=_described(output), has_graph=has_graph,
                    wrapped_by=None if inner is module else type(module).__name__, forward=self.words.of_function(type(inner).forward),
                    parameters=sum(p.numel() for p in registered.parameters(module)),
                    trainable=sum(p.numel() for p in registered.parameters(module) if p.requires_grad),
                    inside=self.words.inside(inner), bases=self.words.bases(type(inner)), **self.words.of_class(type(inner)))  # fmt: skip

    def backward_before(self, tensors, gradients):
        user, library = self.bus.sites.here()
        numbers, self.numbers = self.numbers, []
        if not self._is_news("backward", (user, library)):
            return
        nodes = set(itertools.islice(graph.nodes_from(tensors), NEAR_LOSS))
        through = [module for module, node in numbers if node in nodes]
        node = getattr(tensors[0], "grad_fn", None)
        made, made_library = self.bus.sites.of_traceback(graph.lines_of(node))
        self.events("component", component="backward", site=user, lib=library, op=graph.name_of(node), made=made,
                    made_lib=made_library, through=through, stack=self._stack(None))  # fmt: skip
        if not self.is_configured:
            self.is_configured = True
            self.events("settings", held=list(held(self.bus.sites)), files=self.reads.stop())

    # -- what was told -----------------------------------------------------------------

    def _is_news(self, component, key):
        keys = self.told.setdefault(component, set())
        if key in keys or len(keys) >= MOST:
            return False
        keys.add(key)
        return True

    def _stack(self, made, most=24):
        """[site, function] of the user's frames from the innermost out, without the object's own constructors."""
        frame, found = sys._getframe(1), []
        while frame is not None and len(found) < most:
            origin, shown = self.bus.sites.classify(frame.f_code.co_filename)
            own = made is not None and frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is made
            if origin == "user" and not own:
                found.append(["%s:%d" % (shown, frame.f_lineno), frame.f_code.co_name])
            frame = frame.f_back
        return found


def _described(value):
    return [dict(_facts(tensor), name=name) for name, tensor in list(named_tensors(value, ""))[:MOST_TENSORS]]


def _facts(tensor):
    try:
        return describe(tensor)
    except (RuntimeError, NotImplementedError):  # a kind of number that torch cannot order or convert
        return {"shape": shape(tensor), "dtype": kind(tensor)}


def _has_graph(value):
    """Was something given that a network has computed?"""
    return any(tensor.grad_fn is not None for _, tensor in named_tensors(value, ""))


def _length(dataset):
    try:
        return len(dataset)
    except (TypeError, NotImplementedError, AttributeError):
        return None
