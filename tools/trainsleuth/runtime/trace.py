"""Listener: the order of what the program does, with places; one "op" event each while detail lasts.

After `detail` steps only one "tick" per step is written: loss, learning rates.
"""

import sys
import weakref
from contextlib import suppress

from . import graph, registered
from .backwards import LossValue
from .gradients import members
from .loading import Files, brought
from .tensors import local, scalar, shape, tensors_in

MOST_PHASES = 6  # optimizers whose birth begins a new phase
MOST_LOADS = 100  # of state dicts that are looked into


class Listener:
    def __init__(self, bus):
        self.bus, self.events = bus, bus.events
        self.detail = bus.experiment.get("detail", 24)  # steps told in full
        self.judge = bus.experiment.get("judge", 6)  # steps whose gradients are read at each backward
        self.optimizers, self.roots, self.loaders = {}, {}, set()
        self.given = weakref.WeakSet()  # modules that weights were loaded into, with their parts
        self.loaded_into, self.loads = weakref.WeakKeyDictionary(), 0
        self.files = Files(bus.torch)
        self.kept = []  # referenced, so that an id is never used twice
        self.value, self.phase = LossValue(), 0
        self.losses, self.held = [], {}  # gradients of each optimizer as the backward found them
        self.left = {}  # and as the last backward, clipping or unscaling left them

    # -- names for objects -----------------------------------------------------------------

    def optimizer(self, optimizer):
        number = self.optimizers.get(id(optimizer))
        if number is None:
            number = self.optimizers[id(optimizer)] = len(self.optimizers)
            self.kept.append(optimizer)
            user, library = self.bus.sites.here()
            self.events("optimizer", optimizer=number, cls=type(optimizer).__name__, site=user, lib=library,
                        groups=[_group(group) for group in optimizer.param_groups])  # fmt: skip
        return number

    def root(self, module):
        number = self.bus.number("root", module)
        if number not in self.roots:
            self.roots[number] = weakref.ref(module)
            user, library = self.bus.sites.here()
            self.events("root", root=number, cls=type(module).__name__, site=user, lib=library,
                        parameters=sum(p.numel() for p in registered.parameters(module)),
                        modules=sum(1 for _ in registered.modules(module)))  # fmt: skip
        return number

    @property
    def detailed(self):
        return self.bus.steps - self.phase < self.detail

    def op(self, name, **fields):
        user, library = self.bus.sites.here()
        self.events("op", op=name, n=self.bus.steps, site=user, lib=library, **fields)

    # -- moments ---------------------------------------------------------------------------

    def optimizer_born(self, optimizer):
        self.optimizer(optimizer)
        if len(self.optimizers) <= MOST_PHASES:
            self.phase = self.bus.steps  # a new phase of the program is told in full again

    def loader(self, loader):
        number = self.bus.number("loader", loader)
        if number not in self.loaders:
            self.loaders.add(number)
            user, library = self.bus.sites.here()
            self.events("loader", loader=number, site=user, lib=library, **_loader(loader))
        return number

    def loader_started(self, loader):
        self.loader(loader)

    def batch(self, loader, batch):
        number = self.loader(loader)
        if self.detailed:
            self.op("batch", loader=number, shapes=_shapes(batch))

    def forward_before(self, module, args, kwargs):
        number = self.root(module)
        if self.detailed and not self._is_preparation(module, args, kwargs):
            self.op("forward", root=number, training=module.training, grad=self.bus.torch.is_grad_enabled(),
                    shapes=_shapes((args, kwargs)))  # fmt: skip

    def forward_after(self, module, args, kwargs, output):
        if self.detailed and self._is_preparation(module, args, kwargs) and _has_graph(output):
            self.op(
                "forward", root=self.root(module), training=module.training, grad=True, shapes=_shapes((args, kwargs))
            )

    def _is_preparation(self, module, args, kwargs):
        """Nothing in it can learn, nothing that enters it has learned: a transform of the data."""
        return next(registered.parameters(module), None) is None and not _has_graph((args, kwargs))

    def loss_after(self, name, arguments, output):
        if self.detailed:
            grad = bool(getattr(output, "requires_grad", False))
            self.op("loss", fn=name, value=scalar(output), inside=self.bus.depth > 0, grad=grad)

    def backward_before(self, tensors, gradients):
        value = self.value.of(tensors)
        self.losses.append(value)
        if self.detailed:
            judged, self.held, weights, elsewhere = {}, {}, {}, None
            if self.bus.steps - self.phase < self.judge:
                elsewhere = self._leads_elsewhere(tensors)
                weights = {str(self.optimizer(o)): size_of(self.bus.torch, o) for o in self.kept_optimizers()}
                judged = {
                    str(self.optimizer(o)): gradient_state(self.bus.torch, o)["state"] for o in self.kept_optimizers()
                }
                self.held = {self.optimizer(o): versions(members(o)) for o in self.kept_optimizers()}
            self.op("backward", value=value, grads=judged, weights=weights, plain_mean=graph.is_plain_mean(tensors),
                    elsewhere=elsewhere)  # fmt: skip

    def _leads_elsewhere(self, tensors):
        """To something that keeps a gradient and that no optimizer holds?"""
        kept = self.kept_optimizers()
        if not kept:
            return None
        held = {id(p) for one in kept for p in members(one)}
        leaves = map(graph.leaf_of, graph.nodes_from(tensors))
        return any(leaf is not None and id(leaf) not in held for leaf in leaves)

    def kept_optimizers(self):
        return [thing for thing in self.kept if id(thing) in self.optimizers]

    def backward_after(self, tensors):
        if self.detailed:
            optimizers = {self.optimizer(o): o for o in self.kept_optimizers()} if self.held else {}
            reached = [n for n, o in optimizers.items() if self.held.get(n) != versions(members(o))]
            self._leave_gradients()
            self.events("op", op="backward_done", n=self.bus.steps, reached=reached)

    def _leave_gradients(self):
        if self.bus.steps - self.phase < self.judge:
            self.left = {self.optimizer(o): versions(members(o)) for o in self.kept_optimizers()}

    def autograd_grad(self):
        if self.detailed:
            self.op("autograd_grad")

    def zero_grad(self, owner):
        if self.detailed:
            if id(owner) in self.optimizers:
                self.op("zero_grad", optimizer=self.optimizers[id(owner)])
            else:
                if hasattr(owner, "param_groups"):  # Lightning's proxy, which shares them with the optimizer within
                    theirs = _member_ids(owner)
                else:
                    theirs = {id(p) for p in registered.parameters(owner)} if registered.is_module(owner) else set()
                cleared = [self.optimizer(o) for o in self.kept_optimizers() if theirs & _member_ids(o)]
                self.op("zero_grad", optimizers=cleared, module=type(owner).__name__)

    def clip(self, name, parameters, limit, norm):
        if self.detailed:
            self._leave_gradients()
            state = gradient_state_of(self.bus.torch, parameters)
            touched = {id(p) for p in parameters}
            mine = [self.optimizer(o) for o in self.kept_optimizers() if touched & _member_ids(o)]
            self.op("clip", fn=name, limit=scalar(limit), norm=scalar(norm), grads=state["state"], optimizers=mine)

    def scaler(self, operation, scaler, given, result):
        self.value.scaler(operation, given, result)
        if self.detailed:
            if operation == "unscale_":
                self._leave_gradients()
            self.op("scaler_" + operation.rstrip("_"), scale=scaler.get_scale() if operation == "update" else None)

    def step_before(self, optimizer):
        number = self.optimizer(optimizer)
        if self.detailed:
            state = gradient_state(self.bus.torch, optimizer)
            is_as_left = self.left.get(number) == versions(members(optimizer))
            self.op(
                "step",
                optimizer=number,
                lr=rates(optimizer),
                grads=state["state"],
                norm=state["norm"],
                as_left=is_as_left,
            )

    def step_after(self, optimizer):
        if self.detailed:
            self.events("op", op="step_done", n=self.bus.steps, optimizer=self.optimizer(optimizer))

    def schedule_born(self, scheduler):
        number = self.optimizers.get(id(getattr(scheduler, "optimizer", None)))
        user, library = self.bus.sites.here()
        self.events(
            "schedule_born", n=self.bus.steps, cls=type(scheduler).__name__, optimizer=number, site=user, lib=library
        )

    def schedule(self, scheduler):
        if self.detailed:
            optimizer = getattr(scheduler, "optimizer", None)
            self.op("schedule", cls=type(scheduler).__name__, lr=rates(optimizer) if optimizer is not None else None,
                    optimizer=self.optimizers.get(id(optimizer)))  # fmt: skip

    def weights_loaded(self, module, state, result, own):
        self.given.update(registered.modules(module))
        told, number = {}, self.loaded_into.setdefault(module, len(self.loaded_into))
        self.loads += 1
        if self.loads <= MOST_LOADS:
            with suppress(Exception):  # states of a kind of their own
                told = brought(self.bus.torch, module, state, result, own)
                if told["own"] == told["keys"]:
                    told["holds"] = self.files.are_in(state)
        self.op("weights_loaded", cls=type(module).__name__, module=number, **told)

    def loaded(self, what):
        self.files.read(what)
        self.op("weights_loaded", cls="torch.load")

    def boundary(self, step):
        lrs = {str(self.optimizers[id(o)]): rates(o) for o in self.kept_optimizers()}
        self.events("tick", n=step, losses=self.losses[-64:], lr=lrs)
        self.losses = []

    def close(self, reason):
        self.events("modules", loaded=sorted(self.bus.sites.loaded()))
        known = ((number, module()) for number, module in self.roots.items())
        self.events("given_weights", other_files="safetensors" in sys.modules, roots=[
            number for number, module in known
            if module is None or any(part in self.given for part in registered.modules(module))
        ])  # fmt: skip


