"""How large a repository is, and where its work happens: lines of each file, files that changed most often."""

from __future__ import annotations

from collections.abc import Mapping

from trainsleuth.facts import Index
from trainsleuth.history import History, read_history
from trainsleuth.repository import is_source


def lines_of_code(index: Index) -> Mapping[str, int]:
    """Lines of each Python file and notebook."""
    return {path: file.lines for path, file in index.files.items() if is_source(path)}


def largest_files(index: Index) -> str:
    return _first_three(lines_of_code(index))


def most_changed(index: Index) -> tuple[str, History] | None:
    """In words, and the commits that were counted; None without a history, or where no file changed twice."""
    history = read_history(index.repository.root)
    if history is None:
        return None
    code = lines_of_code(index)
    changed = {path: n for path, n in history.changes.items() if n > 1 and path in code}
    return (_first_three(changed), history) if changed else None


def _first_three(counts: Mapping[str, int]) -> str:
    most = sorted(counts, key=lambda path: (-counts[path], path))[:3]
    return ", ".join(f"{path} {counts[path]:,}" for path in most)
