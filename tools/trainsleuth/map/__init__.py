"""The map of a training repository: its ten components with file and line, within a budget.

from trainsleuth.map import map_repository

print(map_repository("path/to/project").text)
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from trainsleuth.facts import keep_facts, no_collection
from trainsleuth.kept import answered
from trainsleuth.repository import Repository, RepositoryError

from .build import find_program, read_index
from .layout import MIN_BUDGET
from .parts import parts_of
from .records import COMPONENTS, Map, Part, Place
from .sheet import draw

__all__ = ["COMPONENTS", "MIN_BUDGET", "Map", "Part", "Place", "map_repository"]


def map_repository(
    root: str | os.PathLike[str], scope: str | None = None, recipe: str | None = None, budget: int = 2000
) -> Map:
    """Map the repository at `root`; nothing in it is run.

    `scope` is a folder or file, from the root, that holds the one program of interest; `recipe` is a
    configuration file (YAML, JSON) that chooses among registered parts. The text never exceeds `budget`
    tokens (characters / 4).
    Raises RepositoryError when `root`, `scope` or `recipe` do not exist or lie outside, ValueError for a
    budget below MIN_BUDGET.
    """
    if budget < MIN_BUDGET:
        raise ValueError(f"budget {budget} is too small for ten components: give at least {MIN_BUDGET} tokens")
    repository = Repository(root)

    def drawn() -> Map:
        with no_collection():
            return _map(repository, scope, recipe, budget)

    return answered(repository, ("map", scope, recipe, budget), Map, drawn)


def _map(repository: Repository, scope: str | None, recipe: str | None, budget: int) -> Map:
    index = read_index(repository)
    where = _existing(repository, scope, "scope", index.files)
    chosen = _existing(repository, recipe, "recipe", index.configs)
    program = find_program(index, where, chosen)
    drawn = draw(parts_of(index, program, where, chosen, budget), budget)
    keep_facts(index)
    return drawn


def _existing(repository: Repository, given: str | None, word: str, known: Mapping[str, object]) -> str | None:
    """A path from the root that holds files of ours. Raises RepositoryError otherwise."""
    if given is None:
        return None
    path = repository.relative(given)
    if path == ".":
        return None
    if path in known or (word == "scope" and any(one.startswith(path + "/") for one in known)):
        return path
    what = "no Python file" if word == "scope" else "no configuration file (YAML, JSON)"
    raise RepositoryError(f"{word} {given!r}: {what} of {repository.root} is there; give a path from its root")
