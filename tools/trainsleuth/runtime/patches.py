"""Each function here patches one place of torch so that the bus hears of it. Found working on torch 2.0 to 2.13.

Wrappers keep signature, result and exceptions; when the bus sleeps they only pass through.
"""

import functools
import inspect
import itertools
import threading
import types
import weakref
from contextlib import suppress

from . import births
from .direct import DirectCalls
from .loading import own_storage


class Stop:
    """What a listener answers to "batch_before" for the data to end here."""


MOST_CLOSURES = 50  # evaluations of one step; by default L-BFGS takes 25 at most

LOSSES = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
)


def module_call(torch, bus):
    module_class = torch.nn.Module
    original = module_class.__call__
    called = bus.told["module_called"]
    graph_task = torch._C._current_graph_task_id  # -1 unless the engine runs: a checkpoint calls again

    def is_outermost():
        return not bus.depth and bus.awake and not bus.in_loader and graph_task() == -1

    def outermost(module, function, args, kwargs):
        """Calls what stands for this module, and tells of it where no other module is being called."""
        if not is_outermost():
            return function(*args, **kwargs)
        changed = bus.tell("forward_before", module, args, kwargs)
        if changed is not None:
            args, kwargs = changed
        bus.depth = 1
        try:
            output = function(*args, **kwargs)
        except BaseException:
            bus.depth = 0
            bus.tell("forward_broken", module)
            raise
        bus.depth = 0
        bus.tell("forward_after", module, args, kwargs, output)
        return output

    direct = DirectCalls(torch, bus, outermost)

    @functools.wraps(original)
    def __call__(self, *args, **kwargs):
        if bus.depth or (is_outermost() and direct.is_part(self)):
            if called:
                bus.tell("module_called", self)
            bus.depth += 1
            try:
                return original(self, *args, **kwargs)
            finally:
                bus.depth -= 1
        if type(self).__module__ == "torch.nn.modules.loss":
            return original(self, *args, **kwargs)
        return outermost(self, types.MethodType(original, self), args, kwargs)

    module_class.__call__ = __call__


def backward(torch, bus):
    autograd = torch.autograd
    original = autograd.backward
    running = threading.local()  # `roots` of a backward: within a mode torch calls this wrapper once more

    @functools.wraps(original)
    def wrapper(tensors, grad_tensors=None, *args, **kwargs):
        listed = tuple(tensors) if isinstance(tensors, (tuple, list)) else (tensors,)
        outer, roots = getattr(running, "roots", None), list(map(id, listed))
        if roots == outer:
            return original(tensors, grad_tensors, *args, **kwargs)
        running.roots = roots
        try:
            bus.tell("backward_before", listed, grad_tensors)
            result = original(tensors, grad_tensors, *args, **kwargs)
            bus.tell("backward_after", listed)
        finally:
            running.roots = outer
        return result

    autograd.backward = wrapper


def autograd_grad(torch, bus):
    autograd = torch.autograd
    original = autograd.grad
    running = threading.local()  # within a mode torch calls this wrapper once more, and the modes are off meanwhile

    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        if getattr(running, "inside", False):
            return original(*args, **kwargs)
        running.inside = True
        try:
            bus.tell("autograd_grad")
            gradients = original(*args, **kwargs)
        finally:
            running.inside = False
        bus.tell("autograd_grad_after", gradients)
        return gradients

    autograd.grad = wrapper


def optimizer_birth(torch, bus):
    optimizer_class = torch.optim.Optimizer
    original = optimizer_class.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        bus.tell("optimizer_born", self)

    optimizer_class.__init__ = __init__


def optimizer_step(torch, bus):
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    waiting = []  # optimizers whose closure has not returned yet

    def tell_before(optimizer):
        if optimizer in waiting:
            waiting.remove(optimizer)
            bus.tell("step_before", optimizer)

    def before(optimizer, args, kwargs):
        """With a closure the gradients of this step come out of it: "step_before" is told when it first returns. Where one
        step holds a whole training, as that of L-BFGS may, it is told again for each later return.
        """
        waiting.append(optimizer)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not callable(closure):
            tell_before(optimizer)
            return None

        calls = itertools.count(1)

        @functools.wraps(closure)
        def wrapper(*given, **named):
            if next(calls) > MOST_CLOSURES:
                bus.tell("step_after", optimizer)
                waiting.append(optimizer)
            result = closure(*given, **named)
            tell_before(optimizer)
            return result

        if len(args) > 1:
            return (args[0], wrapper, *args[2:]), kwargs
        return args, dict(kwargs, closure=wrapper)

    def after(optimizer, args, kwargs):
        tell_before(optimizer)  # a closure that was never called
        bus.tell("step_after", optimizer)

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def zero_grad(torch, bus):
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        _wrap_zero_grad(owner, bus)


