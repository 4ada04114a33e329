"""Recipes that are objects in code, chosen by name: --config llama3_8b for a function, nerfacto for an entry of a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, Index

from ..calling.object_tree import Constructed, joined, objects, returns
from ..calling.values import Values
from ..configuration.values.named_values import text_in
from ..launching.command_words import words_behind
from ..launching.launch import Command
from ..naming.named_choice import NO_NAMES
from ..programs.sidelines import NEVER
from .config_objects import ConfigObjects, Given, is_config
from .recipes import Choice, Setting


@dataclass(frozen=True)
class Preset:
    """The object that the command names: what it builds, its plain values, and what stands in its fields."""

    choices: tuple[Choice, ...] = ()
    settings: tuple[Setting, ...] = ()
    objects: ConfigObjects | None = None

    @property
    def classes(self) -> frozenset[Class]:
        return frozenset(one.target for one in self.choices if isinstance(one.target, Class))


def named_preset(values: Values, launch: Command | None) -> Preset:
    """The one that most words of the command speak for; an empty one when they name none."""
    words = [word.lstrip("-").rpartition("=")[2] for word in words_behind(launch.text)] if launch is not None else []
    found = list(_named(values, [word for word in words if _NAME.fullmatch(word) and word not in NO_NAMES]))
    if not found:
        return Preset()
    _, given, top = max(found, key=lambda one: one[0])
    read = read_objects(values, list(objects(values, *given)), top)
    scope = given[0]
    chosen = () if scope.name == MODULE_BODY else (Choice(scope.path, scope.line, "preset", scope.name, scope),)
    return replace(read, choices=(*chosen, *read.choices))


_NAME = re.compile(r"[A-Za-z][\w.-]{2,}")


def _named(values: Values, words: Sequence[str]) -> Iterator[tuple[int, Given, Class]]:
    """(how many other words its path has, object, its class)"""
    for word, given in _called_so(values.index, words).items() if words else ():
        for scope, expr in given:
            held = (one for one in values.of(scope, expr) if isinstance(one, Class) and is_config(one))
            if (cls := next(held, None)) is not None:
                yield sum(other in scope.path for other in words if other != word), (scope, expr), cls


def _called_so(index: Index, words: Sequence[str]) -> Mapping[str, list[Given]]:
    """Objects that stand under each of these names: what a function gives back, an entry of a table."""
    found: dict[str, list[Given]] = {word: [] for word in words}
    quoted = re.compile(rb"[\"'](?:%s)[\"']" % b"|".join(re.escape(word.encode()) for word in found))
    for path, file in index.files.items():
        if NEVER.search(path):
            continue
        for word in (word for word in found if word in file.functions):
            function = file.functions[word]
            if not any(one.default is None for one in function.parameters):
                found[word] += ((function, event.value) for event in returns(function))  # type: ignore[misc]
        for event in file.body.events if file.body.source.holds(quoted) else ():
            for name, value in _entries(event) if event.kind == "assign" else ():
                if name in found:
                    found[name].append((file.body, value))
    return found


def _entries(event: Event) -> Iterator[tuple[str, Expr]]:
    """TABLE["name"] = value, TABLE = {"name": value}"""
    if event.value is not None:
        for name in {one.parts[-1].text for one in event.targets if one.kind == "index"}:
            yield name, event.value
        for pair in event.value.parts if event.value.kind == "dict" else ():
            if pair.kind == "pair" and pair.parts[0].kind == "string":
                yield pair.parts[0].text, pair.parts[1]


def read_objects(values: Values, found: Sequence[Constructed], top: Class) -> Preset:
    """What stands in the objects of a recipe, `top` being the class of the whole."""
    built = ConfigObjects(values.index)
    fields: dict[str, list[tuple[Class, Given]]] = {}
    made: dict[Class, tuple[str, ...]] = {}
    choices: list[Choice] = []
    settings: list[Setting] = []
    inner = {one.key for one in found}
    for one in found:
        made[one.cls] = tuple(dict.fromkeys((*made.get(one.cls, ()), one.key)))
        target = built.built_by(one.cls) or (one.cls if one.key else None)
        if target is not None:
            place, key = (one.scope.path, one.expr.line), joined(one.key, "_target_")
            choices.append(Choice(*place, key, target.name, target if isinstance(target, Class) else one.cls))
            settings.append(Setting(*place, key, target.name))
        for part in one.given:
            fields.setdefault(part.text, []).append((one.cls, (one.scope, part.parts[0])))
            name = joined(one.key, part.text)
            if name not in inner and (text := text_in(one.scope, part.parts[0])) is not None:
                settings.append(Setting(one.scope.path, part.line, name, text))
    return Preset(tuple(choices), tuple(settings), ConfigObjects(values.index, fields, top, made))


def built_through(values: Values, chosen: Collection[Choice]) -> Iterator[Choice]:
    """What is built from configuration classes that the settings choose: ACTPolicy of policy.type=act."""
    for one in chosen:
        made = values.objects.built_by(one.target) if isinstance(one.target, Class) else None
        if isinstance(made, Class):
            yield one._replace(
                key=f"{one.key.rpartition('.')[0] or one.key}._target_", target=made, table=None, sites=()
            )
