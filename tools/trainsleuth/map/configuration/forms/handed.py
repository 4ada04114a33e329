"""Settings that are given to a trainer as keywords: TrainingArguments(learning_rate=2e-5), Trainer(max_epochs=3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, External

from ...loop.frameworks import FRAMEWORKS
from ...loop.networks import is_network
from ...program import Called, Program
from ..records import Definition, How
from .literals import is_literal, text_of
from .options import parameters

LEAST = 3  # keywords by which a program tells a trainer of its own how to train
_TOLD = re.compile(r"(?:Trainer|TrainingArguments|Config|Learner|learner|Accelerator|NeuralNet\w*)$")
_PACKAGES = frozenset(package for framework in FRAMEWORKS for package in framework.packages) | {"accelerate"}


def arguments(program: Program) -> Iterator[Definition]:
    """Keywords of the constructors by which a program tells a framework how to train, or the class that holds its step."""
    own = _own(program)
    first: dict[str, str] = {}
    for called in program.reached_calls:
        name = next((one.name for one in called.targets if isinstance(one, External)), "")
        last = name.rpartition(".")[2]
        if _TOLD.search(last) and name.partition(".")[0] in _PACKAGES and not _is_of_network(program, called):
            yield from _given(called, last)
        elif own is not None and own in called.targets and _is_told(called, own):
            made = {part.text for part in called.call.parts[1:] if part.kind == "keyword" and _is_made(part.parts[0])}
            for one in _given(called, own.name):  # of two trainings the first is told, and where the second differs
                is_first = one.name not in first
                if (first.setdefault(one.name, one.value) != one.value or is_first) and one.name not in made:
                    yield one._replace(certain=is_first)
    init = own.methods.get("__init__") if own is not None and first else None
    if init is not None and own is not None:
        yield from (one for one in parameters(init, own.name) if one.name not in first)


def _is_of_network(program: Program, called: Called) -> bool:
    """A constant in the file of a network: the sizes that one of several has, whichever is trained."""
    file = program.index.files[called.function.path]
    aside = called.function is file.body and file.path != program.entry.path
    return aside and any(is_network(program.index, cls) for cls in file.classes.values())


def _own(program: Program) -> Class | None:
    """The class of the project whose object runs the training step."""
    step = program.training.step
    return program.index.class_of(step) if step is not None else None


def _is_told(called: Called, own: Class) -> bool:
    keywords = [part for part in called.call.parts[1:] if part.kind == "keyword"]
    return called.function.path != own.path and len(keywords) >= LEAST and any(map(_says, keywords))


def _is_made(value: Expr) -> bool:
    """It is made elsewhere, and told there: optimizer=optimizer, schedulers=[schedule]."""
    return value.kind == "path" or (value.kind in ("list", "tuple") and all(map(_is_made, value.parts)))


def _says(keyword: Expr) -> bool:
    return is_literal(keyword.parts[0])


def _given(called: Called, last: str) -> Iterator[Definition]:
    """Under a test it is no more than a default."""
    how: How = "default" if any(one.kind == "if" for one in called.event.block.branches) else "argument"
    for part in called.call.parts[1:]:
        if part.kind == "keyword":
            value = text_of(part.parts[0])
            yield Definition(
                part.text, called.function.path, part.line, value, (), f"argument of {last}", last, how=how
            )
