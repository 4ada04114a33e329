"""What a reader of the run sees: writers, trackers, progress bars, and the calls that feed them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from trainsleuth.facts import Class, Event, Expr, External, Function, written

from ..loop.networks import is_factory
from ..program import Program
from ..records import Place

_WRITERS = re.compile(
    r"(?:^|\.)(?:SummaryWriter|TensorBoardLogger|WandbLogger|CSVLogger|MLFlowLogger|CometLogger|NeptuneLogger|"
    r"wandb\.init|mlflow\.start_run|neptune\.init\w*|clearml\.Task\.init|comet_ml\.Experiment|aim\.Run|swanlab\.init|trackio\.init)$"
)
_TRACKED = re.compile(r"(?:^|\.)(?:wandb|mlflow|swanlab|trackio|neptune|comet_ml)\.(?:log\w*|watch|save|summary)$")
_ADDS = frozenset(
    [
        "add_scalar",
        "add_scalars",
        "add_image",
        "add_images",
        "add_audio",
        "add_figure",
        "add_histogram",
        "add_text",
        "add_video",
        "add_graph",
        "log_metrics",
        "log_metric",
        "log_dict",
        "log_image",
        "init_trackers",
        "log_scalar",
        "log_hyperparams",
        "logkv",
        "dumpkvs",
        "log_progress",
        "log_stats",
        "log_summary",
        "add_hparams",
        "put_scalar",
        "put_scalars",
        "record_scalar",
        "record_tabular",
        "dump_tabular",
    ]
)
_LOGGER_CLASS = re.compile(
    r"(?:Log(?:ger|ging)?Callback|Meters?|MetricCounter|Summarizer|Writer|Tracker|Logger|ProgressBar|MetricLogger|SummaryWriter|Loggers|Stats)$"
)
_HOLDER = re.compile(r"(?:logger|writer|tracker|recorder|wandb|tensorboard|tb|mlflow|experiment|summary|log)$", re.I)
_PLAIN = frozenset({"info", "debug", "warning", "warn", "error", "exception", "critical", "close", "flush", "setLevel", "addHandler", "append", "write", "join", "finish", "get", "log", "format", "exp", "split"})  # fmt: skip
_CALLBACK = re.compile(r"callback|on_\w*(?:batch|step|epoch)\w*|report|log_", re.I)
_PRINTS = re.compile(r"(?:log_?)?print|print_?log|info|print_?(?:rank_?)?0|(?:\w+_)?(?:master|main|rank|zero|chief)_?0?_(?:print|info)|(?:print|info)_(?:\w*_)?(?:master|main|once|rank\w*|chief)")  # fmt: skip
_PROGRESS = ("tqdm", "trange", "track", "Progress", "progress_bar", "auto_tqdm")
_LOGGED = re.compile(r"loss|acc\b|lr\b|ppl|metric|epoch|step|iter|log", re.I)
_LOG_NAME = re.compile(
    r"^_?(?:log|report|print|write|record)_?(?:metrics?|stats|scalars?|loss\w*|progress|summary|training\w*|results?|status|images?)?\w*$",
    re.I,
)


_HOOKS = ("log", "log_metrics", "train_log", "eval_log", "on_log", "_log_metric")
_SET_UP = re.compile(
    r"^_?(?:build|default|get|make|create|set_?up|configure|init(?:ialize)?|instantiate|add)_?\w*(?:writers?|loggers?|logging|trackers?|"
    r"tensorboard|wandb|tb_writer|callbacks)$"
)


def places(program: Program) -> Iterator[Place]:
    loops = program.training.loop_lines
    feeders: dict[Function, float] = {}
    for function, weight in program.functions():
        for event in function.events:
            inside = any(function.loops[number].line in loops.get(function, ()) for number in event.block.loops)
            near = inside or function in program.training.spine or _CALLBACK.search(function.name) is not None
            for call in event.calls:
                role, score = _role(program, function, call, near)
                if not role and inside and call.last == "item" and _is_kept(event):
                    role, score = "kept", 0.46
                if not role and inside and _PRINTS.fullmatch(call.last) and call.parts[1:]:
                    role, score = "printed", 0.64
                if role:
                    feeders.setdefault(function, score)
                    yield program.at(function, call.line, role, score * weight**0.4 * (1.0 if near else 0.9))
                if role == "set-up":
                    for target in program.graph.targets(function, call):
                        if isinstance(target, Function):
                            yield program.at(target, target.line, "definition", 0.95 * score * weight**0.4)
    yield from _defined(program)
    yield from _wrappers(program, feeders)
    for cls in program.training.hooked_classes:
        for method in (cls.methods[name] for name in _HOOKS if name in cls.methods):
            yield program.at(method, method.line, "hook", 0.8 * program.weight(method) ** 0.3)
        for method in cls.methods.values():
            yield from _given_back(program, method)
    for choice in program.choices:
        if re.search(r"logger|writer|tensorboard|wandb", f"{choice.key} {choice.value.rpartition('.')[2]}", re.I):
            yield Place(choice.path, choice.line, "configuration", 0.8)


def _is_kept(event: Event) -> bool:
    """losses["adversarial"] = loss.item()"""
    return event.kind in ("assign", "augment") and any(one.kind == "index" for one in event.targets)


def _given_back(program: Program, method: Function) -> Iterator[Place]:
    """What a hook of Lightning before 1.0 hands over to be logged: return {"loss": loss, "log": logs}."""
    returned = [event.value for event in method.events if event.kind == "return" and event.value is not None]
    pairs = [part.parts for value in returned if value.kind == "dict" for part in value.parts if part.kind == "pair"]
    names = {value.text for key, value in pairs if key.text == "log" and value.kind == "path"}
    for event in method.events if names else ():
        for target in event.targets:
            held = target.parts[0] if target.kind == "index" else target
            if held.text in names:
                yield program.at(method, event.line, "tracked", 0.8 * program.weight(method) ** 0.3)


def _role(program: Program, function: Function, call: Expr, near: bool) -> tuple[str, float]:
    last, name = call.last, program.full_name(function, call.callee) if call.callee else ""
    if name and _WRITERS.search(name):
        return "writer", 1.0
    if (name and _TRACKED.search(name)) or last in _ADDS:
        return "tracked", 0.9
    receiver = written(call.receiver) if call.receiver is not None else ""
    if last == "log" and receiver in (
        "self",
        "accelerator",
        "wandb",
        "self.accelerator",
        "run",
        "fabric",
        "self.fabric",
    ):
        return "tracked", 0.9
    if last in _PROGRESS and near:
        return "progress", 0.7
    if (
        (last in ("write", "set_postfix", "set_description", "log", "debug") or _PRINTS.fullmatch(last))
        and near
        and _speaks_of_training(call)
    ):
        return "printed", 0.75 if _PRINTS.fullmatch(last) else 0.65
    target = program.graph.targets(function, call) if call.callee else ()
    if any(isinstance(one, Class) and _LOGGER_CLASS.search(one.name) for one in target):
        return "meter", 0.7
    if near and any(isinstance(one, External) and _LOGGER_OUTSIDE.search(one.name) for one in target):
        return "writer", 0.75
    if (
        last == "update"
        and call.receiver is not None
        and near
        and re.search(r"meter|metric|loss|tracker|stats?$|lp$", receiver)
    ):
        return "meter", 0.6
    if near and last not in _PLAIN and call.receiver is not None and call.receiver.kind == "path":
        if _HOLDER.search(call.receiver.last) and call.parts[1:] and "torch" not in name:
            return "tracked", 0.72
    if near and _LOGS.search(last) and not name.startswith(_NUMERIC) and call.parts[1:]:
        return "logs", 0.66
    if near and _PICTURES.fullmatch(last):
        return "pictures", 0.55
    if near and last in ("append", "update") and _KEPT.search(receiver):
        return "kept", 0.46
    return _set_up_role(call, near, name, receiver, target)


def _set_up_role(call: Expr, near: bool, name: str, receiver: str, target: Collection[object]) -> tuple[str, float]:
    """What prepares logging, and logs nothing yet."""
    last = call.last
    if name in ("logging.FileHandler", "logging.StreamHandler"):
        return "text", 0.5
    if last in _REGISTERS:
        return "registered", 0.7
    if name == "logging.basicConfig" or (last == "set_verbosity" and near):
        return "text", 0.45
    if last == "configure" and receiver.endswith("logger"):
        return "set-up", 0.7
    if _SET_UP.match(last) and not isinstance(next(iter(target), None), External):
        return "set-up", 0.5 if _ONLY_TEXT.search(last) else 0.85
    if last.startswith(("setup", "init", "configure")) and _SET_UP.match(last):
        return "set-up", 0.5  # of a library
    if is_factory(last) and re.search(r"logger|writer", written(call)):
        return "set-up", 0.8
    return "", 0.0


_PICTURES = re.compile(
    r"imwrite|imsave|savefig|save_image|save_?(?:png|gif|figs?|imgs?|images?|image_grid|videos?|audios?|plots?|visuals?|samples?)|write_video|visuali[sz]e(?:_\w+)?"
)
_KEPT = re.compile(
    r"(?:^|[._'\"\[])(?:\w*loss(?:es)?|\w*accs?|\w*metrics?|\w*stats|history|records?|\w*meters?)(?:_list)?['\"\]]*$",
    re.I,
)
_REGISTERS = ("register_training_hooks", "register_logger_hooks", "register_default_hooks")  # of a runner
_LOGGER_OUTSIDE = re.compile(r"\.(?:(?:Periodic|JSON|CSV|Metrics?|Event|Summary|Tensor[Bb]oard\w*|Wandb|Scalar)Writer|(?:\w*Metric)Printer|LoggerHook|LearningRateMonitor|(?:LR|Speed|Optimizer)Monitor)$")  # fmt: skip
_LOGS = re.compile(
    r"^_?(?:\w+_)?log(?:s|ging|_\w+)?$|^_?(?:report|summari[sz]e|print|display|record)(?:_\w+)?$|_logger$|^_?(?:write|save)_(?:metrics?|scalars?|stats|logs?|summar\w+)$",
    re.I,
)
_NUMERIC = ("torch.", "numpy.", "math.", "scipy.", "logging.getLogger", "builtins.")
_ONLY_TEXT = re.compile(r"get_logger|logging$|setup_logger$|root_logger|callbacks$")


def _speaks_of_training(call: Expr) -> bool:
    return any(
        part.kind in ("string", "path") and _LOGGED.search(part.text)
        for argument in call.parts[1:]
        for part in argument.walk()
    )


def _defined(program: Program) -> Iterator[Place]:
    seen: set[Class] = set()
    for function, weight in program.functions():
        owner = program.index.class_of(function)
        if owner is not None and owner not in seen and _LOGGER_CLASS.search(owner.name):
            seen.add(owner)
            yield program.at(owner.body, owner.line, "class", 0.6 * weight**0.5)


def _wrappers(program: Program, feeders: dict[Function, float]) -> Iterator[Place]:
    """Calls of a project function that itself feeds a writer: one hop away."""
    for target in feeders:
        if _LOG_NAME.match(target.name):
            yield program.at(target, target.line, "definition", 0.55 * program.weight(target) ** 0.5)
            for caller, line in program.callers(target):
                if caller not in feeders:
                    yield program.at(caller, line, "logs", 0.6 * program.weight(caller) ** 0.4)
