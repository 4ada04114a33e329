"""Features of the training step that change what a run means: the place of each, or none found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from trainsleuth.facts import Event, Expr, Function, written
from trainsleuth.facts.reading.scopes import bindings

from ..configuration import Truth
from ..configuration.forms.engines import OF_ENGINE
from ..configuration.use.unseen import is_unseen
from ..program import Program
from ..programs.running import is_guarded
from ..recipe.recipes import Setting
from ..records import Part, Place
from .accumulating import accumulations
from .idle_features import idle_places, in_single_steps, loads_without_state, reason
from .set_later import set_later
from .steps import averages_in_place, averages_weights
from .strategies import is_strategy, says_strategy
from .switched import disabled, does_nothing
from .switches import is_where_it_saves, switch_of

FEATURES = ("accumulation", "mixed_precision", "distribution", "clipping", "compile", "ema", "seeds", "resume")
_CALLS = {
    "mixed_precision": r"autocast|GradScaler|ShardedGradScaler|NativeScaler|ApexScaler|scale_loss|initialize_amp|FP16_Optimizer|MixedPrecision(?:Policy)?|bf16|fp16",
    "distribution": r"init_process_group|\w*DistributedDataParallel|DataParallel|FullyShardedDataParallel|fully_shard|DDP|ddp|FSDP|"
    r"DeviceMesh|init_device_mesh|Accelerator|\w*(?:DDP|FSDP|DeepSpeed)(?:Plugin|Strategy)|distributed_init|deepspeed\.initialize|init_distributed\w*|wrap_with_fsdp",
    "clipping": r"clip_grad_norm_?|clip_grad_value_|clip_gradients|clip_grads|dispatch_clip_grad|GradientClipp(?:ing|er)",
    "compile": r"compile",
    "ema": r"\w*EMA|AveragedModel|ExponentialMovingAverage|ModelEma\w*|ModuleDictEMA|update_ema|ema_update|EMAModel|swap_ema_state",
    "seeds": r"manual_seed|manual_seed_all|seed_everything|set_seeds?|set_random_seed|random_seed|set_torch_seed|set_randomness|"
    r"seed_all|seed_all_rng|fix_seeds?|fix_random_seeds?",
}
_SEEDS = ("random.seed", "numpy.random.seed")
_COMPILED = ("torch.compile", "torch.jit.script")
_KEYWORDS = {
    "accumulation": ("gradient_accumulation_steps", "accumulate_grad_batches"),
    "mixed_precision": ("fp16", "bf16", "precision", "mixed_precision"),
    "clipping": ("gradient_clip_val", "max_grad_norm", "grad_clip", "max_norm"),
    "compile": ("torch_compile",),
    "distribution": ("strategy",),
    "seeds": ("seed", "seed_everything"),
    "resume": ("resume_from_checkpoint", "ckpt_path"),
}
_ACCUMULATION = re.compile(
    r"accum(?!ulated_(?:it|step|loss|time|batch|samp))|accu_(?:grad|step|iter|count|num)|update_freq(?!u)|grad_acc|micro_?steps?|iter_size",
    re.I,
)


def _goes_on(call: Expr) -> bool:
    """A trainer is told from which checkpoint to go on: trainer.fit(model, ckpt_path=path)."""
    if call.last not in ("fit", "train"):
        return False
    given = call.keyword("ckpt_path") or call.keyword("resume_from_checkpoint")
    return given is not None and given.text != "None"


_RESUMES = re.compile(
    r"(?:load_state|recover_if_possible|(?:auto_?|maybe_)?resume\w*|restore_(?:checkpoint|state|training)\w*)$"
)
_MODES = ("eval", "train", "to", "cuda", "requires_grad_")
_EMA = re.compile(r"^(?!.*(?:build|init|create|make|get|setup)_ema).*(?:^|[._])ema(?:$|[._])", re.I)


def features(program: Program, truth: Truth | None = None) -> dict[str, Part]:
    """Each feature with the places that show it, best first.

    With `truth`, a place under a test of a setting that is off does not count, and a feature that has no
    other is absent, with the setting and its value.
    """
    found: dict[str, dict[tuple[str, int], Place]] = {name: {} for name in FEATURES}
    for name, place in _signs(program, truth):
        key = (place.path, place.line)
        if key not in found[name] or found[name][key].score < place.score:
            found[name][key] = place
    parts = {}
    for name, places in found.items():
        idle = dict(_idle(program, truth, name, places.values())) if truth else {}
        best = tuple(sorted((p for p in places.values() if p not in idle), key=lambda p: (-p.score, p.path, p.line)))
        if not best:
            if name == "resume" and truth and (partly := loads_without_state(program, truth, idle)) is not None:
                parts[name] = partly
                continue
            why = f"off: {reason(program, truth, idle)}" if idle and truth else NONE_FOUND
            said = _by_setting(program, truth, name)
            parts[name] = Part("absent", why) if said is None or (idle and said.status == "unresolved") else said
            continue
        parts[name] = Part("found", "", best)
    return parts


def _idle(program: Program, truth: Truth, name: str, places: Collection[Place]) -> Iterator[tuple[Place, str]]:
    """The places of a feature that a setting keeps from running or from having an effect, each with the setting."""
    waiting = idle_places(program, truth, places)
    off = {place: waiting.get(place, "") for place in places}
    for place, why in off.items():
        if not why and name == "mixed_precision":
            why = disabled(program, truth, place)
        elif not why and name == "resume":
            why = does_nothing(program, place, places, off)
        if why:
            yield place, why
    if name == "accumulation":
        yield from in_single_steps(program, truth, places).items()


NONE_FOUND = "none found in the code that the entry reaches"


def _by_setting(program: Program, truth: Truth | None, name: str) -> Part | None:
    """What the settings, or the defaults of the framework, say of a feature that no code shows; None for nothing."""
    switch = switch_of(truth, name) if truth is not None else None
    framework = program.training.framework
    unasked = dict(framework.unasked).get(name) if framework is not None else None
    if framework is not None and unasked and (switch is None or not switch.is_set):
        return Part("elsewhere", f"set inside {framework.name}: {unasked} unless told otherwise")
    if switch is None:
        return None
    if not switch.on:
        later = set_later(program, switch)
        return Part("unresolved", f"set: {later}") if later else Part("absent", f"off: {switch}")
    is_left = program.training.framework is not None or switch.key.about == OF_ENGINE
    if is_left and switch.is_set and switch.source.path:
        return Part("found", f"on: {switch}", (Place(switch.source.path, switch.source.line, name, 0.5),))
    if given := tuple(_handed(program, name)):
        return Part("found", f"on: {switch}", given)
    return Part("unresolved", f"set: {switch}; no call that does it is found in the code that the entry reaches")


_HANDED = {"clipping": ("clip_grad", "max_norm", "max_grad_norm")}


def _handed(program: Program, name: str) -> Iterator[Place]:
    """Where it is left to what steps: loss_scaler(loss, optimizer, clip_grad=args.clip_grad); {"gradient_clip_val": 1.0}"""
    words = _HANDED.get(name, ())
    for function, weight in program.functions() if words else ():
        for event in function.events if function.source.holds(_TO_TRAINER) else ():
            for part in event.value.walk() if event.value is not None else ():
                named = part.parts[0].text if part.kind == "pair" else part.text if part.kind == "keyword" else ""
                if named == "gradient_clip_val":
                    yield program.at(function, part.line, name, weight)
    for function, weight in program.functions() if words else ():
        calls = (call for event in function.events for call in event.calls if _STEPS.search(call.last))
        for call in calls:
            if any(call.keyword(word) is not None for word in words):
                yield program.at(function, call.line, name, weight)


_STEPS = re.compile(r"scaler|backward|step", re.I)
_TO_TRAINER = re.compile(rb"gradient_clip_val\b")


def _signs(program: Program, truth: Truth | None) -> Iterator[tuple[str, Place]]:
    for function, event, weight in _statements(program):
        if _is_strategy(event):
            yield "distribution", program.at(function, event.line, "distribution", 1.1 * weight)
        for call in event.calls:
            for name in _by_class(call):
                yield name, program.at(function, call.line, name, 1.2 * weight)
            if call.last == "seed" and _seeds(program, function, call):
                yield "seeds", program.at(function, call.line, "seeds", weight)
            for name in _named(call.last):
                if _counts(program, name, function, call):
                    yield name, program.at(function, call.line, name, weight)
            yield from _keywords(program, function, call, weight)
        yield from _handed_on(program, function, event, weight)
        yield from _accumulates(program, function, event, weight)
        yield from _resumes(program, function, event, weight)
    for function in program.training.steppers:
        for number, line in enumerate(accumulations(program.values, function, program.signs[function])):
            share = program.weight(function) * 0.99**number
            yield "accumulation", program.at(function, line, "accumulation", share)
    yield from _launched(program)
    for setting in program.settings:
        for name in _set(setting):
            if name == "resume" and is_where_it_saves(program, setting.key):
                continue
            if truth is None or program.training.framework is not None or not _is_unseen(truth, setting):
                yield name, Place(setting.path, setting.line, name, 0.5)


def _set(setting: Setting) -> Iterator[str]:
    """Features that a setting of the recipe turns on."""
    last = setting.key.rpartition(".")[2]
    if last in ("accelerator", "distributed_backend") and is_strategy(setting.value):
        yield "distribution"
    if setting.value not in _OFF:
        found = (name for name, keywords in _KEYWORDS.items() if last in keywords)
        yield from (name for name in found if name != "distribution" or says_strategy(setting.key, setting.value))


_OFF = ("", "null", "None", "false", "False", "0", "32", "no")


def _is_unseen(truth: Truth, setting: Setting) -> bool:
    """No code reads it, under whatever name."""
    keys = (key for key in truth.keys if key.source is not None and key.source[1:3] == setting[:2])
    return any(key.uses == "unread" or is_unseen(truth, key) for key in keys)


def _statements(program: Program) -> Iterator[tuple[Function, Event, float]]:
    """Those of reached functions, and those that run when a file of theirs is imported by a name that is not known."""
    for function, weight in program.functions():
        yield from ((function, event, weight) for event in function.events)
    for path in sorted(program.entry.reach.files):
        body = program.index.files[path].body
        if not program.is_reached(body):
            yield from ((body, event, program.weight(body)) for event in body.events if not is_guarded(event))


_LAUNCHES = re.compile(r"\btorchrun\b|\btorch\.distributed\.(?:run|launch)\b|\bdeepspeed\b|--multi_gpu\b")
_ALONE = re.compile(r"--(?:nproc[_-]per[_-]node|num_gpus|num_processes)[ =]1(?!\d)")


def _launched(program: Program) -> Iterator[tuple[str, Place]]:
    """The launcher that starts several processes, where the loop is in a framework that takes them as they are."""
    for command in program.entry.commands[:1] if program.training.framework is not None else ():
        path = command.path or command.script
        if path and _LAUNCHES.search(command.text) and not _ALONE.search(command.text):
            yield "distribution", Place(path, command.line, "distribution", 0.3)


_PATTERNS = {name: re.compile(f"(?:{pattern})$") for name, pattern in _CALLS.items()}


@lru_cache(maxsize=4096)
def _named(last: str) -> tuple[str, ...]:
    """Features that a call of this name is a sign of. Kept: a repository repeats few names very often."""
    return tuple(name for name, pattern in _PATTERNS.items() if last and pattern.match(last))


def _by_class(call: Expr) -> tuple[str, ...]:
    """FP16Optimizer.build_optimizer(...): a class that says what it is for; amp.initialize(...), a module."""
    holder = call.receiver.last if call.receiver is not None else ""
    made = _HALF.fullmatch(holder) is not None or (holder == "amp" and call.last == "initialize")
    return ("mixed_precision",) if made else ()


def _is_strategy(event: Event) -> bool:
    """plugin = LowLevelZeroPlugin(...): an object made to say how the work is shared."""
    made = event.value if event.kind == "assign" else None
    return (
        made is not None
        and made.kind == "call"
        and _STRATEGY.fullmatch(made.last) is not None
        and any(target.last in ("plugin", "strategy") for target in event.targets)
    )


_STRATEGY = re.compile(r"[A-Z]\w*(?:Plugin|Strategy)")
_HALF = re.compile(r"\w*(?:FP16|BF16|(?<![A-Z])AMP(?![A-Z])|MixedPrecision)\w*")


def _counts(program: Program, name: str, function: Function, call: Expr) -> bool:
    if name == "compile":
        return _compiles_itself(call) or bool(call.callee and program.full_name(function, call.callee) in _COMPILED)
    if name == "seeds":  # a generator of one sampler is not the program's seed
        held = call.receiver.last if call.receiver is not None else ""
        return bool(call.parts[1:]) and not (call.last == "manual_seed" and re.search(r"^g$|_g$|gen|rng", held, re.I))
    if name == "mixed_precision":  # autocast(enabled=False) keeps a part out of it, as does dtype=torch.float32
        enabled, dtype = call.keyword("enabled"), call.keyword("dtype")
        return (enabled is None or enabled.text != "False") and (
            dtype is None or dtype.last not in ("float32", "float")
        )
    return True


def _compiles_itself(call: Expr) -> bool:
    """A module that is compiled in place: block.compile(fullgraph=True); Keras gives an optimizer, re a pattern."""
    given = call.parts[1:]
    return call.receiver is not None and all(one.kind == "keyword" and one.text in _OF_COMPILE for one in given)


_OF_COMPILE = ("fullgraph", "dynamic", "backend", "mode", "options", "disable")


def _seeds(program: Program, function: Function, call: Expr) -> bool:
    """random.seed(1), not seed(), nor one that a worker makes of the state that it has: seed(torch.initial_seed() % 2**32)"""
    if not call.arguments or program.full_name(function, call.callee) not in _SEEDS:
        return False
    bound = (one.value for one in bindings(function).get(call.arguments[0].text, ()))
    made = (part for value in (call.arguments[0], *bound) if value is not None for part in value.walk())
    return not any(part.kind == "call" and part.last in _STATES for part in made)


_STATES = ("get_state", "initial_seed")


def _keywords(program: Program, function: Function, call: Expr, weight: float) -> Iterator[tuple[str, Place]]:
    if not call.last[:1].isupper():
        return
    for name, keywords in _KEYWORDS.items():
        if name in ("seeds", "resume"):
            continue
        for keyword in keywords:
            value = call.keyword(keyword)
            if keyword == "max_norm" and (value is None or "." not in value.text):
                continue  # a bound of an embedding's rows
            if value is not None and value.text not in ("None", "False", "0") and _means(name, call, value):
                yield name, program.at(function, value.line, name, 0.9 * weight)


def _means(name: str, call: Expr, value: Expr) -> bool:
    """Not EarlyStopping(strategy="maximize"): a word that shares no work, and no trainer that is given it."""
    shares = value.kind != "string" or is_strategy(value.text)
    return name != "distribution" or shares or call.last.endswith(_TRAINERS)


_TRAINERS = ("Trainer", "Fabric", "CLI")


def _handed_on(program: Program, function: Function, event: Event, weight: float) -> Iterator[tuple[str, Place]]:
    """What a trainer is given by way of a dictionary: kwargs = dict(accumulate_grad_batches=4), {"accumulate_grad_batches": 4},
    kwargs["strategy"] = "ddp".
    """
    if program.training.framework is None or not function.source.holds(_HANDED_ON):
        return
    for part in event.value.walk() if event.value is not None else ():
        name = part.parts[0].text if part.kind == "pair" else part.text if part.kind == "keyword" else ""
        if name in _KEYWORDS["accumulation"] and part.parts[-1].text not in ("None", "False", "0", "1"):
            yield "accumulation", program.at(function, part.line, "accumulation", 0.9 * weight)
        if name in _KEYWORDS["distribution"] and is_strategy(part.parts[-1].text):
            yield "distribution", program.at(function, part.line, "distribution", 0.9 * weight)
    if event.kind == "assign" and event.value is not None and is_strategy(event.value.text):
        keys = (one.parts[1].text for one in event.targets if one.kind == "index")
        if any(key in _KEYWORDS["distribution"] for key in keys):
            yield "distribution", program.at(function, event.line, "distribution", 0.9 * weight)


_HANDED_ON = re.compile(rb"gradient_accumulation_steps|accumulate_grad_batches|[\"']strategy[\"']")


def _accumulates(program: Program, function: Function, event: Event, weight: float) -> Iterator[tuple[str, Place]]:
    """A division of the loss, a test of the step number, or a context that spares the synchronisation."""
    if event.kind in ("assign", "augment", "if", "for") and event.value is not None:
        steps = program.training.loop_lines.get(function)
        if steps is None:
            return
        if any(_says_accumulation(event, part) for part in event.value.walk()):
            strong = event.kind in ("if", "for") or any("loss" in written(target) for target in event.targets)
            yield "accumulation", program.at(function, event.line, "accumulation", (1.0 if strong else 0.6) * weight)
    elif event.kind == "with" and event.value is not None and re.search(r"no_sync|accumulate\(", written(event.value)):
        yield "accumulation", program.at(function, event.line, "accumulation", weight)


def _says_accumulation(event: Event, part: Expr) -> bool:
    """By its name; a count of what is accumulated so far, accumulated_steps, only where the loss itself is divided by it."""
    if part.kind == "binary" and part.text == "/":
        return part.parts[-1].last in _DIVISORS and any(target.last == "loss" for target in event.targets)
    return part.kind == "path" and _ACCUMULATION.search(part.text) is not None


_DIVISORS = ("accumulated_steps", "accumulated_iters", "accumulated_batches")


def _resumes(program: Program, function: Function, event: Event, weight: float) -> Iterator[tuple[str, Place]]:
    for call in event.calls:
        if (
            (
                call.last == "load_state_dict"
                and call.receiver is not None
                and re.search(r"opt|sched|scaler", written(call.receiver))
            )
            or _RESUMES.match(call.last)
            or _goes_on(call)
            or (call.last == "load_from_checkpoint" and _is_of_last(function, call))
            or (call.last == "load" and any("resume" in one.text for one in call.arguments if one.kind == "path"))
        ):
            yield "resume", program.at(function, call.line, "resume", weight)
    if event.kind == "expression" and any(_EMA.search(call.callee) and call.last not in _MODES for call in event.calls):
        yield "ema", program.at(function, event.line, "ema", 0.8 * weight)
    elif averages_in_place(function, event) or (event.block.loops and _averages(program, function, event)):
        yield "ema", program.at(function, event.line, "ema", 0.9 * weight)


def _is_of_last(function: Function, call: Expr) -> bool:
    """last = find_last_checkpoint(folder); Net.load_from_checkpoint(str(last))"""
    read = (part.text.partition(".")[0] for given in call.arguments for part in given.walk() if part.kind == "path")
    held = (one.value for name in read for one in bindings(function).get(name, ()))
    return any(value is not None and value.kind == "call" and _LAST.search(value.last) for value in held)


_LAST = re.compile(r"(?:last|latest|newest)_?(?:\w+_)?(?:ckpt|checkpoint)", re.I)


def _averages(program: Program, function: Function, event: Event) -> bool:
    """accumulate(net_ema, net, decay), a function of the project that moves the parameters of one towards the other's."""
    calls = event.calls if event.kind == "expression" else ()
    targets = (one for call in calls for one in program.graph.targets(function, call))
    return any(isinstance(one, Function) and one is not function and averages_weights(one) for one in targets)
