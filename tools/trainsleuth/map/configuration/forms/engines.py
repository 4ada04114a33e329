"""Settings in the table by which code tells an engine how to train: deepspeed.initialize(model=net, config=ds_config)."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function

from ...calling.engines import INITIALIZE
from ...naming.only_values import Held, held_nearby
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


def _table(program: Program, function: Function, given: Expr) -> Held | None:
    """The table itself, or the only one that its name is bound to in the function, or at the top of its file."""
    held = (function, given) if is_table(given) else held_nearby(program.index, function, given)
    return held if held is not None and is_table(held[1]) else None


def _trains(called: Called, table: Expr) -> bool:
    return any(called.call.keyword(one) is not None for one in _TRAINED) or any(
        key.partition(".")[0] == "optimizer" for key, _ in flat(table, "")
    )
