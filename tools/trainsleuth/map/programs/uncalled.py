"""A training function that nothing calls, and the call of it that was taken out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainsleuth.facts import MODULE_BODY, Function, Index


def uncalled(index: Index, functions: Iterable[Function]) -> str:
    """What is said of the only one of `functions` when no file names it but to define or to import it; else ""."""
    found = list(functions)
    if len(found) != 1 or found[0].owner or found[0].outer or found[0].decorators or found[0].name == MODULE_BODY:
        return ""
    name = found[0].name
    mentions = list(_mentions(index, name))
    harmless = re.compile(rf"\s*(?:async\s+)?def\s+{name}\b|\s*(?:from\s+\S+\s+)?import\b")
    if not all(line.lstrip().startswith("#") or harmless.match(line) for _, _, line in mentions):
        return ""
    if _is_set(index, name):
        return ""
    call = re.compile(rf"\s*#.*\b{name}\s*\(")
    left = next(
        (f"; the call on {path}:{number} is a comment" for path, number, line in mentions if call.match(line)), ""
    )
    return f"nothing calls {found[0].path}:{found[0].line} {name}{left}"


_SETTINGS = (".yaml", ".yml", ".toml", ".cfg", ".ini", ".json", ".gin", ".sh")


def _is_set(index: Index, name: str) -> bool:
    """A file of settings names it: a console script, a function by its name."""
    files = (path for path in index.repository.files if path.endswith(_SETTINGS))
    return any(name in (index.repository.read(path) or "") for path in files)


def _mentions(index: Index, name: str) -> Iterator[tuple[str, int, str]]:
    """(file, line, text) wherever the name stands."""
    pattern = re.compile(rf"\b{name}\b")
    for path, file in index.files.items():
        if file.body.source.holds(re.compile(pattern.pattern.encode())):
            for number, line in enumerate((index.repository.read(path) or "").split("\n"), 1):
                if pattern.search(line):
                    yield path, number, line
