"""Files of a program by the end of their path that no other file of it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..program import Program

MOST_NAMES = 4  # of a path; one that is longer is not worth a short name


class Tails:
    """`names` are letters for files that are named often; `of` is for the others."""

    def __init__(self, program: Program, names: Mapping[str, str]) -> None:
        self._names = names
        paths = {*program.entry.reach.files, *program.config_paths}
        self._count = Counter(tail for path in paths for tail in _tails(path))

    def of(self, path: str) -> str:
        """ "A", or "sg_trainer.py", or "training/params.py" where another file is called params.py."""
        if path in self._names:
            return self._names[path]
        return next((tail for tail in _tails(path) if self._count[tail] <= 1), path)


def _tails(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[-count:]) for count in range(1, min(len(parts), MOST_NAMES) + 1)]
