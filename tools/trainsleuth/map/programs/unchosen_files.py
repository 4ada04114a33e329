"""Files that are imported only in arms of the code which the settings do not take."""

from __future__ import annotations

from collections.abc import Iterable

from trainsleuth.facts import Branch, FileFacts, Import

from ..configuration import Truth
from ..configuration.use.untaken import said_off
from ..drawing.source_text import source_lines
from ..drawing.statements import enclosing
from ..program import Program
from .running import by_entry

_TESTS = ("if ", "if(", "elif ", "elif(")


def unchosen_files(program: Program, truth: Truth) -> dict[str, str]:
    """if cfg.backend == "a": from .a import Worker, elif cfg.backend == "b": from .b import Worker.

    The file of the arm that is not taken, and those that only it imports, each with the setting that decides.
    """
    reached = program.entry.reach
    roots = {root.path for root in reached.roots} | {one.path for one in program.chosen}
    every, off = _loaded(program, truth, roots, {})
    if not off:
        return {}
    by_name = reached.files - every
    live, _ = _loaded(program, truth, roots | by_name, off)
    why = next(iter(off.values()))
    left = every - live
    return {path: next((said for (_, _, to), said in off.items() if to == path), why) for path in left}


_Off = dict[tuple[str, int, str], str]  # (file, line of the import, file that it imports): why not


def _loaded(program: Program, truth: Truth, roots: Iterable[str], skipped: _Off) -> tuple[set[str], _Off]:
    """Files that those at `roots` import, but by what is `skipped`; and the imports among them that do not run."""
    seen: set[str] = set()
    off: _Off = {}
    queue = [path for path in roots if path in program.index.files]
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        file = program.index.files[path]
        for entry in file.imports if path in program.entry.reach.files else ():
            for body in () if entry.typing else by_entry(program.index, path, entry):
                if (path, entry.line, body.path) in skipped:
                    continue
                queue.append(body.path)
                if not skipped and (why := _untaken(program, truth, file, entry)):
                    off[path, entry.line, body.path] = why
    return seen, off


def _untaken(program: Program, truth: Truth, file: FileFacts, entry: Import) -> str:
    """The setting by which the arm right around an import is not taken."""
    lines = source_lines(program.index, file.path)
    if not 0 < entry.line <= len(lines) or not (indent := _indent(lines[entry.line - 1])):
        return ""
    outer = (at for at in range(entry.line - 1, 0, -1) if lines[at - 1].strip() and _indent(lines[at - 1]) < indent)
    above = next(outer, 0)
    if not above or not lines[above - 1].lstrip().startswith(_TESTS):
        return ""
    function = enclosing(file, entry.line)
    test = next((one.value for one in function.events if one.kind == "if" and one.line == above), None)
    if test is None:
        return ""
    branch = Branch(-1, 0, 1, False, "if", (test,))
    return said_off(truth, function, branch)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