def rates(optimizer):
    """Learning rate of each parameter group."""
    return [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]


def _member_ids(optimizer):
    return set(map(id, members(optimizer)))


def versions(parameters):
    """Other than before when something was added to one of the gradients."""
    return [p.grad if p.grad is None else (id(p.grad), p.grad._version) for p in parameters]


def size_of(torch, optimizer):
    """A number that changes with the parameters; None where they cannot be read together."""
    held = [local(p.detach()) for p in members(optimizer)]
    try:
        norms = torch._foreach_norm(held) if held else ()
        return float(torch.stack([norm.double().to(norms[0].device) for norm in norms]).sum()) if norms else None
    except (RuntimeError, TypeError):
        return None


def gradient_state(torch, optimizer):
    return gradient_state_of(torch, members(optimizer))


def gradient_state_of(torch, parameters):
    """ "none" when no parameter has a gradient, "zero" when all are zero, else "some"; and the total norm.

    Of gradients that are spread over ranks only this rank's part counts: the sum would be a collective.
    """
    dense = [local(p.grad) for p in parameters if p.grad is not None and not p.grad.is_sparse]
    sparse = any(p.grad is not None and p.grad.is_sparse for p in parameters)
    if not dense:
        return {"state": "some" if sparse else "none", "norm": None}
    norms = torch.stack([norm.float().cpu() for norm in torch._foreach_norm(dense)])
    norm = float(norms.norm())
    return {"state": "zero" if norm == 0.0 and not sparse else "some", "norm": norm}


def _group(group):
    keys = ("lr", "weight_decay", "momentum", "betas", "eps", "maximize")
    facts = {key: group[key] for key in keys if key in group and not hasattr(group[key], "numel")}
    facts["tensors"] = len(group["params"])
    facts["numel"] = sum(p.numel() for p in group["params"])
    facts["trainable"] = sum(p.numel() for p in group["params"] if p.requires_grad)
    return facts


def _loader(loader):
    facts = {"cls": type(loader).__name__}
    try:
        facts["batches"] = len(loader)
    except (TypeError, NotImplementedError):
        facts["batches"] = None  # an iterable dataset has no length
    for name in ("batch_size", "num_workers", "drop_last"):
        facts[name] = getattr(loader, name, None)
    sampler, dataset = getattr(loader, "sampler", None), getattr(loader, "dataset", None)
    facts["sampler"] = type(sampler).__name__
    facts["replacement"] = bool(getattr(sampler, "replacement", False))
    facts["dataset"] = type(dataset).__name__
    return facts


def _has_graph(value):
    return any(tensor.requires_grad for tensor in tensors_in(value))


def _shapes(value):
    return [shape(tensor) for tensor in list(tensors_in(value))[:12]]
