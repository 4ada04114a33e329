"""Recipes that are objects in code, chosen by name: --config llama3_8b for a function, nerfacto for an entry of a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from trainsleuth.facts import Class, Event, Expr, External, Function, Index
from trainsleuth.facts.scopes import bindings

from .config_objects import ConfigObjects, Given, is_config
from .configuration.literals import is_literal, text_of
from .entries import NEVER
from .launch import Command, words_behind
from .named_choice import NO_NAMES
from .recipes import Choice, Setting
from .values import Values

MAX_HOPS = 3  # functions that a recipe calls to make its parts
MAX_DEPTH = 12  # of objects in objects


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
    return _read(values, given, top)


_NAME = re.compile(r"[A-Za-z][\w.-]{2,}")


def _named(values: Values, words: Sequence[str]) -> Iterator[tuple[int, Given, Class]]:
    """(how many other words its path has, object, its class)"""
    for word in words:
        for scope, expr in _called_so(values.index, word):
            held = (one for one in values.of(scope, expr) if isinstance(one, Class) and is_config(one))
            if (cls := next(held, None)) is not None:
                yield sum(other in scope.path for other in words if other != word), (scope, expr), cls


def _called_so(index: Index, word: str) -> Iterator[Given]:
    """Objects that stand under this name: what a function gives back, an entry of a table."""
    quoted = re.compile(rb"[\"']" + re.escape(word.encode()) + rb"[\"']")
    for path, file in index.files.items():
        if NEVER.search(path):
            continue
        function = file.functions.get(word)
        if function is not None and not any(one.default is None for one in function.parameters):
            yield from ((function, event.value) for event in _returns(function))  # type: ignore[misc]
        for event in file.body.events if file.body.source.holds(quoted) else ():
            if event.kind == "assign" and event.value is not None:
                if any(one.kind == "index" and one.parts[-1].text == word for one in event.targets):
                    yield file.body, event.value
                for pair in event.value.parts if event.value.kind == "dict" else ():
                    if pair.kind == "pair" and pair.parts[0].kind == "string" and pair.parts[0].text == word:
                        yield file.body, pair.parts[1]


def _returns(function: Function) -> Iterator[Event]:
    yield from (event for event in function.events if event.kind == "return" and event.value is not None)


def _read(values: Values, given: Given, top: Class) -> Preset:
    built = ConfigObjects(values.index)
    fields: dict[str, list[tuple[Class, Given]]] = {}
    choices: list[Choice] = []
    settings: list[Setting] = []
    if given[0].name != "<module>":
        choices.append(Choice(given[0].path, given[0].line, "preset", given[0].name, given[0]))
    for key, scope, expr, cls in _objects(values, *given, "", 0, MAX_HOPS):
        made = built.built_by(cls)
        if isinstance(made, Class | External):
            target = made if isinstance(made, Class) else None
            choices.append(Choice(scope.path, expr.line, f"{key}._target_".lstrip("."), made.name, target))
        for part in expr.parts[1:]:
            if part.kind == "keyword":
                fields.setdefault(part.text, []).append((cls, (scope, part.parts[0])))
                if is_literal(part.parts[0]):
                    name = f"{key}.{part.text}".lstrip(".")
                    settings.append(Setting(scope.path, part.line, name, text_of(part.parts[0])))
    return Preset(tuple(choices), tuple(settings), ConfigObjects(values.index, fields, top))


def _objects(
    values: Values, scope: Function, expr: Expr, key: str, depth: int, hops: int
) -> Iterator[tuple[str, Function, Expr, Class]]:
    """(key, scope, constructor call, class) of every object in `expr`, each before those in its fields."""
    if depth > MAX_DEPTH:
        return
    if expr.kind == "path" and expr.text.isidentifier():
        for binding in bindings(scope).get(expr.text, ())[-1:]:
            if binding.value is not None and not binding.items and binding.value.kind != "path":
                yield from _objects(values, scope, binding.value, key, depth + 1, hops)
    called: Sequence[object] = values.callables(scope, expr.parts[0]) if expr.kind == "call" else ()
    for one in called:
        if isinstance(one, Class):
            yield key, scope, expr, one
        elif isinstance(one, Function) and hops:
            for event in _returns(one):
                if event.value is not None:
                    yield from _objects(values, one, event.value, key, depth + 1, hops - 1)
    for part in expr.parts:
        inside = part.parts[-1] if part.kind in ("keyword", "pair") and part.parts else part
        name = part.text if part.kind == "keyword" else part.parts[0].text if part.kind == "pair" else ""
        if inside.kind in ("call", "dict", "list", "tuple", "path"):
            yield from _objects(values, scope, inside, f"{key}.{name}".strip("."), depth + 1, hops)


def built_through(values: Values, chosen: Collection[Choice]) -> Iterator[Choice]:
    """What is built from configuration classes that the settings choose: ACTPolicy of policy.type=act."""
    for one in chosen:
        made = values.objects.built_by(one.target) if isinstance(one.target, Class) else None
        if isinstance(made, Class):
            yield one._replace(
                key=f"{one.key.rpartition('.')[0] or one.key}._target_", target=made, table=None, sites=()
            )
