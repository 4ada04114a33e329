"""Arguments that the program puts into a table for what it chooses by name: model_kwargs = {"depth": 8} beside model."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr
from trainsleuth.facts.reading.scopes import bindings

from ...configuration import Truth
from ...configuration.forms.literals import is_literal, is_table, text_of
from ...configuration.use.untaken import untaken_by
from ...recipe.recipes import Choice

_ENDS = ("kwargs", "args", "params", "conf", "config", "cfg", "opts", "options")


class Handed(NamedTuple):
    """One argument; `value` is "" where it is worked out."""

    name: str
    value: str
    path: str
    line: int


def in_tables(truth: Truth, built: Choice, taken: Container[str]) -> Iterator[Handed]:
    """Those of the tables so called that hold nothing but what is `taken`, where the settings do not leave their arm;
    of several that remain no value is known."""
    tables = list(_tables(truth, built, taken))
    for path, table in tables:
        for name, value in _pairs(table):
            text = text_of(value) if is_literal(value) and len(tables) == 1 else ""
            yield Handed(name, text, path, value.line)


def _tables(truth: Truth, built: Choice, taken: Container[str]) -> Iterator[tuple[str, Expr]]:
    names = {f"{built.key.rpartition('.')[2]}_{end}" for end in _ENDS}
    file = truth.program.index.files.get(truth.program.entry.path)
    for function in file.functions.values() if file is not None else ():
        for name in sorted(names.intersection(bindings(function))):
            for binding in bindings(function)[name]:
                table = binding.value
                if table is None or not is_table(table) or any(one not in taken for one, _ in _pairs(table)):
                    continue
                if not untaken_by(truth, function, function.events[binding.position].block.branches):
                    yield function.path, table


def _pairs(table: Expr) -> Iterator[tuple[str, Expr]]:
    for part in table.parts:
        if part.kind == "keyword":
            yield part.text, part.parts[0]
        elif part.kind == "pair":
            yield part.parts[0].text, part.parts[1]
