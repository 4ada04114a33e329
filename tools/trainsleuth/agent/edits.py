"""Edits that a model proposes: what a file would be with them, and the diff; nothing is written here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainsleuth.repository import MAX_BYTES, Repository, RepositoryError
from trainsleuth.wording import path_text

from .tool import RefusedError

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # as git sees lines: str.splitlines would also cut at a form feed


@dataclass(frozen=True)
class Edit:
    """`old` stands exactly once in the file `path` and becomes `new`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Edited:
    """Each file's text before and after, by path; bytes that are not UTF-8 are surrogates, line ends as they were."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def diff(self) -> str:
        """For `git apply`."""
        return "".join(line for path in self.before for line in _diff(path, self.before[path], self.after[path]))


def edited(repository: Repository, edits: Sequence[Edit]) -> Edited:
    """The files with all edits made, in order. Raises RefusedError for an edit that does not fit."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for edit in edits:
        path = _listed(repository, edit.path)
        if path not in before:
            before[path] = after[path] = _text(repository, path)
        after[path] = _with(after[path], edit)
    if unchanged := [path for path in before if before[path] == after[path]]:
        raise RefusedError(f"{path_text(unchanged[0])} stays the same by these edits; give a new text that differs")
    return Edited(before, after)


def _listed(repository: Repository, path: str) -> str:
    """Only what read_code shows: else an edit would tell what hidden and ignored files hold."""
    try:
        relative = repository.relative(path)
    except RepositoryError as error:
        raise RefusedError(str(error)) from error
    real = repository.root / relative
    if relative not in repository.files or real.resolve() != real or not real.is_file():
        raise RefusedError(
            f"{path_text(path)} is not a file below the repository that can be changed; give its relative path"
        )
    return relative


def _text(repository: Repository, path: str) -> str:
    file = repository.root / path
    if file.stat().st_size > MAX_BYTES:
        raise RefusedError(f"{path_text(path)} is larger than {MAX_BYTES:,} bytes; change the code, not the data")
    return file.read_bytes().decode("utf-8", "surrogateescape")


def _with(text: str, edit: Edit) -> str:
    old, new = edit.old, edit.new
    if "\r\n" in text and "\r" not in old:  # read_code shows line ends alike
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    times = text.count(old) if old else 0
    if times != 1:
        raise RefusedError(f"{edit.path}: the old text stands there {times} times, expected once; give more of it")
    return text.replace(old, new)


def _diff(path: str, old: str, new: str) -> Iterator[str]:
    before, after = (_LINE.findall(text) for text in (old, new))
    for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
