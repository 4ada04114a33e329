"""A recipe in Python that programs import by its bare name, from the folder in which they are started."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainsleuth.facts import Index


def importers_of(index: Index, recipe: str) -> tuple[str, ...]:
    """Files that import a module called like the recipe which is nowhere near them: from config import config."""
    path = PurePosixPath(recipe)
    if path.suffix != ".py":
        return ()
    return tuple(
        one
        for one, file in index.files.items()
        if any(entry.module == path.stem and not entry.level for entry in file.imports)
        and index.names.module(one, path.stem) is None
    )
