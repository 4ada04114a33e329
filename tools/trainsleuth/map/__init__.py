"""The map of a training repository: its ten components with file and line, within a budget.

from trainsleuth.map import map_repository

print(map_repository("path/to/project").text)
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping

from trainsleuth.repository import Repository, RepositoryError

from .build import find_program, read_index
from .layout import MIN_BUDGET
from .parts import Anatomy, parts_of
from .records import COMPONENTS, Map, Part, Place
from .sheet import draw

__all__ = ["COMPONENTS", "MIN_BUDGET", "Anatomy", "Map", "Part", "Place", "draw", "map_repository", "read_anatomy"]


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
    return draw(read_anatomy(root, scope, recipe, budget), budget)


def read_anatomy(
    root: str | os.PathLike[str], scope: str | None = None, recipe: str | None = None, budget: int = 2000
) -> Anatomy:
    """All that a map is drawn from, with as many places as `budget` could ever show. Raises as `map_repository`."""
    if budget < MIN_BUDGET:
        raise ValueError(f"budget {budget} is too small for ten components: give at least {MIN_BUDGET} tokens")
    repository = Repository(root)
    collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of records live until the end: looking for garbage doubles the time
    try:
        index = read_index(repository)
        where = _existing(repository, scope, "scope", index.files)
        chosen = _existing(repository, recipe, "recipe", index.configs)
        return parts_of(index, find_program(index, where, chosen), where, chosen, budget)
    finally:
        if collecting:
            gc.enable()


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
