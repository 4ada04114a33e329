"""Which places of a component a reader wants first: those of this program, what happens before what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import Event, FileFacts, Function, written
from trainsleuth.repository import is_source

from ...drawing.layout import ranked
from ...drawing.statements import enclosing, event_at, is_class_body
from ...program import Program
from ...records import Part, Place
from ..settings.sections import OF
from .naming import naming

_FIRST = {  # roles that answer the usual question of a part
    "checkpointing": ("save", "configuration", "registered", "restore"),
    "evaluation": ("loop", "call"),
    "training_loop": ("backward", "optimizer step", "clip", "rescale", "loop", "call", "unscale", "scheduler step"),
    "optimizer_scheduler": ("optimizer", "scheduler", "learning rate", "scheduler step"),
    "loss": ("loss", "sum"),
    "logging": ("tracked", "writer", "configuration", "logs"),
}
NEAR = 0.4  # weight of a function beside the frame of the program
_PERIODIC = re.compile(r"%|interval|every|freq|_steps|epoch")


def in_order(program: Program, part: Part, name: str, limit: int) -> Iterator[Place]:
    """The places of a part: code that the program reaches first, handlers of errors and other programs last."""
    near = name in ("checkpointing", "logging", "evaluation")
    yield from sorted(
        ranked(part.places[:limit], name),
        key=lambda place: (_rank(program, place, name), _aside(program, place) if near else 0),
    )


def _aside(program: Program, place: Place) -> int:
    """How far beside the frame of the program: 0 in it, 1 called from it."""
    file = program.index.files.get(place.path)
    return round(10 * (1 - program.weight(enclosing(file, place.line)))) // 3 if file is not None else 0


def is_elsewhere(program: Program, place: Place) -> bool:
    """In a file of code that the program never comes to: another program, or a tool."""
    return is_source(place.path) and place.path not in program.entry.reach.files


def is_other_launch(program: Program, place: Place) -> bool:
    """A text that says how to start the program, when the caller says which start is meant: not that of the recipe."""
    if not program.told or is_source(place.path):
        return False
    home = PurePosixPath(program.recipe).parents if program.recipe is not None else ()
    return not (home and any(place.path.startswith(f"{one}/") for one in home[:2] if str(one) != "."))


def makes_registry(program: Program, place: Place) -> bool:
    """MODELS = Registry("model"): with a recipe, what it chooses from the registry says more."""
    file = program.index.files.get(place.path)
    if not program.told or file is None or place.cell is not None:
        return False
    found = event_at(file.body, place.line)
    value = found[1].value if found is not None and found[1].line <= place.line else None
    whole = enclosing(file, place.line) is file.body
    return whole and value is not None and value.kind == "call" and value.last.endswith("Registry")


def _rank(program: Program, place: Place, name: str) -> int:
    """0 is what is shown first; places of the same rank stay in their order."""
    file = program.index.files.get(place.path)
    if file is None or not is_source(place.path):
        return 5 if name in OF else 1  # the settings show it
    function = enclosing(file, place.line)
    if not (program.is_reached(function) or is_class_body(file, function)):
        return 4
    if is_open(function):
        return 4
    if name == "model" and _is_far(program, file, function):
        return 3
    if name == "evaluation" and _VALIDATES.search(function.name) and program.weight(function) > NEAR:
        return 0
    found = event_at(function, place.line)
    if found is None or found[1].line > place.line:
        return 3 if name == "evaluation" and _is_for_others(program, function) else 2
    if name == "logging" and near_frame(program, function):
        return 0 if _TELLS.search(" ".join(written(call, 200) for call in found[1].calls)) else 1
    if _handles(found[1]) or _is_aside(name, found[1]) or (name == "evaluation" and _is_for_others(program, function)):
        return 3
    if name == "checkpointing" and "average" in function.name:
        return 3
    near = program.weight(function) > NEAR
    return 1 if near and (place.role in _FIRST.get(name, ()) or _is_periodic(function, found[1])) else 2


_ASIDE = {  # what shares a word with a part and is none of it: schedules of noise, modes of an optimizer
    "optimizer_scheduler": re.compile(r"(?:noise|diffusion|ddpm|ddim|euler|flow\w*)_?scheduler|(?:DDPM|DDIM|PNDM|Euler\w*|LMS\w*|DPM\w*|Heun\w*|FlowMatch\w*)Scheduler|_(?:eval|train)_fn$|prev_sample|NUM_TRAIN|num_train_timesteps", re.I),
    "training_loop": re.compile(r"prev_sample"),
    "loss": re.compile(r"(?:^|[._])valid|build_criterion|get_criterion|setup_registry|summed", re.I),
    "model": re.compile(r"Blueprint|scheduler|warmup|tokenizer|get_models_for", re.I),
    "evaluation": re.compile(r"\.mkdir$|makedirs$|voxel_generator|blueprint", re.I),
}  # fmt: skip


def _is_aside(name: str, event: Event) -> bool:
    words = _ASIDE.get(name)
    said = [*(target.text for target in event.targets), *(call.callee for call in event.calls)]
    value = written(event.value, 400) if event.value is not None else ""
    return words is not None and any(words.search(one) for one in (*said, value))


def is_open(function: Function) -> bool:
    """It only says that a class below has to define it."""
    return any(event.kind == "raise" and "NotImplementedError" in written(event.value) for event in function.events[:3] if event.value is not None)  # fmt: skip


_TELLS = re.compile(r"loss|logs|metric|\blr|scalar|(?<!_)log\(", re.I)  # what a reader of a run looks for
_VALIDATES = re.compile(r"valid|^_?eval|^cv$|^_?test_epoch|^val(?:_|$)", re.I)
_HOOK = re.compile(r"valid|test_step|eval|metric|forward|__call__|^on_|process", re.I)


def _is_for_others(program: Program, function: Function) -> bool:
    """A method of a class that the program makes, which nothing in it is seen to call."""
    if not function.owner or _HOOK.search(function.name) is not None:
        return False
    return next(program.callers(function), None) is None


def near_frame(program: Program, function: Function) -> bool:
    return program.weight(function) > NEAR


def _is_far(program: Program, file: FileFacts, function: Function) -> bool:
    """Neither it nor, of a class, any of its methods is near the frame of the program."""
    cls = file.classes.get(function.qualname.removesuffix(".<class>")) if is_class_body(file, function) else None
    inside = cls.methods.values() if cls is not None else (function,)
    return bool(inside) and not any(near_frame(program, one) for one in inside)


def _handles(event: Event) -> bool:
    """In an except: what is done when something went wrong."""
    return any(branch.kind == "try" and branch.arm > 0 for branch in event.block.branches)


def _is_periodic(function: Function, event: Event) -> bool:
    """It stands under a test, by itself or by name, of a step, an epoch or an interval."""
    tests = [branch.test for branch in event.block.branches if branch.kind == "if" and branch.test is not None]
    tests += [one.value for one in naming(function, event) if one.value is not None]
    return any(_PERIODIC.search(written(test, 200)) for test in tests)
