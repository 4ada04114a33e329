"""Git submodules that a program imports and that are not in the checkout: a clone without --recurse-submodules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts.records import Import

from ..program import Program

_PATH = re.compile(r"^\s*path\s*=\s*(\S.*?)/?\s*$", re.M)


def absent_submodules(program: Program) -> Iterator[str]:
    """What is said of each, with the first import of it."""
    repository = program.index.repository
    listed = repository.root / ".gitmodules"
    folders = _PATH.findall(listed.read_text("utf-8", "replace")) if listed.is_file() else []
    for folder in folders:
        if any(path.startswith(f"{folder}/") for path in repository.files):
            continue
        if where := next(_imports(program, folder), ""):
            yield f"{folder} is a git submodule and not in this checkout ({where} imports it): what it holds is not told"


def _imports(program: Program, folder: str) -> Iterator[str]:
    for path, file in program.index.files.items():
        entries = file.imports if program.is_loaded(path) else ()
        yield from (f"{path}:{one.line}" for one in entries if _is_of(path, one, folder))


def _is_of(path: str, entry: Import, folder: str) -> bool:
    """The folder from the root or from the file, or a package of its name."""
    home = path.split("/")[: -entry.level] if entry.level else []
    named = "/".join((*home, *filter(None, entry.module.split(".")), *([entry.name] if entry.name else [])))
    is_package = not entry.level and entry.module.partition(".")[0] == folder.rpartition("/")[2]
    return is_package or f"{named}/".startswith(f"{folder}/")
