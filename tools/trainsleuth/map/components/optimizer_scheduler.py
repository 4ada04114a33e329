"""What changes the parameters and by how much: optimizers, learning-rate schedules, parameter groups."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Event, Expr, External, Function, Site, written
from trainsleuth.facts.reading.scopes import bindings

from ..loop.networks import is_factory
from ..loop.steps import is_optimizer, schedules_noise, sets_learning_rate, step_role, writes_learning_rate
from ..program import Program
from ..records import Place
from ..signs.hyperparameters import of_tables
from ..signs.time_samplers import is_time_sampler

_BUILDER = re.compile(
    r"_?(?:get|build|create|make|configure|init|setup|set_up|prepare|define|construct|instantiate|add|ds_init)\w*(?:optim(?!al)|schedul)\w*|_?update_(?:lr|learning_rate|linear_schedule)\w*",
    re.I,
)
_MAKES = re.compile(r"optim(?!al)|schedul", re.I)
_SCHEDULE = re.compile(r"(?:Scheduler|LR|OneCycle\w*|Annealing\w*|get_\w*schedule\w*|Schedule)$")
_RATE_FUNCTION = re.compile(
    r"^(?:get|adjust|set|cosine|compute|update|calc)_?\w*(?:lr|learning_rate)\w*$|^(?:lr|learning_rate)_(?:lambda|schedule|scheduler|fn|decay)\w*$|^(?:lr|cosine|linear|warmup|step|poly\w*|exp\w*)_\w*sched\w*$",
    re.I,
)


def places(program: Program) -> Iterator[Place]:
    yield from _constructed(program)
    yield from _by_hand(program)
    yield from _stepped(program)
    for body, event in of_tables(program):
        if any(_OF_STEP.search(one.text) for one in event.targets):
            yield program.at(body, event.line, "hyperparameter", 0.7)
    for site, weight in program.calls("step"):
        if program.is_reached(site.function) and step_role(site, program.values) == "scheduler step":
            yield program.at(site.function, site.call.line, "scheduler step", 0.7 * weight**0.3)
    for choice in program.choices:
        if isinstance(choice.target, Class | Function) and schedules_noise(program.index, choice.target):
            continue
        words = choice.key.lower()
        named = choice.value.rpartition(".")[2]
        chosen = is_optimizer(
            program.index, choice.target if isinstance(choice.target, Class) else External(choice.value)
        )
        chosen = chosen or (isinstance(choice.target, Function) and _RATE_FUNCTION.search(named) is not None)
        if chosen or _SCHEDULE.search(named) or any(word in words for word in ("optim", "sched", "lr_")):
            yield Place(choice.path, choice.line, "configuration", 0.9)
            yield from program.chosen_at(choice)
            if choice.target is not None:
                yield program.at_target(choice.target, "definition", 0.97)


def _stepped(program: Program) -> Iterator[Place]:
    """Where the training step uses it, which its loop shows too: a weak sign."""
    step = program.training.step
    if step is not None:
        for sign in program.signs.get(step, ()):
            if sign.role in _USES:
                yield program.at(step, sign.site.call.line, "stepped", 0.4)


_USES = ("optimizer step", "clip")
_OF_STEP = re.compile(r"(?:^|_)(?:lr|learning_rate|weight_decay|momentum|warmup\w*|betas?)(?:_|$)", re.I)


def _constructed(program: Program) -> Iterator[Place]:
    for function, weight in program.functions():
        for position, event in enumerate(function.events):
            if _sorts_parameters(event):
                yield program.at(function, event.line, "groups", 0.58 * weight**0.35)
            for call in event.calls:
                role, score = _role(program, Site(function, position, call))
                if not role and _is_handed_parameters(event, call):
                    role, score = "optimizer", 0.8
                if not role and _is_picked(program, function, call):
                    role, score = "picked", 0.85
                if not role and _SCALER.search(call.last):
                    role, score = "scaler", 0.55
                if role:
                    yield program.at(function, call.line, role, score * weight**0.35)
                    yield from _groups(program, function, call) if role == "optimizer" else ()
                if role == "optimizer" and function.self_name and function.name != "__init__":
                    yield from _calls_of(program, function)
        if (
            _BUILDER.fullmatch(function.name)
            or function.name == "configure_optimizers"
            or (_MAKES.search(function.name) and _gives_optimizer(program, function))
        ):
            yield program.at(function, function.line, "builder", 0.8 * weight**0.4)
        elif _RATE_FUNCTION.search(function.name) and not schedules_noise(program.index, function):
            yield program.at(function, function.line, "schedule", 0.8 * weight**0.4)


def _groups(program: Program, function: Function, call: Expr) -> Iterator[Place]:
    """The project's function that sorts the parameters for an optimizer: AdamW(groups), where groups = by_decay(net)."""
    given = call.arguments[0] if call.arguments else call.keyword("params")
    bound = bindings(function).get(given.text, ()) if given is not None and given.kind == "path" else ()
    made = [given] if given is not None and given.kind == "call" else [one.value for one in bound]
    for value in made:
        for target in program.graph.targets(function, value) if value is not None and value.kind == "call" else ():
            if isinstance(target, Function) and value is not None:
                yield program.at(function, value.line, "groups", 0.55)
                yield program.at(target, target.line, "groups", 0.62)


