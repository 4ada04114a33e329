"""The class that trains where code chooses one of several by its name: which, where, and by which settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.facts import Class, Event, Expr, Function, bindings

from ...configuration import Truth
from ...configuration.values.asked_settings import setting_of
from ...configuration.values.named_values import key_asked
from ...drawing.statements import conditions, enclosing, event_at
from ...drawing.wording import clean
from ...program import Program
from .tails import Tails

WHEN_WIDTH = 90


def back_ends(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """A line for each class with a training step that reached code names in an arm which the settings choose."""
    for choice in program.choices:
        target, file = choice.target, program.index.files.get(choice.path)
        if not choice.key.startswith("code:") or not isinstance(target, Class) or file is None:
            continue
        function = enclosing(file, choice.line)
        found = event_at(function, choice.line)
        methods = [method for cls in program.index.lineage(target) for method in cls.methods.values()]
        if found is None or not any(one in program.signs and program.is_reached(one) for one in methods):
            continue
        if when := conditions(found[1]):
            known = "".join(f" · {one}" for one in _settings(truth, function, found[1], tails))
            where = f"{target.name} {tails.of(target.path)}:{target.line}, named {tails.of(choice.path)}:{choice.line}"
            item = {"path": choice.path, "line": choice.line, "target": {"path": target.path, "line": target.line}}
            yield f"{where} · when {clean(when, WHEN_WIDTH)}{known}", {**item, "keys": []}


def _settings(truth: Truth, function: Function, event: Event, tails: Tails) -> Iterator[str]:
    """ "use_v2: ema.v2=false F:12", for the names in the tests above a statement."""
    for branch in event.block.branches:
        for part in (part for test in branch.tests for part in test.walk() if part.kind == "path"):
            values = (one.value for one in bindings(function).get(part.text, ()) if one.value is not None)
            keys = (setting_of(truth, key_asked(_plain(value)), function.path) for value in values)
            key = next((one for one in keys if one is not None and one.source is not None), None)
            if key is not None and key.source is not None:
                yield f"{part.text}: {key.name}={truth.end(key.value)} {tails.of(key.source.path)}:{key.source.line}"


def _plain(value: Expr) -> Expr:
    """Without bool() around it."""
    return value.arguments[0] if value.kind == "call" and value.callee == "bool" and value.arguments else value
