"""Files of a program by the end of their path that no other file of it has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

MOST_NAMES = 4  # of a path; one that is longer is not worth a short name


class Tails:
    """`names` are letters for files that are named often; `of` is for the others of `paths`."""

    def __init__(self, paths: Iterable[str], names: Mapping[str, str]) -> None:
        self._names = names
        self._paths = {*paths, *names}
        self._count = Counter(tail for path in self._paths for tail in _tails(path))

    def of(self, path: str) -> str:
        """ "A", or "sg_trainer.py", or "training/params.py" where another file is called params.py."""
        if path in self._names:
            return self._names[path]
        return self.tail(path)

    def tail(self, path: str) -> str:
        return next((tail for tail in _tails(path) if self._count[tail] <= 1), path)

    def within(self, text: str) -> str:
        """A text with the paths before its line numbers as `of` has them."""
        return _PLACE.sub(lambda found: self.of(found[0]) if found[0] in self._paths else found[0], text)


_PLACE = re.compile(r"[\w./-]+(?=:\d)")


def _tails(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[-count:]) for count in range(1, min(len(parts), MOST_NAMES) + 1)]
