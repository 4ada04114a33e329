"""Where the user's folder begins."""

from __future__ import annotations

from pathlib import Path


def choose_root(cwd: Path) -> Path:
    """The folder that a run is expected to write into: the git work tree around `cwd`, else `cwd`.

    Never the home folder or / through git alone, which would contain far more than one project.
    """
    cwd = cwd.resolve()
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return cwd if is_too_wide(folder) else folder
    return cwd


def is_too_wide(folder: Path) -> bool:
    """/ and the home folder hold far more than one project."""
    return folder == Path("/") or folder == Path.home().resolve()
