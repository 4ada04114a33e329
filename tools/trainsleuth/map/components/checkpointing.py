"""What is kept and how it comes back: saves, loads, resumes, and the functions that wrap them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from trainsleuth.facts import Class, Event, Expr, External, FileFacts, Function, bindings, written

from ..loop.networks import is_dataset, is_factory
from ..program import Program
from ..records import Place

_SAVES = re.compile(
    r"^(?:torch\.save|torch\.distributed\.checkpoint\.save\w*|safetensors\.torch\.save\w*|xm\.save|"
    r"torch_xla\.core\.xla_model\.save|tf_save|flashy\.state\.\w*save\w*)$"
)
_LOADS = re.compile(
    r"^(?:torch\.load|torch\.hub\.load_state_dict_from_url|safetensors\.torch\.load\w*|torch\.distributed\.checkpoint\.load\w*)$"
)
_METHODS = {
    "save_pretrained": 0.9,
    "save_state": 0.9,
    "load_state": 0.85,
    "load_state_dict": 0.75,
    "save_checkpoint": 0.9,
    "load_checkpoint": 0.85,
    "load_from_checkpoint": 0.85,
    "ModelCheckpoint": 0.95,
    "register_stateful": 0.6,
    "save_model": 0.85,
    "resume_from_checkpoint": 0.8,
    "register_for_checkpointing": 0.7,
    "add_recoverable": 0.8,
    "recover_if_possible": 0.85,
    "resume_or_load": 0.85,
}
_NAMED = re.compile(
    r"(?:save|(?<!off)load|resume|restore|write)_?\w*(?:checkpoint|ckpt|state|model|weights|snapshot|milestone|networks?$)\w*|(?:configure|set_?up|init|build|create|make|get)_\w*(?:checkpoint|ckpt)\w*|checkpoint_path|^(?:save|load|restore|resume)$",
    re.I,
)
# enough for a function that saves itself
_DIRECT = re.compile(r"save|snapshot|(?<!off)load(?!er)|restore|resume|restart", re.I)
_NOT = re.compile(
    r"image|audio|video|figure|plot|wav|json|yaml|text|dataset|config|sample|pickle|vocab|file|codes|cache|writer|batch|example",
    re.I,
)


def places(program: Program) -> Iterator[Place]:
    savers: dict[Function, str] = {}
    for function, weight in program.functions():
        is_of_model = program.index.class_of(function) in program.training.hooked_classes
        for event in function.events:
            for call in event.calls:
                role, score = _role(program, function, call)
                if role and not _is_of_data(program, function):
                    if role == "keeper":
                        savers.setdefault(function, "save")
                        yield from _keeper_class(program, function, call, score * weight**0.5)
                    if role in ("save", "load", "restore"):
                        savers.setdefault(function, "save" if role == "save" else "load")
                    yield program.at(function, call.line, role, score * weight**0.4)
            yield from _checkpoint_keyword(program, function, event.calls, weight)
            if (state := _gathered_state(event)) is not None:
                yield program.at(function, state.line, "state", 0.7 * weight**0.4)
            if _is_resume(event):
                yield program.at(function, event.line, "resume", 0.66 * weight**0.4)
            elif _asks_for_best(event):
                yield program.at(function, event.line, "best", 0.47 * weight**0.4)
            elif _says_where(event):
                yield program.at(function, event.line, "where", 0.46 * weight**0.4)
            elif is_of_model and any(call.last == "save_hyperparameters" for call in event.calls):
                yield program.at(function, event.line, "hyperparameters", 0.5 * weight**0.4)
    yield from _wrappers(program, savers)
    yield from _restorers(program, savers)
    for choice in program.choices:
        if re.search(r"checkpoint|ckpt", f"{choice.key} {choice.value.rpartition('.')[2]}", re.I):
            yield Place(choice.path, choice.line, "configuration", 0.8)


_RESUME = re.compile(r"(?:^|\.)(?:resume|resume_from|resume_path|resume_from_checkpoint|load_from|init_from)$")


def _is_resume(event: Event) -> bool:
    """Asks whether to go on from a checkpoint, or tells a framework to."""
    if event.kind == "if" and event.value is not None:
        return any(part.kind == "path" and _RESUME.search(part.text) for part in event.value.walk())
    return event.kind == "assign" and any("." in one.text and _RESUME.search(one.text) for one in event.targets)


def _asks_for_best(event: Event) -> bool:
    """if accuracy > best_accuracy, below which the best is kept."""
    asked = event.value if event.kind == "if" else None
    if asked is None or asked.kind not in ("compare", "call"):
        return False
    return any(_BEST.search(one.last) for one in asked.walk() if one.kind == "path")


_BEST = re.compile(r"^(?:\w+_)?best(?:_\w+)?$|is_best", re.I)


def _says_where(event: Event) -> bool:
    """Names the folder or the file of the checkpoints: args.save_dir = os.path.join(args.out, name)."""
    made = event.kind == "assign" and event.value is not None and event.value.kind in ("call", "binary", "format")
    return made and any(_WHERE_KEPT.search(one.last) for one in event.targets if one.kind in ("path", "attr"))


_WHERE_KEPT = re.compile(
    r"^_?(?:model_?|best_?|last_?|latest_?)?(?:save|ckpts?|ckp|checkpoints?|weights?|snapshots?|saved_?model|best_model)s?_?(?:dir|path|file|folder|name|root|filename)s?$",
    re.I,
)


def _restorers(program: Program, savers: dict[Function, str]) -> Iterator[Place]:
    """What brings back what a method saves, beside it in its class: the run may not ask for it."""
    beside = (one for one, role in savers.items() if role == "save")
    homes = dict.fromkeys(
        chain.from_iterable((program.index.class_of(one), program.index.files.get(one.path)) for one in beside)
    )
    for home in homes:
        for method in _functions_of(home):
            if not program.is_reached(method) and _RESTORES.match(method.name) and method.source.holds(_BRINGS):
                yield program.at(method, method.line, "load defined", 0.56)
                lines = (call.line for event in method.events for call in event.calls if call.last in _LOADERS)
                yield from (program.at(method, line, "load", 0.5) for line in islice(lines, 1))


def _functions_of(home: Class | FileFacts | None) -> Iterable[Function]:
    """The methods of a class, or the functions at the top of a file that say what they restore."""
    if isinstance(home, FileFacts):
        return [one for one in home.functions.values() if not one.owner and not one.outer and _is_named(one)]
    return home.methods.values() if home is not None else ()


_RESTORES = re.compile(r"_?(?:load|resume|restore)(?:_|$)")
_BRINGS = re.compile(rb"load_state_dict\(|torch\.load\(|from_pretrained\(")
_LOADERS = ("load", "load_state_dict", "from_pretrained")


def _gathered_state(event: Event) -> Expr | None:
    """What a checkpoint will hold, gathered ahead of its save: state = {"model": model.state_dict(), ...}."""
    if event.value is None or event.kind not in ("assign", "expression"):
        return None
    gathers = event.value.kind == "dict" or event.value.last in ("dict", "update")
    named = [part for part in event.value.walk() if part.kind in ("pair", "keyword")] if gathers else []
    held = any(one.kind == "call" and one.last == "state_dict" for part in named for one in part.walk())
    return event.value if held else None


def _keeper_class(program: Program, function: Function, call: Expr, score: float) -> Iterator[Place]:
    for target in program.graph.targets(function, call):
        if isinstance(target, Class):
            yield program.at_target(target, "class", 0.9 * score)


_DUMPS = re.compile(r"^(?:pickle|cPickle|dill|cloudpickle|joblib)\.(?:dump|load)$")
_STATE = re.compile(
    r"snapshot|model|network|ckpt|checkpoint|weights|policy|agent|params|state|(?:^|_)nets?(?:_|$)", re.I
)


def _pickled(name: str, call: Expr) -> str:
    """The state of training through pickle: by the names of what is written, or of the file."""
    if not _DUMPS.match(name) or not any(
        part.kind in ("path", "string") and _STATE.search(part.text) for part in call.walk()
    ):
        return ""
    return "save" if name.endswith("dump") else "load"


def _is_of_data(program: Program, function: Function) -> bool:
    """Reads or writes something other than the state of training, as a data set does that keeps what it prepared."""
    if _NOT.search(function.owner):
        return True
    owner = program.index.class_of(function)
    if owner is not None and is_dataset(program.index, owner) and not _BUFFER.search(owner.name):
        return True
    return _MOVES.match(function.name) is not None and _NOT.search(_moved(function.name)) is not None


def _moved(name: str) -> str:
    """What a function says that it moves, without where to: save_to_zip_file."""
    return _WHERE.sub("", name)


_WHERE = re.compile(r"_(?:to|from|into)_\w*$")


_BUFFER = re.compile(r"Buffer$|Memory$")  # what an agent has seen is part of the state of its training
_MOVES = re.compile(r"_?(?:load|save|read|write|get|dump|open)_")


_KEEPER = re.compile(
    r"(?:Checkpoint(?:er|Saver|Manager|Callback|Hook|Connector|IO|Handler)?|Saver(?:Hook|Callback)?|CheckpointConfig)$"
)
_OF_RESULTS = re.compile(r"predict|result|output|feature|embed|sample|image|latent|token|stats|metric", re.I)
_HELD = re.compile(r"checkpoint(?:er|_manager|_saver|_io|s)?$|ckpt(?:er|_manager)?$|(?:^|[._])saver$|recoverer$", re.I)


def _kept(call: Expr, targets: tuple[Class | Function | External, ...]) -> tuple[str, float]:
    """An object whose work is to keep checkpoints: where it is made, and what it is asked for."""
    if call.last[:1].isupper() and _KEEPER.search(call.last) and not any(isinstance(t, Function) for t in targets):
        return "keeper", 0.92
    if call.receiver is not None and call.receiver.kind == "path" and _HELD.search(call.receiver.text):
        if call.last.startswith(("add", "register")):
            return "", 0.0
        if _DIRECT.search(call.last) or re.search(r"recover|step|write", call.last):
            return ("load" if re.search(r"(?<!off)load|resum|restor|recover", call.last) else "save"), 0.9
    return "", 0.0


def _is_chosen_keeper(function: Function, call: Expr) -> bool:
    """made(every_n_epochs=1), where made = EMAModelCheckpoint or made = ModelCheckpoint stands above."""
    if not call.callee or "." in call.callee or call.callee[:1].isupper():
        return False
    made = [one.value for one in bindings(function).get(call.callee, ())]
    return bool(made) and all(
        one is not None and one.kind == "path" and one.last[:1].isupper() and _KEEPER.search(one.last) for one in made
    )


def _role(program: Program, function: Function, call: Expr) -> tuple[str, float]:
    name = program.full_name(function, call.callee) if call.callee else ""
    if name.startswith("torch.utils.checkpoint") or _runs_again(call):
        return "", 0.0
    if name and _SAVES.match(name):
        what = written(call.arguments[0]) if call.arguments else ""
        if _STATE.search(what):
            return "save", 1.0
        return ("", 0.0) if _OF_RESULTS.search(what) else ("save", 0.85)
    if name and _LOADS.match(name):
        return "load", 0.85
    if name and (role := _pickled(name, call)):
        return role, 0.75
    if is_factory(call.last) and re.search(r"checkpoint|ckpt", written(call)):
        return "save", 0.8
    if call.last in _METHODS:
        if call.receiver is not None and written(call.receiver).startswith("super()"):
            return "", 0.0
        if call.last.startswith(("add_", "register_")):
            return "registered", _METHODS[call.last]
        if call.last == "load_state_dict":  # target.load_state_dict(net.state_dict()): no file holds what moves there
            handed = call.arguments[0].last == "state_dict" if call.arguments else False
            return ("", 0.0) if handed else ("restore", _METHODS[call.last])
        return ("load" if re.search("load|resume|recover_if", call.last) else "save"), _METHODS[call.last]
    if _is_chosen_keeper(function, call):
        return "save", _METHODS["ModelCheckpoint"]
    targets = program.graph.targets(function, call)
    kept = _kept(call, targets)
    return kept if kept[0] else _by_name(call) if not _is_outside(targets) else ("", 0.0)


def _runs_again(call: Expr) -> bool:
    """checkpoint(block, *args): it keeps nothing, and runs a part again in backward."""
    spread = any(part.kind == "star" for part in call.parts[1:])
    return call.callee == "checkpoint" and (spread or call.keyword("use_reentrant") is not None)


def _is_outside(targets: tuple[Class | Function | External, ...]) -> bool:
    """np.save, json.load: what they move is told by other rules."""
    return bool(targets) and all(isinstance(one, External) and one.name.partition(".")[0] in _FILES for one in targets)


_FILES = ("numpy", "json", "yaml", "pickle", "scipy", "joblib", "torchaudio", "torchvision", "datasets")


_SPEAKS = re.compile(r"(?:^|_)(?:save|(?<!off)load|restore|resume|write)\w*_(?:\w*checkpoint|ckpt|snapshot|weights|model|states?|networks?$)\w*$|(?:checkpoint|ckpt)_(?:and|or)_|(?:checkpoint|ckpt)$", re.I)  # fmt: skip


def _by_name(call: Expr) -> tuple[str, float]:
    """A function that says so, whatever it is: save_checkpoint_and_time(...)."""
    if _SPEAKS.search(call.last) and not call.last[:1].isupper() and not _NOT.search(call.last):
        return ("load" if re.search(r"(?<!off)load|restor|resum", call.last) else "save"), 0.72
    own = call.receiver is not None and call.receiver.text in (
        "self",
        "trainer",
        "self.trainer",
        "agent",
        "accelerator",
        "self.accelerator",
    )
    if call.last == "save" and own:
        return "save", 0.85 if call.receiver is not None and call.receiver.last == "accelerator" else 0.6
    if call.last in _MOVED and call.receiver is not None and call.receiver.last in ("learn", "learner"):
        return _MOVED[call.last]
    return _of_state(call)


_MOVED = {"save": ("save", 0.75), "load": ("load", 0.7), "load_raw": ("load", 0.7), "restore": ("load", 0.7)}


def _of_state(call: Expr) -> tuple[str, float]:
    """Something that is not known is told to save a state, or to go on from one: fabric.load(resume, state)."""
    names = [one.text for one in call.arguments if one.kind == "path"] if call.receiver is not None else []
    said = any(_STATE.search(name) or _RESUME.search(name) for name in names)
    return _MOVED[call.last] if said and call.last in _MOVED else ("", 0.0)


def _checkpoint_keyword(
    program: Program, function: Function, calls: tuple[Expr, ...], weight: float
) -> Iterator[Place]:
    for call in calls:
        if call.last in ("fit", "test", "train") and any(
            call.keyword(name) for name in ("ckpt_path", "resume_from_checkpoint")
        ):
            yield program.at(function, call.line, "resume", 0.85 * weight**0.4)


def _wrappers(program: Program, savers: dict[Function, str]) -> Iterator[Place]:
    """Calls of a project function that saves or loads, one and two hops away."""
    wrapped = {
        function: role for function, role in savers.items() if _is_named(function) or _DIRECT.search(function.name)
    }
    for share in (0.92, 0.8):
        found: dict[Function, str] = {}
        for target, role in wrapped.items():
            yield program.at(target, target.line, f"{role} defined", share * 0.95 * program.weight(target) ** 0.4)
            for caller, line in program.callers(target):
                yield program.at(caller, line, role, share * program.weight(caller) ** 0.4)
                if caller not in savers and _is_named(caller):
                    found[caller] = role
        wrapped = found


def _is_named(function: Function) -> bool:
    """Says that it saves or loads, and not something other than the state of training."""
    return _NAMED.search(function.name) is not None and _NOT.search(f"{function.owner} {_moved(function.name)}") is None