_SCALER = re.compile(r"^(?:GradScaler|\w*LossScaler|NativeScaler(?:WithGradNormCount)?)$")


def _sorts_parameters(event: Event) -> bool:
    """Groups with rates of their own: [{"params": decayed, "weight_decay": 0.1}, ...], or one that is added later."""
    if any(call.last == "add_param_group" for call in event.calls):
        return True
    value = event.value if event.kind == "assign" else None
    parts = value.walk() if value is not None and value.kind in ("list", "dict", "each") else ()
    return any(part.kind == "pair" and part.parts[0].text == "params" for part in parts)


def _is_picked(program: Program, function: Function, call: Expr) -> bool:
    """A class of optimizers or schedules that is made elsewhere: getattr(torch.optim, name), partial(OneCycle, ...)."""
    first = call.arguments[0] if call.arguments else None
    if first is None or first.kind != "path" or call.last not in ("getattr", "partial"):
        return False
    if call.last == "getattr":
        return program.full_name(function, first.text) in ("torch.optim", "torch.optim.lr_scheduler")
    return _SCHEDULE.search(first.last) is not None and first.last[:1].isupper()


def _calls_of(program: Program, method: Function) -> Iterator[Place]:
    """Where the frame of the program has an object make its optimizer: gaussians.training_setup(args)."""
    for caller, line in program.callers(method):
        if caller in program.training.spine and method not in program.training.spine:
            yield program.at(caller, line, "builder call", 0.75)


_OPTIMIZER = re.compile(r"(?:^|[._])(?:optim|optimizer)(?:_\w+)?$", re.I)


def _is_handed_parameters(event: Event, call: Expr) -> bool:
    """self.optimizer = self.opt_class(self.model.parameters()): a class that somebody else chose."""
    if call is not event.value or event.kind != "assign":
        return False
    named = any(target.kind == "path" and _OPTIMIZER.search(target.text) for target in event.targets)
    return named and any(part.last.endswith(("parameters", "params")) for given in call.parts[1:] for part in given.walk())  # fmt: skip


