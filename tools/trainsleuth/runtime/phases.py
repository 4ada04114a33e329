"""Listener: in which mode each outermost module is called, and what follows: training, evaluation, or neither.

A wrapper whose one child holds all of its parameters and that child are one model; the child's mode counts once the
program calls it directly, and without gradients that of the layers for which it makes a difference. A phase lasts while a module is called with the same flags on batches of the same loader. One event per phase.
"""

from . import registered
from .checksums import code
from .gradients import members
from .rows import Coder
from .tensors import has_memory, is_dense, local

MOST_TOLD = 300
MOST_NAMES = 6
WRAPPERS = ("DistributedDataParallel", "DataParallel")
MOST_WEIGHED = 20  # phases with and as many without gradients of one module, whose parameters are looked at
OWN = ("key", "waiting", "latest", "module", "token")


class Listener:
    def __init__(self, bus):
        self.bus, self.events, self.torch = bus, bus.events, bus.torch
        self.phases, self.loader = {}, None
        self.told = self.backwards = 0
        self.optimizers, self.weighed, self.coder = [], {}, Coder(bus.torch)
        self.models, self.called = {}, {}  # number of the model of each root; the innermost root of each model
        self.layers, self.lasts = {}, {}  # of each root: layers that the mode changes, and its last parameter

    def optimizer_born(self, optimizer):
        self.optimizers.append(optimizer)

    def batch(self, loader, batch):
        self.loader = self.bus.number("loader", loader)

    def forward_before(self, module, args, kwargs):
        module = inner(module)
        root = self.bus.number("root", module)
        model = self._model(root, module)
        grad = self.torch.is_grad_enabled()
        key = (self.called[model].training and (grad or self._is_on(root, module)), grad, self.loader)
        phase = self.phases.get(model)
        token = None if grad else values_token(self._last(root, module))
        if phase is None or phase["key"] != key or self._is_swapped(phase, root, token):
            self._end(model)
            user, library = self.bus.sites.here()
            phase = self.phases[model] = dict(
                key=key, model=model, root=root, cls=type(module).__name__, training=key[0], grad=key[1], loader=key[2], site=user,
                lib=library, n=self.bus.steps, until=self.bus.steps, calls=0, steps=0, latest=None, backwards=0, waiting=False,
                module=module, token=token, **flags(self.torch, module), **self._weights(root, module, "weights"),
            )  # fmt: skip
        elif phase.get("weights") and not key[1] and phase["until"] != self.bus.steps:
            phase.update(self._weights(root, module, "weights_until"), until=self.bus.steps)
        phase["token"] = token
        phase["calls"] += 1
        phase["steps"] += phase["latest"] != self.bus.steps  # at which it was called
        phase["latest"] = self.bus.steps
        phase["waiting"] = key[1]

    def backward_before(self, tensors, gradients):
        self.backwards += 1
        for phase in self.phases.values():
            phase["backwards"] += phase["waiting"]
            phase["waiting"] = False

    def _model(self, root, module):
        if root not in self.models:
            model = self.models[root] = self.bus.number("model", core(module))
            known = self.called.get(model)
            if known is None or any(part is module for part in registered.modules(known)):
                self.called[model] = module
        return self.models[root]

    def _is_on(self, root, module):
        """Is any layer in training mode that it makes a difference for, or the core of a model without such layers?"""
        if root not in self.layers:
            self.layers[root] = [one for one in registered.modules(module) if kind(self.torch, one)] or [core(module)]
        return any(layer.training for layer in self.layers[root])

    def _last(self, root, module):
        """Its last parameter, what this rank holds of it."""
        if root not in self.lasts:
            self.lasts[root] = next(reversed(list(registered.parameters(module))), None)
        return self.lasts[root] if self.lasts[root] is None else local(self.lasts[root])

    def _is_swapped(self, phase, root, token):
        """Has it got other values without a step, to be evaluated with those too?"""
        is_same_step = not phase["key"][1] and phase["until"] == self.bus.steps
        return is_same_step and phase["token"] != token and self.weighed.get((root, False), 0) < MOST_WEIGHED

    def _weights(self, root, module, name, at_end=False):
        """How many parameters it has, how many of them are trained, and an exact code of them."""
        kind = (root, self.torch.is_grad_enabled())
        self.weighed[kind] = self.weighed.get(kind, 0) + 1
        if self.weighed[kind] > MOST_WEIGHED and not at_end:
            return {}
        held = {id(p) for optimizer in self.optimizers for p in members(optimizer) if p.requires_grad}
        mine = list(registered.parameters(module))
        return {
            "elements": sum(p.numel() for p in mine), "held": sum(p.numel() for p in mine if id(p) in held),
            name: code(self.coder, mine),
        }  # fmt: skip

    def _end(self, model):
        phase = self.phases.pop(model, None)
        if phase is not None and self.told < MOST_TOLD:
            self.told += 1
            phase["averaged"] = times_averaged(phase["module"])
            self.events("phase", **{name: value for name, value in phase.items() if name not in OWN})

    def close(self, reason):
        for model, phase in list(self.phases.items()):
            if phase.get("weights"):
                phase.update(self._weights(phase["root"], phase["module"], "weights_until", at_end=True))
            self._end(model)
        self.events("phases", all_told=self.told < MOST_TOLD, backwards=self.backwards)


def times_averaged(module):
    """How often an AveragedModel of torch was updated; None for every other module."""
    is_one = any(owner.__name__ == "AveragedModel" for owner in type(module).__mro__)
    return int(module.n_averaged) if is_one and hasattr(module, "n_averaged") else None


def values_token(parameter):
    """Other than before when other values were put into it; without waiting for a device."""
    if parameter is None or parameter.is_inference() or not has_memory(parameter):
        return None
    on_cpu = parameter.device.type == "cpu" and parameter.numel() and is_dense(parameter)
    first = float(parameter.detach().reshape(-1)[0]) if on_cpu else None
    return parameter.data_ptr(), parameter._version, first


def inner(module):
    """The model itself, when it is called through DistributedDataParallel or its like."""
    return module.module if type(module).__name__ in WRAPPERS and hasattr(module, "module") else module


def core(module):
    """Follows children that hold all the parameters there are."""
    while next(registered.parameters(module, recurse=False), None) is None:
        holding = [
            child for child in registered.children(module) if next(registered.parameters(child), None) is not None
        ]
        if len(holding) != 1:
            break
        module = holding[0]
    return module


def kind(torch, module):
    """What the mode switches on and off in this layer itself: "dropouts", "norms" or nothing."""
    if isinstance(module, torch.nn.modules.dropout._DropoutNd):
        return "dropouts" if module.p > 0 else ""
    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
        return "norms" if module.track_running_stats else ""
    if isinstance(module, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
        return "dropouts" if module.dropout > 0 else ""
    return ""


def flags(torch, module):
    """Layers that behave differently in the two modes, those in training mode, and modules whose flag is not that of the whole."""
    facts = {"dropouts": 0, "norms": 0, "dropouts_on": 0, "norms_on": 0}
    other = []
    for name, one in registered.named_modules(module):
        known = kind(torch, one)
        if known:
            facts[known] += 1
            facts[known + "_on"] += one.training
        if one.training != module.training:
            other.append(name)
    return {**facts, "other_flag": len(other), "other_names": other[:MOST_NAMES]}
