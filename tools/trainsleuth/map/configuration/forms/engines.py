"""Settings in the table by which code tells an engine how to train: deepspeed.initialize(model=net, config=ds_config)."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function
from trainsleuth.facts.reading.scopes import bindings

from ...calling.engines import INITIALIZE
from ...program import Called, Program
from ..records import Definition
from .literals import flat, is_table, text_of

OF_ENGINE = f"argument of {INITIALIZE.name}"
_CONFIG = ("config", "config_params")
_TRAINED = ("optimizer", "model_parameters")


def engine_settings(program: Program) -> Iterator[Definition]:
    """What the tables hold of those engines that are given something to step."""
    for called in program.reached_calls:
        is_engine = INITIALIZE in called.targets
        given = next(filter(None, map(called.call.keyword, _CONFIG)), None) if is_engine else None
        table = _table(program, called.function, given) if given is not None else None
        if table is None or not _trains(called, table[1]):
            continue
        for key, value in flat(table[1], ""):
            yield Definition(key, table[0].path, value.line, text_of(value), (), OF_ENGINE, how="argument")


def _table(program: Program, function: Function, given: Expr) -> tuple[Function, Expr] | None:
    """The table itself, or the only one that its name is bound to in the function, or at the top of its file."""
    if is_table(given):
        return function, given
    for scope in (function, program.index.files[function.path].body):
        bound = bindings(scope).get(given.text, ()) if given.kind == "path" else ()
        if bound:
            value = bound[0].value
            is_one = len(bound) == 1 and value is not None and not bound[0].items and is_table(value)
            return (scope, value) if is_one and value is not None else None
    return None


def _trains(called: Called, table: Expr) -> bool:
    return any(called.call.keyword(one) is not None for one in _TRAINED) or any(
        key.partition(".")[0] == "optimizer" for key, _ in flat(table, "")
    )
