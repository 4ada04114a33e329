"""A class that a recipe builds with what the recipe gives it and what its signature adds, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainsleuth.facts import Class, Function
from trainsleuth.repository import is_python

from ...configuration import Key, Truth
from ...configuration.forms.fields import of_class
from ...drawing.wording import clean
from ...recipe.config_objects import is_config
from ...recipe.recipes import Choice
from ..run_sheet.tails import Tails
from ..run_sheet.topics import Topic, topic_of
from .argument_tables import Handed, in_tables
from .kinds import kind_of
from .prefixes import stripped
from .sections import is_set
from .unset import unset

MOST_GIVEN = 8
MOST_DEFAULTS = 8
LOSS_WIDTH = 90
_STAGE = re.compile(r"pipeline|transform|\bops\b")  # told in one line with the others of its list
WIDTH = 40  # characters of a value
LINE_WIDTH = 330
_ARGUMENTS = re.compile(r"_?(?:params|args|kwargs|conf|config|cfg|opts?|options)$")
_NOTHING = ("None", "''", "", "{}", "[]", "()")


def built_lines(truth: Truth, topic: Topic, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """A line for each class that the recipe chooses for the topic, those that say something of themselves."""
    chosen = {choice.key: choice for choice in truth.program.choices if isinstance(choice.target, Class)}
    for key in truth.keys if topic.built else ():
        choice = chosen.get(key.name)
        if choice is None or not is_set(key) or key.value not in (choice.value, choice.value.rpartition(".")[2]):
            continue
        if topic.name == "loss" and (text := _default_loss(truth, choice, tails)):
            yield text, {"built": key.name, "keys": []}
        if _STAGE.search(key.name):
            continue
        told = topic_of(choice.key) or (topic.name if topic.built == kind_of(truth, choice) else "")
        told = told or next((topic_of(one.name) for one in _taking(truth, choice)), "")
        given = list(given_to(truth, choice)) if told == topic.name else []
        text = _line(truth, choice, given, tails) if told == topic.name else ""
        if text and (": " in text or topic.name == "model"):
            yield clean(text, LINE_WIDTH), {"built": key.name, "keys": [one.to_dict() for one in (key, *given)]}


def _taking(truth: Truth, built: Choice) -> Iterator[Key]:
    """Keys of a recipe in Python that are worth the section: encoder=codec, below codec = dict(type="Heatmap")."""
    section = built.key.rpartition(".")[0]
    if section and is_python(built.path):
        yield from (key for key in truth.keys if key.value == section and is_set(key))


def all_built(truth: Truth, tails: Tails) -> Iterator[tuple[Choice, str]]:
    """Each class that the recipe chooses, with its line."""
    for choice in truth.program.choices:
        key = truth.find(choice.key)
        if isinstance(choice.target, Class) and key is not None and is_set(key):
            yield choice, _line(truth, choice, list(given_to(truth, choice)), tails)


def _default_loss(truth: Truth, built: Choice, tails: Tails) -> str:
    """ "TSMHead tsm_head.py:40: default loss_cls=dict(type='CrossEntropyLoss')": a loss that only a signature names."""
    section = built.key.rpartition(".")[0]
    if built.target is None or "loss" in built.key:
        return ""
    given = {key.name.removeprefix(f"{section}.").partition(".")[0] for key in truth.keys}
    given |= {key.name.rpartition(".")[2] for key in given_to(truth, built)}
    told = [
        f"{name}={clean(value, LOSS_WIDTH)}"
        for one in unset(truth.program.index, built.target, given)
        for name, value in one.arguments
        if re.match(r"loss|criterion", name) and value not in _NOTHING
    ]
    return (
        f"{built.target.name} {tails.of(built.target.path)}:{built.target.line}: default {', '.join(told)}"
        if told
        else ""
    )


def _line(truth: Truth, built: Choice, given: Sequence[Key], tails: Tails) -> str:
    """ "PPYoloELoss ppyolo_loss.py:642 by loss F:22: num_classes=80 :23; default iou_loss_weight=2.5" """
    target = built.target
    if target is None:
        return ""
    names = {part for key in given for part in key.name.split(".")} | {built.key.rpartition(".")[2]}
    section, _, last = built.key.rpartition(".")
    slot = section.rpartition(".")[2] if last == "_target_" and section else last
    names |= {stripped(truth, slot, name) for name in names}
    handed = [] if given else list(in_tables(truth, built, _parameters(truth, built)))
    names |= {one.name for one in handed}
    where = f"{tails.of(target.path)}:{target.line} by {slot}"
    made = built.value.rpartition(".")[2]
    through = f"{made} through " if isinstance(target, Class) and is_config(target) and made != target.name else ""
    said = f"{tails.of(built.path)}:{built.line}" if built.path else "the command"
    head = f"{through}{target.name} {where} {said}"
    parts = [", ".join(_given(truth, key, built.path, tails) for key in given[:MOST_GIVEN])] if given else []
    parts += [", ".join(_said(handed, tails))] if any(one.value for one in handed) else []
    left = [one for signature in unset(truth.program.index, target, names) for one in signature.arguments]
    told = [f"{name}={clean(value, WIDTH)}" for name, value in left if value not in _NOTHING][:MOST_DEFAULTS]
    parts += [f"default {', '.join(told)}"] if told else []
    return f"{head}: {'; '.join(parts)}" if parts else head


def _said(handed: Iterable[Handed], tails: Tails) -> Iterator[str]:
    known = [one for one in handed if one.value]
    for place, one in enumerate(known[:MOST_GIVEN]):
        where = f" :{one.line}" if place else f" {tails.of(one.path)}:{one.line}"
        yield f"{one.name}={clean(one.value, WIDTH)}{where}"


def given_to(truth: Truth, built: Choice) -> Iterator[Key]:
    """Keys of its own section, of one called like it, and of sections beside that hold nothing but its parameters."""
    section, _, last = built.key.rpartition(".")
    taken = _parameters(truth, built)
    prefix = f"{section}." if section else ""
    yield from (key for key in truth.keys if key.name.startswith(f"{built.value}.") and is_set(key))
    held: dict[str, list[Key]] = {}
    for key in truth.keys:
        if key.name.startswith(prefix) and key.name != built.key and is_set(key):
            inner, _, rest = key.name.removeprefix(prefix).partition(".")
            held.setdefault(inner if rest else "", []).append(key)
    own = last in ("type", "_target_", "class_path", "name", "!new", "!name", "_component_")
    if own:
        yield from (key for key in held.pop("", ()) if key.name.rpartition(".")[2] in taken)
    else:
        beside = ((key, key.name.rpartition(".")[2]) for key in held.pop("", ()))
        yield from (key for key, name in beside if (bare := stripped(truth, last, name)) != name and bare in taken)
    for inner, keys in held.items():
        words = [key.name.removeprefix(f"{prefix}{inner}.").partition(".")[0] for key in keys]
        fits = inner and _ARGUMENTS.search(inner) and taken and taken.issuperset(words)
        if fits or inner in (f"{last}_conf", f"{last}_params", f"{last}_args", f"{last}_kwargs"):
            yield from keys


def _parameters(truth: Truth, built: Choice) -> frozenset[str]:
    target = built.target
    functions: list[Function] = [target] if isinstance(target, Function) else []
    if isinstance(target, Class):
        functions = [
            cls.methods["__init__"] for cls in truth.program.index.lineage(target) if "__init__" in cls.methods
        ]
        if not functions:
            return frozenset(one.name for cls in truth.program.index.lineage(target) for one in of_class(cls))
    return frozenset(one.name for function in functions for one in function.parameters if not one.kind)


def _given(truth: Truth, key: Key, base: str, tails: Tails) -> str:
    source = key.source
    where = ""
    if source is not None and source.path:
        where = f" :{source.line}" if source.path == base else f" {tails.of(source.path)}:{source.line}"
    above, _, last = key.name.rpartition(".")
    name = f"{above.rpartition('.')[2]}.{last}" if last.isdigit() or above.endswith("dict") else last
    return f"{name}={clean(truth.last(key).value, WIDTH)}{where}"
