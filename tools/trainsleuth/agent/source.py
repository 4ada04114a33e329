"""Reading the user's code: lines of a file, and a search; every line behind a bar, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anyio

from trainsleuth.repository import Repository, RepositoryError
from trainsleuth.wording import BAR, path_text, visible

from .agreement import Agreement
from .tool import RefusedError, Tool, object_schema

MOST_LINES = 200  # of one answer
MOST_HITS = 60
MOST_COLUMNS = 240


def source_tools(agreement: Agreement) -> Iterator[Tool]:
    """read_code and search_code, over the files that the repository lists and no others."""
    repository = Repository(agreement.root)

    async def read_code(path: str, start: int = 1, lines: int = 80) -> str:
        return await _aside(_lines, repository, path, max(1, int(start)), min(int(lines), MOST_LINES))

    async def search_code(pattern: str, path: str = "") -> str:
        return await _aside(_hits, repository, pattern, path)

    yield Tool(
        "read_code",
        f"Lines of one file of the repository, at most {MOST_LINES} at a time.",
        object_schema(
            {"path": {"type": "string", "description": "relative to the repository"}},
            start={"type": "integer", "minimum": 1},
            lines={"type": "integer", "minimum": 1, "maximum": MOST_LINES},
        ),
        read_code,
    )
    yield Tool(
        "search_code",
        f"Lines of the repository that match a regular expression (ripgrep's), the first {MOST_HITS}.",
        object_schema({"pattern": {"type": "string"}}, path={"type": "string", "description": "below this path only"}),
        search_code,
    )


async def _aside(work: Callable[..., str], *given: Any) -> str:
    """In a thread: a search through gigabytes must not keep a signal or the time limit waiting."""
    return await anyio.to_thread.run_sync(work, *given, abandon_on_cancel=True)


def _lines(repository: Repository, path: str, start: int, count: int) -> str:
    relative = _inside(repository, path)
    real = repository.root / relative
    if relative not in repository.files or real.resolve() != real:  # it may have become a link since it was listed
        raise RefusedError(f"{path_text(path)} is not a file of this repository that may be read; see search_code")
    text = repository.read(relative)
    if text is None:
        why = next((one.reason for one in repository.skipped if one.path == relative), "it cannot be read")
        raise RefusedError(f"{path_text(path)}: {why}")
    lines = text.split("\n")
    shown = lines[start - 1 : start - 1 + count]
    if not shown:
        raise RefusedError(f"{path_text(path)} has {len(lines)} lines; start at one of them")
    rows = [f"{number:>5} {BAR}{_cut(line)}" for number, line in enumerate(shown, start)]
    return "\n".join([f"{path_text(relative)}, {len(lines)} lines", *rows])


def _hits(repository: Repository, pattern: str, path: str) -> str:
    scope = _inside(repository, path) if path else ""
    try:
        found = repository.search(pattern, [scope, f"{scope}/**"] if scope not in ("", ".") else ())
    except RepositoryError as error:
        raise RefusedError(str(error)) from error
    rows = [f"{path_text(hit.path)}:{hit.line} {BAR}{_cut(hit.text)}" for hit in found[:MOST_HITS]]
    return "\n".join([f"{len(found)} lines match, showing {len(rows)}", *rows])


def _inside(repository: Repository, path: str) -> str:
    try:
        return repository.relative(path)
    except RepositoryError as error:
        raise RefusedError(str(error)) from error


def _cut(line: str) -> str:
    return visible(line if len(line) <= MOST_COLUMNS else f"{line[:MOST_COLUMNS]} [cut]")
