"""Listener: the lines where things came from that later turn out to matter.

A probe sees an effect (no gradient, a huge first loss); the line to edit is elsewhere. So a few creations
are noted as they happen: initialisation of parameters, replacement of a submodule, permutations, and,
in the first step only, tensors cut from their graph.
"""

import functools
import math

from . import graph, registered
from .terms import SUMS, Terms

INITIALISERS = (
    "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_", "sparse_",
    "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
)  # fmt: skip
MOST_TOLD = 40
MOST_BEHIND = 400  # names of parameters behind one detached tensor
MOST_PARAMETERS = 20_000


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.initialised = {}  # id of a parameter: the last user line that set it
        self.told = 0
        self.scaled, self.names, self.terms = set(), {}, Terms(bus)
        patch_initialisers(bus.torch, self)
        patch_setattr(bus.torch, self)
        patch_randperm(bus.torch, self)
        self.release = [patch_leaving(bus.torch, self, name) for name in ("detach", "item", "__float__")]
        self.release += [patch_sum(bus.torch, self, name) for name in SUMS]

    def say(self, kind, **fields):
        if self.told < MOST_TOLD and self.bus.awake:
            user, library = self.bus.sites.here()
            if user is not None:
                self.told += 1
                self.events(kind, n=self.bus.steps, site=user, lib=library, **fields)

    def left_graph(self, tensor, name):
        """A tensor with a graph loses it: with the names of the parameters that it was computed from."""
        if self.bus.awake:
            self.terms.note(tensor, self.bus.sites.here()[0])
        if name == "detach" and self.bus.awake and self.told < MOST_TOLD:
            leaves = map(graph.leaf_of, graph.nodes_from([tensor]))
            behind = [self.names[id(leaf)] for leaf in leaves if id(leaf) in self.names]
            self.say("detach", shape=list(tensor.shape), behind=sorted(behind)[:MOST_BEHIND])

    def backward_before(self, tensors, gradients):
        if not self.bus.steps:
            self.terms.backward(tensors)

    def boundary(self, step):
        if step == 1:
            for release in self.release:
                release()
            self.terms = Terms(self.bus)
            self.told = 0

    def forward_before(self, module, args, kwargs):
        """Once per outermost module: weights by scale, largest first, each with the line that set it."""
        if id(module) in self.scaled or self.bus.steps:
            return
        self.scaled.add(id(module))
        self.names.update((id(p), name) for name, p in registered.named_parameters(module))
        rows = [self._scale(name, p) for name, p in registered.named_parameters(module) if p.dim() > 1 and p.numel()]
        rows.sort(key=lambda row: -row["gain"])
        gains = sorted(self._scale(name, p)["gain"] for name, p in weights_of(self.torch, module))
        self.events(
            "scales", root=self.bus.number("root", module), cls=type(module).__name__, largest=rows[:5],
            layers=len(gains), largest_gain=gains[-1] if gains else None,
            median_gain=gains[len(gains) // 2] if gains else None, norms=sum(map(is_norm, registered.modules(module))),
        )  # fmt: skip

    def _scale(self, name, parameter):
        values = parameter.detach().float()
        fan_in = parameter.numel() // parameter.shape[0]
        std = float(values.std()) if values.numel() > 1 else 0.0
        gain = std * math.sqrt(fan_in)  # about 0.6 by torch's default, 1 to 1.4 by Xavier and He
        return {"name": name, "std": std, "fan_in": fan_in, "gain": gain, "site": self.initialised.get(id(parameter))}


def weights_of(torch, module):
    """(name, weight) of every linear layer and convolution that learns."""
    for name, one in registered.named_modules(module):
        weight = getattr(one, "weight", None)
        if isinstance(one, (torch.nn.Linear, torch.nn.modules.conv._ConvNd)) and weight is not None:
            if weight.requires_grad and weight.dim() > 1 and weight.numel():
                yield name, weight


def is_norm(module):
    return type(module).__name__.lower().endswith(("norm", "norm1d", "norm2d", "norm3d"))


def patch_initialisers(torch, listener):
    init = torch.nn.init
    for name in INITIALISERS:
        if hasattr(init, name):
            setattr(init, name, _noting(getattr(init, name), listener))


def _noting(original, listener):
    @functools.wraps(original)
    def wrapper(tensor, *args, **kwargs):
        if listener.bus.awake and listener.bus.steps == 0 and len(listener.initialised) < MOST_PARAMETERS:
            user, _ = listener.bus.sites.here(limit=25)
            listener.initialised[id(tensor)] = user
        return original(tensor, *args, **kwargs)

    return wrapper


def patch_setattr(torch, listener):
    module_class = torch.nn.Module
    original = module_class.__setattr__

    @functools.wraps(original)
    def __setattr__(self, name, value):
        held = self.__dict__.get("_modules")
        old = held.get(name) if isinstance(held, dict) else None  # a scripted module keeps them in C++
        if old is not None and old is not value and next(registered.parameters(old), None) is not None:
            listener.say("module_replaced", owner=type(self).__name__, name=name)
        original(self, name, value)

    module_class.__setattr__ = __setattr__


def patch_randperm(torch, listener):
    original = torch.randperm

    @functools.wraps(original)
    def randperm(*args, **kwargs):
        if args and isinstance(args[0], int) and args[0] > 1:
            listener.say("permutation", size=args[0])
        return original(*args, **kwargs)

    torch.randperm = randperm


def patch_leaving(torch, listener, name):
    """Notes tensors with a graph that the user's code takes out of it; returns what undoes the patch."""
    tensor_class = torch.Tensor
    original = getattr(tensor_class, name)

    @functools.wraps(original)
    def leave(self):
        if self.grad_fn is not None:
            listener.left_graph(self, name)
        return original(self)

    setattr(tensor_class, name, leave)
    return functools.partial(setattr, tensor_class, name, original)


def patch_sum(torch, listener, name):
    """Notes numbers of Python that are added to tensors; returns what undoes the patch."""
    tensor_class = torch.Tensor
    original = getattr(tensor_class, name)

    @functools.wraps(original)
    def add(self, other):
        result = original(self, other)
        if isinstance(other, (int, float)) and isinstance(result, tensor_class):
            listener.terms.sum(result, other)
        return result

    setattr(tensor_class, name, add)
    return functools.partial(setattr, tensor_class, name, original)
