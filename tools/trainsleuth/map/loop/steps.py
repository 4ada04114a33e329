"""The statements of a training step: backward, optimizer step, zero_grad, clipping, schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Event, Expr, External, Function, Index, Loop, Site, written
from trainsleuth.facts.naming.sites import call_sites
from trainsleuth.facts.training.optimizers import LISTING

from ..calling.engines import ENGINE
from ..calling.values import Values
from ..recipe.branches import Settled, is_not_chosen

_OPTIMIZER = re.compile(
    r"(?:^|[_.\[])(?!adopt|option|opts\b)(?:\w*optim\w*|opt(?:_?\w{0,12})?|adam\w*|sgd|\w+_opt)$", re.I
)
_SCHEDULER = re.compile(r"sched|warmup|annealer|lr_decay", re.I)
_OF_NOISE = re.compile(r"nois|diffus|sampl|dd[ip]m|dpm", re.I)
SAMPLES = 3  # noise_scheduler.step(prediction, timestep, sample)
_SCALER = re.compile(r"scaler", re.I)
_SAYS_SCALER = re.compile(rb"[Ss]caler|SCALER")
_PIPELINE = re.compile(r"pipeline$", re.I)
_ENGINE = re.compile(r"engine", re.I)
CLIP = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_grads", "clip_gradients", "dispatch_clip_grad")
RESCALES = ("multiply_grads", "scale_grads", "rescale_grads", "scale_gradients", "all_reduce_grads", "allreduce_grads", "reduce_gradients", "allreduce_gradients", "average_gradients", "mpi_avg_grads", "sync_gradients")  # fmt: skip
_OF_SCHEDULE = "get_forward_backward_func"
_RATE = frozenset({"lr", "learning_rate"})


class Sign(NamedTuple):
    """One statement of a training step; `role` names which."""

    role: str
    site: Site

    @property
    def function(self) -> Function:
        return self.site.function


def signs(index: Index, values: Values) -> dict[Function, list[Sign]]:
    """Every sign of a training step that the settings let run, by the function it stands in, in source order."""
    table: dict[Function, list[Sign]] = {}
    for sign in _signs(index, values):
        if not is_not_chosen(sign.site.event, Settled(values.known.settings, index, sign.function)):
            table.setdefault(sign.function, []).append(sign)
    for found in table.values():
        found.sort(key=lambda sign: (sign.site.position, sign.site.call.line))
    return table


def _signs(index: Index, values: Values) -> Iterator[Sign]:
    for site in index.calls("backward", "manual_backward"):
        if _is_backward(site):
            yield Sign("backward", site)
    for site in index.calls("train_batch"):  # of an engine: forward, backward and step in one
        receiver = site.call.receiver
        if receiver is not None and not values.callables(site.function, site.call.parts[0]):
            yield Sign("backward", site)
    for site in index.calls("forward_backward_func") if not index.functions_named(_OF_SCHEDULE) else ():
        only = site.call.keyword("forward_only")  # of an installed Megatron: all micro-batches of a step
        if only is None or only.text != "True":
            yield Sign("backward", site)
    for site in index.calls("progress") if _imports(index, "torchrec") else ():  # of a pipeline: the same
        if site.call.arguments and _PIPELINE.search(written(site.call.receiver or site.call)):
            yield Sign("backward", site)
    for site in index.calls("loss_scaler"):  # of timm and its kin: backward, clip and step in one
        if site.call.arguments and not any(isinstance(one, Class) for one in values.of(site.function, site.call.parts[0])):  # fmt: skip
            yield Sign("backward", site)
    for site in index.calls("step", "optimizer_step", "minimize"):
        role = step_role(site, values)
        if role:
            yield Sign(role, site)
    for site in index.calls("zero_grad", "zero_grad_buffer"):
        yield Sign("zero_grad", site)
    for site in index.calls(*RESCALES):
        yield Sign("rescale", site)
    for site in index.calls(*CLIP):
        yield Sign("clip", site)
    for site in index.calls("unscale_", "unscale_gradients"):
        yield Sign("unscale", site)
    for function in index.sites.may_call("update"):
        for site in call_sites(function).get("update", ()) if function.source.holds(_SAYS_SCALER) else ():
            receiver = site.call.receiver
            if receiver is not None and _SCALER.search(written(receiver)):
                yield Sign("scaler update", site)
    for site in index.calls("step_update", "adjust_learning_rate"):
        yield Sign("scheduler step", site)


def _imports(index: Index, package: str) -> bool:
    return any(one.module.partition(".")[0] == package for file in index.files.values() for one in file.imports)


def _is_backward(site: Site) -> bool:
    receiver = site.call.receiver
    if receiver is None or written(receiver) in ("super()", "ctx", "cls"):
        return False
    return not (site.function.name == "backward" and site.function.parameter("ctx") is not None)


def step_role(site: Site, values: Values) -> str:
    """ "optimizer step", "scheduler step", or "" for a step of anything else (an environment, a profiler)."""
    if site.call.last == "optimizer_step":
        return "optimizer step"
    receiver = site.call.receiver
    if receiver is None:
        return ""
    if site.function.name == "optimizer_step" and written(receiver) != "super()":
        return "optimizer step"  # model.step() of an engine
    text = written(receiver)
    if _SCHEDULER.search(text) and (_OF_NOISE.search(text) or len(site.call.arguments) >= SAMPLES):
        return ""
    if _SCHEDULER.search(text) or (site.call.last == "step" and _SCHEDULER.search(_gone_over(site, text))):
        return "scheduler step"
    given = site.call.arguments[0] if site.call.arguments and site.call.last == "step" else None
    if given is not None and given.kind == "path" and _looks_like_optimizer(given.text):
        return "optimizer step"  # of something that scales, whatever it is called
    if site.call.last == "minimize" and any(map(_is_solver, values.of(site.function, receiver))):
        return ""
    if _looks_like_optimizer(text) or _SCALER.search(text):
        return "optimizer step"
    if site.call.last == "minimize":
        return ""
    if _ENGINE.search(text) and not site.call.arguments:
        return "optimizer step"
    if receiver.kind == "path":
        for held in values.of(site.function, receiver):
            if held == ENGINE or is_optimizer(values.index, held):
                return "optimizer step"
            if isinstance(held, External) and ".lr_scheduler." in held.name:
                return "scheduler step"
    return ""


def _is_solver(held: Class | External) -> bool:
    """Of another library, for equations: casadi.Opti()"""
    return isinstance(held, External) and _TRAINS.search(held.name) is None


_TRAINS = re.compile(r"optim|train|torch", re.I)


def schedules_noise(index: Index, held: Class | External | Function) -> bool:
    """A schedule of the noise of a diffusion process, not of the learning rate: diffusers.DDPMScheduler,
    cosine_beta_schedule().
    """
    if isinstance(held, Function):
        return _OF_NOISE.search(held.name) is not None
    if isinstance(held, Class):
        bases = (External(base) for base in index.external_bases(held))
        return index.method(held, "add_noise") is not None or any(schedules_noise(index, base) for base in bases)
    return held.name.startswith("diffusers.") and held.name.rpartition(".")[2][:1].isupper()


_OF_NOISE = re.compile(r"(?:^|_)(?:betas?|noise|sigmas?|alphas?)_(?:\w+_)?sched", re.I)


def _gone_over(site: Site, name: str) -> str:
    """What a loop around the call binds the name to: for lr in lr_scheduler."""
    inside = [site.function.loops[number] for number in site.function.events[site.position].block.loops]
    return next((written(one.source) for one in inside if one.source is not None and _binds(one, name)), "")


def _looks_like_optimizer(text: str) -> bool:
    return _OPTIMIZER.search(re.sub(r"\[.*?\]|\(.*?\)", "", text)) is not None


def is_optimizer(index: Index, held: Class | External) -> bool:
    """A class (of the project or outside) whose instances update parameters."""
    if isinstance(held, Class):
        return any(is_optimizer(index, External(base)) for base in index.external_bases(held))
    last = held.name.rpartition(".")[2]
    if held.name.startswith("torch.optim.") and ".lr_scheduler" not in held.name:
        return last[:1].isupper()
    return bool(_OPTIMIZER_CLASS.search(last))


_OPTIMIZER_CLASS = re.compile(
    r"^(?:\w*Adam\w*|\w*SGD\w*|\w*Lion\w*|\w*Adafactor\w*|\w*LAMB|\w*Lamb|LARS\w*|\w*Muon\w*|\w*Shampoo\w*|\w*Prodigy\w*|RMSprop\w*|"
    r"\w*DAdapt\w*|\w*Optimizer|LBFGS|SophiaG)$"
)


def writes_learning_rate(function: Function, event: Event) -> bool:
    """An assignment like `group["lr"] = value`, in a loop over param_groups: a schedule without a scheduler."""
    for target in event.targets:
        if target.kind == "index" and len(target.parts) == 2 and target.parts[1].text in _RATE:
            base = written(target.parts[0])
            over = [written(loop.source) for loop in function.loops if loop.source is not None and _binds(loop, base)]
            if "group" in base or any("param_groups" in source for source in over):
                return True
    return False


def sets_learning_rate(function: Function) -> bool:
    """By hand, into the groups of an optimizer."""
    return any(writes_learning_rate(function, event) for event in function.events)


_AVERAGED = re.compile(
    r"^(?!.*(?:build|init|create|make|(?<!tar)get|setup|load|apply|restore|copy_to|swap))"
    r".*(?:(?:^|[._])ema(?:$|[._])|soft_update|update_averaged|polyak|momentum_update|update_target)",
    re.I,
)
_NOT_AVERAGING = ("train", "eval", "to", "cuda", "cpu", "parameters", "named_parameters", "buffers", "modules", "requires_grad_")  # fmt: skip


def averages(event: Event) -> bool:
    """A statement that moves averaged or target weights: ema.update(net), p_ema.copy_(...), soft_update(...)."""
    calls = event.calls if event.kind == "expression" else ()
    named = any(_AVERAGED.search(call.callee) and call.last not in _NOT_AVERAGING for call in calls)
    return named or _moves(event)


def averages_weights(function: Function) -> bool:
    """It moves parameters a little towards others: mine.data.mul_(decay).add_(theirs, alpha=1 - decay)."""
    if _OF_AVERAGE.fullmatch(function.owner.rpartition(".")[2]) and function.name in _MOVING and function.loops:
        return len(function.parameters) >= LEAST_OF_AVERAGE
    if not function.source.holds(_MOVES):
        return False
    if function.source.holds(_LOADS) and any(event.block.loops and _blends_into(event) for event in function.events):
        return True
    given = len(function.parameters) >= LEAST_OF_AVERAGE
    return any(event.block.loops and ((given and _moves(event)) or _blends(event)) for event in function.events)


def averages_in_place(function: Function, event: Event) -> bool:
    """A loop over the parameters of two networks moves those of one: for q, k in zip(net.parameters(), ema.parameters());
    or all at once: torch._foreach_mul_(ks, decay), torch._foreach_add_(ks, qs, alpha=1 - decay)
    """
    if any(_moves_all(function, call) for call in event.calls if call.last in _ALL_AT_ONCE):
        return True
    return (_moves(event) or _blends(event)) and any(_goes_over_two(function.loops[one]) for one in event.block.loops)


_OF_OPTIMIZER = re.compile(rb"self\.(?:state\[|param_groups\b)")  # which averages gradients: momentum
_ALL_AT_ONCE = ("_foreach_add_", "_foreach_lerp_")


def _moves_all(function: Function, call: Expr) -> bool:
    if len(call.arguments) < LEAST_OF_AVERAGE or _is_given_gradient(call) or function.source.holds(_OF_OPTIMIZER):
        return False
    moved = call.arguments[0].text
    scaled = (one for event in function.events for one in event.calls if one.last == "_foreach_mul_" and one.arguments)
    return call.last == "_foreach_lerp_" or any(one.arguments[0].text == moved for one in scaled)


def _goes_over_two(loop: Loop) -> bool:
    pairs = [part for part in loop.source.walk() if part.last == "zip"] if loop.source is not None else []
    return any(call.last in LISTING for zipped in pairs for call in zipped.walk())


_OF_AVERAGE = re.compile(r"\w*(?:EMA|Ema|ExponentialMoving|Averaged|MovingAverage)\w*")
_MOVING = ("update", "step", "__call__", "update_parameters", "ema_update", "update_average", "update_ema")
LEAST_OF_AVERAGE = 2  # parameters: what is moved, and towards what
_MOVES = re.compile(rb"\.(?:mul_|lerp_|copy_|load_state_dict)\(|\.data\s*=")
_LOADS = re.compile(rb"load_state_dict\(")


def _moves(event: Event) -> bool:
    """Not towards a gradient: exp_avg.mul_(beta).add_(grad, alpha=1 - beta) is the momentum of an optimizer."""
    moving = (
        call
        for call in event.calls
        if call.last == "lerp_"
        or (
            call.last == "add_"
            and call.receiver is not None
            and call.receiver.kind == "call"
            and call.receiver.last == "mul_"
        )
    )
    return event.kind == "expression" and any(not _is_given_gradient(call) for call in moving)


def _is_given_gradient(call: Expr) -> bool:
    return any(part.last in ("grad", "grads", "d_p") for given in call.parts[1:] for part in given.walk())


def _blends(event: Event) -> bool:
    """mine.data = decay * mine.data + (1 - decay) * theirs.data; mine.copy_(...) of the same."""
    copied = (call.arguments[0] for call in event.calls if call.last == "copy_" and call.arguments)
    into = any(target.kind == "path" and target.last == "data" for target in event.targets)
    sums = [event.value] if into and event.value is not None and event.kind == "assign" else list(copied)
    return any(_is_blend(one) for one in sums)


def _blends_into(event: Event) -> bool:
    """averaged[name] = mine * (1 - decay) + theirs * decay: a table of weights that is loaded after."""
    into = event.kind == "assign" and any(target.kind == "index" for target in event.targets)
    value = event.value
    if not into or value is None or value.kind != "binary" or value.text != "+":
        return False
    factors = [part.parts if part.kind == "binary" and part.text == "*" else () for part in value.parts]
    shares = [written(one) for one in factors[0]], [written(one) for one in factors[-1]]
    return any(rest == f"1 - {share}" for one, other in (shares, shares[::-1]) for rest in one for share in other)


def _is_blend(value: Expr) -> bool:
    """A sum of two products of tensors, or lerp() of two."""
    if value.kind == "call" and value.last == "lerp":
        return _of_tensor(value)
    if value.kind != "binary" or value.text != "+" or len(value.parts) != 2:
        return False
    return all(part.kind == "binary" and part.text == "*" and _of_tensor(part) for part in value.parts)


def _of_tensor(product: Expr) -> bool:
    return any(part.kind in ("path", "attr") and part.last == "data" for part in product.walk())


def _binds(loop: Loop, name: str) -> bool:
    return loop.target is not None and any(part.kind == "path" and part.text == name for part in loop.target.walk())
