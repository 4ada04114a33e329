"""The bodies that a recipe is about: of the classes that it names, the methods that do the work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from trainsleuth.facts import Class, Function

from ...configuration import Truth
from ...program import Program
from ...records import Place
from ..settings.kinds import kind_of

MOST = 12
_WORK = {  # methods of which a reader asks what they do, by part, most wanted first
    "data": ("transform", "__call__", "__iter__", "forward", "collator|collate_fn|__getitem__", r"_?(?:get|sample)\w*"),
    "model": ("forward", "init_weights|_init_weights|reset_parameters"),
    "loss": ("forward", r"loss|\w*_loss|loss_\w+"),
    "optimizer_scheduler": ("add_params|__call__|get_lr|step", r"\w*param_groups?\w*"),
    "evaluation": ("compute_metrics|compute|__call__|forward", "process|update"),
}
_KINDS = {"loss": ("loss", "model")}  # a network may hold its loss


def chosen_bodies(program: Program, truth: Truth, name: str) -> Iterator[Place]:
    """Where these methods begin, the first of each class before the second of any."""
    kinds = _KINDS.get(name, (name,))
    classes = dict.fromkeys(
        choice.target
        for choice in sorted(truth.program.choices, key=lambda one: _OTHER.search(one.key) is not None)
        if program.told and isinstance(choice.target, Class)
        if (kind_of(truth, choice) or _by_key(choice.key)) in kinds and choice.path in program.config_paths
    )
    every = zip_longest(*(list(_methods(program, cls, name)) for cls in classes))
    found = [one for row in every for one in row if one is not None]
    for function in list(dict.fromkeys(found))[:MOST]:
        yield Place(function.path, function.line, "body", 0.0, text=f"def {function.name}")


_OTHER = re.compile(r"(?:^|[._])(?:test|val|valid|eval)[._]")


def _by_key(key: str) -> str:
    """The part of what its class does not tell: a step of a pipeline."""
    if re.search(r"pipeline|transform|preprocess", key):
        return "data"
    return ""


def _methods(program: Program, cls: Class, name: str) -> Iterator[Function]:
    for words in _WORK.get(name, ()):
        pattern = re.compile(words)
        own = [method for word, method in cls.methods.items() if pattern.fullmatch(word)]
        if name == "loss" and words == "forward" and own and not any("loss" in one for one in own[0].called):
            continue
        yield from sorted(own, key=lambda one: one.line)
    if name == "model":
        yield from _helpers(program, cls)


def _helpers(program: Program, cls: Class) -> Iterator[Function]:
    """What the classes of its file do that it makes."""
    made = {word for method in cls.methods.values() for word in method.called}
    for other in program.index.files[cls.path].classes.values():
        if other.name in made and other is not cls and "forward" in other.methods:
            work = other.methods["forward"]
            yield from (one for word, one in other.methods.items() if one is work or word in work.called)