def _role(program: Program, site: Site) -> tuple[str, float]:
    """What a call builds, from what it resolves to; a bare name counts only for a builder."""
    last = site.call.last
    if not last:
        return "", 0.0
    target = program.resolved(site) or next(iter(program.graph.targets(site.function, site.call)), None)
    if isinstance(target, External | Class):
        name = target.name.rpartition(".")[2]
        if is_optimizer(program.index, target) and site.call.parts[1:]:
            return "optimizer", 1.0 if isinstance(target, External) else 0.85
        if ".lr_scheduler." in target.name and name[:1].isupper() and site.call.parts[1:]:
            return "scheduler", 0.95
        if schedules_noise(program.index, target) or _is_of_another_number(program, target, site.call):
            return "", 0.0
        if _is_of_schedule(program, target) and not name.startswith("set_") and site.call.parts[1:]:
            return "scheduler", 1.0 if _goes_around(program, site) else 0.95 if isinstance(target, External) else 0.8
    if isinstance(target, External) and re.search(r"create_optimizer|create_scheduler|get_scheduler|_schedule", last):
        return ("scheduler" if "sched" in last else "optimizer"), 0.9
    if _CLASS_HANDED.fullmatch(last):
        return "optimizer", 0.88
    if _is_handed_optimizer(site.call) and _is_schedule(program, site):
        return "scheduler step", 0.85
    if _BUILDER.fullmatch(last) and not isinstance(target, External) and not _gives_sampler(program, target):
        return "builder call", 0.88
    if is_factory(last) and re.search(r"optim|sched|(?:^|\W)opt(?:_|\W|$)", written(site.call)):
        return "builder call", 0.95
    if isinstance(target, Function) and _MAKES.search(last) and _gives_optimizer(program, target):
        return "builder call", 0.88
    if isinstance(target, Function) and _is_handed_optimizer(site.call) and sets_learning_rate(target):
        return "schedule call", 0.88
    is_noise = isinstance(target, Function) and schedules_noise(program.index, target)
    if isinstance(target, Function) and _RATE_FUNCTION.search(last) and not is_noise:
        return "schedule call", 0.6
    return "", 0.0


def _is_of_schedule(program: Program, target: External | Class) -> bool:
    """By its own name, or by that of a class that it derives from: WarmupSchedulerV2(WarmupScheduler)."""
    bases = program.index.external_bases(target) if isinstance(target, Class) else ()
    above = [one.name for one in program.index.lineage(target)] if isinstance(target, Class) else [target.name]
    return any(_SCHEDULE.search(name) for name in (*above, *bases))


def _goes_around(program: Program, site: Site) -> bool:
    """A schedule that is handed another, which it steps itself: GradualWarmup(optimizer, after_scheduler=cosine)."""
    given = (one.parts[0] if one.kind == "keyword" else one for one in site.call.parts[1:])
    held = (held for one in given if one.kind == "path" for held in program.values.of(site.function, one))
    return any(isinstance(one, External) and ".lr_scheduler." in one.name for one in held)


def _is_of_another_number(program: Program, target: External | Class, call: Expr) -> bool:
    """A class of the project that neither says a rate or an optimizer nor is given one: a schedule of exploration."""
    if not isinstance(target, Class) or _RATE.search(written(call).encode()):
        return False
    lineage = program.index.lineage(target)
    ours = set(program.index.external_bases(target)) <= {"object", "builtins.object", "abc.ABC"}
    return ours and not any(_RATE.search(one.name.encode()) or one.body.source.holds(_RATE) for one in lineage)


_RATE = re.compile(rb"lr|LR|[Ll]earning_?[Rr]ate|[Oo]ptim|param_group|[Ww]arm_?[Uu]p")
_CLASS_HANDED = re.compile(r"_?opt\w*_(?:class|cls|fn|func|type|factory|ctor|builder)")


def _is_handed_optimizer(call: Expr) -> bool:
    return any("opt" in one.text for one in call.arguments if one.kind == "path")


def _is_schedule(program: Program, site: Site) -> bool:
    """An object of a class of schedules is called: annealing(optimizer)."""
    held = program.values.of(site.function, site.call.parts[0]) if site.call.parts[0].kind == "path" else ()
    return any(isinstance(one, Class) and _SCHEDULE.search(one.name) for one in held)


def _gives_optimizer(program: Program, function: Function) -> bool:
    return any(is_optimizer(program.index, held) for held in program.values.returned(function))


def _gives_sampler(program: Program, target: object) -> bool:
    """create_schedule_sampler(), of the time steps of a diffusion."""
    held = program.values.returned(target) if isinstance(target, Function) else ()
    return any(isinstance(one, Class) and is_time_sampler(program, one) for one in held)


def _by_hand(program: Program) -> Iterator[Place]:
    for function, weight in program.functions():
        for event in function.events:
            if writes_learning_rate(function, event):
                yield program.at(function, event.line, "learning rate", 0.85 * weight**0.3)
                if function.parameters and not function.owner and function not in program.training.spine:
                    yield program.at(function, function.line, "schedule", 0.75 * weight**0.4)
