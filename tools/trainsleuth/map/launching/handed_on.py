"""Console scripts that start another program: subprocess.call("python -X faulthandler main.py -t train")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Function, Index

from .launch_targets import module_of, script_of

_RUNS = re.compile(
    rb"\bos\.(?:system|execvp?e?)\(|\bsubprocess\.\w+\(|\bPopen\(|\brun_path\(|\bfrom subprocess import "
)
_SCRIPT = re.compile(r"(?:\{[^{}\n]*\}/|(?<=[\"'\s]))([\w./-]+\.py)(?=[\"'\s])")
MAX_BEYOND = 8  # functions and names of the file that one function leads to


def started_from(index: Index, path: str, function: str) -> str | None:
    """The program that a function of a file starts as a process of its own; None for none, or one of several."""
    file = index.files.get(path)
    start = file.functions.get(function) if file is not None else None
    if file is None or start is None or not file.body.source.holds(_RUNS):
        return None
    folder = path.rpartition("/")[0] or "."
    own = _scripts(index, folder, path, (start.line, start.end_line))
    for found in (own, {one for lines in _beyond(index, start) for one in _scripts(index, folder, path, lines)}):
        if len(found) == 1:
            return found.pop()
    return None


def only_program_of(index: Index, path: str) -> str | None:
    """The program that a file starts as a process of its own, where its text names one only; of several the one that
    says that it trains.
    """
    file = index.files.get(path)
    if file is None or not file.body.source.holds(_RUNS):
        return None
    lines = (1, file.body.end_line)
    found = _scripts(index, path.rpartition("/")[0] or ".", path, lines) | _modules(index, path, lines)
    able = found if len(found) == 1 else {one for one in found if _TRAINS.search(one.rpartition("/")[2])}
    return able.pop() if len(able) == 1 else None


_TRAINS = re.compile(r"^(?:run_)?train(?:er|ing)?(?=[_.])|_train(?:er|ing)?\.")


def _beyond(index: Index, start: Function) -> Iterator[tuple[int, int]]:
    """Lines of what the function names of its own file: constants, functions that it calls."""
    file = index.files[start.path]
    values = (event.value for event in start.events if event.value is not None)
    named = {part.text for value in values for part in value.walk() if part.kind == "path"}
    for name in sorted(named)[:MAX_BEYOND]:
        if name in file.functions:
            yield file.functions[name].line, file.functions[name].end_line
    for event in file.body.events:
        if event.kind == "assign" and any(target.text in named for target in event.targets):
            yield event.line, event.line


def _scripts(index: Index, folder: str, path: str, lines: tuple[int, int]) -> set[str]:
    text = (index.repository.read(path) or "").split("\n")[lines[0] - 1 : lines[1]]
    written = (match[1] for line in text for match in _SCRIPT.finditer(line))
    found = (script_of(index, folder, one.lstrip("/")) for one in written)
    return {one for one in found if one is not None and one != path}


def _modules(index: Index, path: str, lines: tuple[int, int]) -> set[str]:
    """Started with -m: ["torchrun", "-m", "project.train"]; f"python -m {module}" where module = "project.train"."""
    text = "\n".join((index.repository.read(path) or "").split("\n")[lines[0] - 1 : lines[1]])
    held = {match[1]: match[2] for match in _HOLDS_MODULE.finditer(text)}
    text = _HOLE.sub(lambda match: held.get(match[1], match[0]), text) if held else text
    found = (module_of(index, match[1]) for match in _STARTS_MODULE.finditer(text))
    return {one for one in found if one is not None and one != path}


_STARTS_MODULE = re.compile(r"""[\s"']-m["']?[\s,]+["']?([A-Za-z_]\w*(?:\.\w+)+)""")
_HOLDS_MODULE = re.compile(r"""(?m)^\s*(\w+)\s*=\s*["']([A-Za-z_]\w*(?:\.\w+)+)["']\s*$""")
_HOLE = re.compile(r"\{(\w+)\}")
