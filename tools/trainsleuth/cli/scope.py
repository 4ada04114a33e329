"""Which folder is the root of what was asked about, and which paths below it are meant."""

from __future__ import annotations

import os
from pathlib import Path


class UsageError(ValueError):
    """What was asked cannot be done; the message says what can."""


def folder_of(repo: Path) -> Path:
    """The repository itself, or the folder that holds it when it is one file."""
    return repo.parent if repo.is_file() else repo


def scope(root: Path | None, paths: list[Path]) -> tuple[Path, list[str] | None]:
    """The root, and the paths below it to look at; None is all of it.

    One folder is a root by itself; files and several paths share their root: here, or the folder that holds all.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist; give folders or files of the training code")
    if root is None and not paths:
        return Path(), None
    if root is None and len(paths) == 1 and paths[0].is_dir():
        return paths[0], None
    full = [path.resolve() for path in paths]
    if root is None:
        here = Path.cwd()
        common = Path(os.path.commonpath(full))
        inside = all(path.is_relative_to(here) for path in full)
        root = Path() if inside else common if common.is_dir() else common.parent
    outside = [path for path in full if not path.is_relative_to(root.resolve())]
    if outside:
        raise UsageError(f"{outside[0]} is not inside of {root}; give a --root that holds all the paths")
    return root, [path.relative_to(root.resolve()).as_posix() for path in full] or None
