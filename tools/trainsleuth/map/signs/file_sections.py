"""What a reader asks for first in a file of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..program import Program
from ..records import Place

TELLING = re.compile(r"^(?:learning_rate|lr|base_lr|batch_size|epochs?|max_epochs|max_steps|num_epochs|optimizer|model|dataset|loss|name|type|seed)$", re.I)  # fmt: skip


def file_sections(program: Program, path: str, score: float) -> Iterator[Place]:
    """Where each section of a file of settings begins, and the settings that a reader asks for first."""
    seen: set[str] = set()
    for key, line in _lines(program, path):
        section, _, last = key.rpartition(".")
        top = ".".join(section.split(".")[:2])
        if top not in seen:
            seen.add(top)
            yield Place(path, line, "section", score * (1.0 if "." not in top else 0.85))
        elif TELLING.match(last):
            yield Place(path, line, "setting", 0.8 * score)


def _lines(program: Program, path: str) -> Iterator[tuple[str, int]]:
    """Of Python that holds settings beside other things those of this run."""
    if path in program.index.configs:
        yield from ((key, one.line) for key, one in program.index.configs[path].items())
    else:
        yield from ((one.key, one.line) for one in program.settings if one.path == path)
