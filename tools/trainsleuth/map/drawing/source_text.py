"""The lines of a file of the repository."""

from __future__ import annotations

from trainsleuth.facts import Index
from trainsleuth.repository import Repository, is_notebook


def source_lines(index: Index, path: str) -> list[str]:
    return lines_of(index.repository, path)


def lines_of(repository: Repository, path: str) -> list[str]:
    """Of a notebook, those of its cells one after the other."""
    text = repository.read(path)
    if text is None:
        return []
    if is_notebook(path):
        from trainsleuth.facts.reading.notebook import join_cells

        text, _ = join_cells(text)
    return text.split("\n")
