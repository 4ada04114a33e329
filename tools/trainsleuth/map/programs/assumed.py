"""Training steps that are taken for those of a program which is not seen to reach one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from trainsleuth.facts import Function, Index
from trainsleuth.repository import is_under

from ..loop.frameworks import Handover
from ..loop.steps import Sign
from ..recipe.told import Told
from .tracing import Tracing
from .training_steps import steps_in
from .unreached import Unreached


def likeliest(tracing: Tracing, told: Told, scope: str | None) -> dict[Function, list[Function]]:
    """The training steps that are taken for those of the program, each with the functions that lead to it from the top."""
    index = tracing.graph.index
    unreached = Unreached(tracing.graph, told.weights, told.loaded)
    loaded = {*told.loaded, *_with_gin(index, tracing.entry.reach.distance)}
    steps = _assumed(index, tracing.table, tracing.handed, scope, loaded)
    left = tracing.values.known.excluded
    found = unreached.likeliest(one for one in steps if index.class_of(one) not in left)
    return {one: list(unreached.tops(one)) for one in found}


def _assumed(
    index: Index,
    table: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
    scope: str | None,
    loaded: Collection[str],
) -> Iterator[Function]:
    """Training steps taken for those of the program: of the scope when it is a folder, else of what is imported.

    None where nothing changes a weight: a gradient alone (a loss that balances others) trains nothing.
    """
    if not handed and all(sign.role == "backward" for found in table.values() for sign in found):
        return
    if scope is None or scope in index.files:
        yield from steps_in(table, handed, loaded if scope is not None else index.files)
    else:
        yield from steps_in(table, handed, [path for path in index.files if is_under(path, scope)])


_GIN = frozenset(("parse_config_files_and_bindings", "parse_config_file", "parse_config_files", "parse_config"))


def _with_gin(index: Index, reached: Iterable[Function]) -> Iterator[str]:
    """Files that gin's settings may import and fill, where the program hands itself over to gin."""
    files = {file.path for file in index.files.values() if any(one.module == "gin" for one in file.imports)}
    if any(function.path in files and not _GIN.isdisjoint(function.called) for function in reached):
        yield from files