def _wrap_zero_grad(owner, bus):
    original = owner.zero_grad

    @functools.wraps(original)
    def wrapper(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        bus.tell("zero_grad", self)
        return result

    owner.zero_grad = wrapper


def schedulers(torch, bus):
    for owner in births.schedule_classes(torch):
        if "step" in vars(owner):
            _wrap_schedule(owner, bus)


def _wrap_schedule(owner, bus):
    original = owner.step

    @functools.wraps(original)
    def step(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if getattr(self, "_step_count", 2) > 1:  # the constructor's own first step is no step of the program
            bus.tell("schedule", self)
        return result

    owner.step = step


def data_loader(torch, bus):
    from torch.utils.data import dataloader

    original_iter = dataloader.DataLoader.__iter__
    original_next = dataloader._BaseDataLoaderIter.__next__
    loaders = weakref.WeakKeyDictionary()  # of iterators, each with a weak reference

    def loader_of(iterator):
        known = loaders.get(iterator)
        loader = None if known is None else known()
        return iterator if loader is None else loader  # one of a stream has no truth value

    @functools.wraps(original_iter)
    def __iter__(self):
        bus.tell("loader_started", self)
        iterator = original_iter(self)
        loaders[iterator] = weakref.ref(self)
        return iterator

    @functools.wraps(original_next)
    def __next__(self):
        if bus.tell("batch_before", loader_of(self)) is Stop:
            raise StopIteration
        before = bus.in_loader
        bus.in_loader = before or bus.awake  # not for a thread that reads ahead
        try:
            batch = original_next(self)
        except StopIteration:
            bus.tell("loader_ended", loader_of(self))
            raise
        finally:
            bus.in_loader = before
        changed = bus.tell("batch", loader_of(self), batch)
        return batch if changed is None else changed

    dataloader.DataLoader.__iter__ = __iter__
    dataloader._BaseDataLoaderIter.__next__ = __next__


def losses(torch, bus):
    functional = torch.nn.functional
    for name in LOSSES:
        if hasattr(functional, name):
            setattr(functional, name, _wrap_loss(name, getattr(functional, name), bus))


def _wrap_loss(name, original, bus):
    signature = inspect.signature(original)

    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        if not bus.awake or bus.in_loss:
            return original(*args, **kwargs)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return original(*args, **kwargs)  # the user's mistake: let torch say so
        bound.apply_defaults()
        changed = bus.tell("loss_before", name, bound.arguments)
        if changed is not None:
            bound.arguments.update(changed)
        bus.in_loss = True
        try:
            output = original(*bound.args, **bound.kwargs)
        finally:
            bus.in_loss = False
        bus.tell("loss_after", name, bound.arguments, output)
        return output

    return wrapper


def clipping(torch, bus):
    utils = torch.nn.utils
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        wrapper = _wrap_clip(name, getattr(utils, name), bus)
        setattr(utils, name, wrapper)
        setattr(utils.clip_grad, name, wrapper)


def _wrap_clip(name, original, bus):
    signature = inspect.signature(original)

    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        if not bus.awake:
            return original(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        parameters = given["parameters"]
        if hasattr(parameters, "grad"):
            parameters = [parameters]
        given["parameters"] = parameters = list(parameters)  # a generator would be spent by the first reader
        result = original(**given)
        bus.tell("clip", name, parameters, given.get("max_norm", given.get("clip_value")), result)
        return result

    return wrapper


def grad_scaler(torch, bus):
    try:
        from torch.amp.grad_scaler import GradScaler
    except ImportError:  # before torch 2.3
        from torch.cuda.amp.grad_scaler import GradScaler
    for operation in ("scale", "unscale_", "step", "update"):
        _wrap_scaler(GradScaler, operation, bus)


def _wrap_scaler(owner, operation, bus):
    original = getattr(owner, operation)

    @functools.wraps(original)
    def wrapper(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if self.is_enabled():
            bus.tell("scaler", operation, self, args[0] if args else None, result)
        return result

    setattr(owner, operation, wrapper)


def weights_loaded(torch, bus):
    module_class = torch.nn.Module
    original = module_class.load_state_dict

    @functools.wraps(original)
    def load_state_dict(self, state_dict, *args, **kwargs):
        own = set()
        if bus.awake:
            with suppress(Exception):  # modules on no device
                own = own_storage(self)
        result = original(self, state_dict, *args, **kwargs)
        bus.tell("weights_loaded", self, state_dict, result, own)
        return result

    module_class.load_state_dict = load_state_dict


def seeding(torch, bus):
    original = torch.manual_seed

    @functools.wraps(original)
    def manual_seed(seed):
        bus.tell("seeded", seed)
        return original(seed)

    torch.manual_seed = torch.random.manual_seed = manual_seed


def checkpoints(torch, bus):
    save, load = torch.save, torch.load

    @functools.wraps(save)
    def saving(obj, *args, **kwargs):
        bus.tell("saved", obj)
        return save(obj, *args, **kwargs)

    @functools.wraps(load)
    def loading(*args, **kwargs):
        found = load(*args, **kwargs)
        bus.tell("loaded", found)
        return found

    torch.save, torch.load = saving, loading
    torch.serialization.save, torch.serialization.load = saving, loading


PATCHES = (
    ("module call", module_call),
    ("backward", backward),
    ("autograd.grad", autograd_grad),
    ("optimizer birth", optimizer_birth),
    ("optimizer step", optimizer_step),
    ("zero_grad", zero_grad),
    ("learning-rate schedulers", schedulers),
    ("data loader", data_loader),
    ("losses", losses),
    ("gradient clipping", clipping),
    ("gradient scaler", grad_scaler),
    ("weights loaded", weights_loaded),
    ("seeding", seeding),
    ("checkpoints", checkpoints),
    ("data loader birth", births.data_loader_birth),
    ("schedule birth", births.schedule_birth),
)
ESSENTIAL = frozenset({"module call", "backward", "optimizer step"})
