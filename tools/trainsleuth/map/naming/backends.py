"""A name that the registries of several backends know: the class nearest to the program's own entry counts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from trainsleuth.facts import Class, Index, is_for_another, other_library

from ..recipe.recipes import Choice
from .tables import Table


def of_the_program(
    chosen: Sequence[Choice], known: Mapping[str, Sequence[Table]], entry: str, loaded: frozenset[str]
) -> Iterator[Choice]:
    """The choices, each with the class of that name in a registry of that kind which shares most folders with `entry`."""
    for choice in chosen:
        target = choice.target
        if not isinstance(target, Class) or choice.table is None or not choice.table.kind:
            yield choice
            continue
        kind = _plain(choice.table.kind)
        alike = (
            table.entries[choice.value]
            for table in known.get(choice.value, ())
            if choice.value in table.entries and _plain(table.kind) == kind
        )
        here = [one for one in alike if isinstance(one, Class) and one.path in loaded]
        best = max((*here, target), key=lambda one: (_shared(one.path, entry), one.path == target.path))
        yield choice if best is target else choice._replace(target=best)


def of_torch(index: Index, known: Mapping[str, list[Table]]) -> dict[str, list[Table]]:
    """Tables by name, without those that mean a class for another library where another one means a class for torch."""
    others: dict[str, bool] = {}

    def is_of_another(table: Table, name: str) -> bool:
        path = getattr(table.entries.get(name), "path", "")
        if path not in others:
            others[path] = bool(path) and is_for_another(index, path)
        return others[path]

    found: dict[str, list[Table]] = {}
    for name, some in known.items():
        left = [table for table in some if not is_of_another(table, name)] if len(some) > 1 else some
        found[name] = left or some
    return found


def for_other_libraries(index: Index) -> Iterator[Class]:
    """Classes in folders that are called like another library, where their like for torch lie beside."""
    for path, file in index.files.items() if not other_library(index) else ():
        if is_for_another(index, path) and "/" in path:
            yield from file.classes.values()


def _plain(kind: str) -> str:
    return kind.removeprefix("base")


def _shared(path: str, entry: str) -> int:
    return len(os.path.commonpath((path, entry)))
