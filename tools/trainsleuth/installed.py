"""Which folders of a project hold what was installed, and no code of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MADE_BY_TOOLS = ("/pyvenv.cfg", "/conda-meta/history")  # in the folder that venv, virtualenv or conda made
_PACKAGES = re.compile(r"(.*?/)?(site|dist)-packages(?=/)")


def environments(paths: Iterable[str]) -> frozenset[str]:
    """Of files of a project: the folders below its root that an environment of Python lies in."""
    found = {folder for path in paths if (folder := _environment(path))}
    return frozenset(folder for folder in found if not any(folder.startswith(f"{other}/") for other in found))


def _environment(path: str) -> str:
    """The folder whose content this file shows to be installed; "" when it shows nothing."""
    for mark in _MADE_BY_TOOLS:
        if path.endswith(mark):
            return path.removesuffix(mark)
    packages = _PACKAGES.match(path) if "-packages/" in path else None
    return packages[0] if packages is not None else ""


_BUILT = re.compile(r"((?:.*/)?build/(?:lib|bdist)[^/]*)/")


def builds(paths: Iterable[str]) -> frozenset[str]:
    """Folders with the copy of a package that `python -m build` leaves beside it: build/lib, where build/ is no package."""
    every = frozenset(paths)
    found = {match[1] for path in every if "build/" in path and (match := _BUILT.match(path)) is not None}
    return frozenset(folder for folder in found if f"{folder.rpartition('/')[0]}/__init__.py" not in every)
