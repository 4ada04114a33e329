"""What a reader asks for first in a file of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .program import Program
from .records import Place

TELLING = re.compile(r"^(?:learning_rate|lr|base_lr|batch_size|epochs?|max_epochs|max_steps|num_epochs|optimizer|model|dataset|loss|name|type|seed)$", re.I)  # fmt: skip


def file_sections(program: Program, path: str, score: float) -> Iterator[Place]:
    """Where each section of a file of settings begins, and the settings that a reader asks for first."""
    seen: set[str] = set()
    for key, value in program.index.configs[path].items():
        section, _, last = key.rpartition(".")
        top = ".".join(section.split(".")[:2])
        if top not in seen:
            seen.add(top)
            yield Place(path, value.line, "section", score * (1.0 if "." not in top else 0.85))
        elif TELLING.match(last):
            yield Place(path, value.line, "setting", 0.8 * score)
