"""A shell script of the repository, with the scripts that it sources: source scripts/options.bash"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.repository import Repository

from ..recipe.composition import normal
from .shell_variables import Lines, script_lines

_SOURCES = re.compile(r"^\s*(?:source|\.)\s+[\"']?([^\s\"';#]+)")
_NOT_READ = re.compile(r"parse_options\.sh$|(?:^|/)activate$|\.?bashrc$")  # Kaldi's own reading of options is known
MAX_SOURCED = 8  # by one script
MAX_DEPTH = 3  # each sourcing the next one


def lines_of(repository: Repository, path: str, depth: int = 0) -> Lines:
    """Its lines; none of a file that cannot be read."""
    lines = Lines(script_lines(repository.read(path) or "", path))
    if depth < MAX_DEPTH:
        lines.sourced = dict(_sourced(repository, path, lines, depth))
    return lines


def _sourced(repository: Repository, path: str, lines: Lines, depth: int) -> Iterator[tuple[int, list[str]]]:
    left = MAX_SOURCED
    for number, line in enumerate(lines, 1):
        match = _SOURCES.match(line) if left else None
        other = _file(repository, path, match[1]) if match is not None else None
        if other is not None and other != path:
            left -= 1
            inner = lines_of(repository, other, depth + 1)
            yield number, [one for at, text in enumerate(inner, 1) for one in (*inner.sourced.get(at, ()), text)]


def _file(repository: Repository, path: str, word: str) -> str | None:
    """From the root or beside the script; of a folder that a variable holds what lies beside it: ${DIR}/common.sh"""
    if _NOT_READ.search(word):
        return None
    home = path.rpartition("/")[0]
    tries = [normal(f"{home}/{word}"), normal(word)]
    if "$" in word:
        tries = [normal(f"{home}/{word.rpartition('}')[2].rpartition('/')[2]}")]
    return next((one for one in tries if one in repository.files), None)
