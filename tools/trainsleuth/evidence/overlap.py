"""No eight words in a row shared with a source: what we write is ours."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.evidence.anchors import words
from trainsleuth.evidence.library import GENERATED, Library
from trainsleuth.evidence.pages import blocks
from trainsleuth.evidence.records import Defect

RUN = 8  # words


def defects(library: Library) -> Iterator[Defect]:
    for id, text in library.texts.items():
        theirs = set(_runs(words(text)))
        for where, ours in _texts(library):
            shared = next((run for run in _runs(words(ours)) if run in theirs), None)
            if shared:
                yield Defect(
                    "shared-words", where, f"{' '.join(shared)!r} stands in {id} as well; say it in other words"
                )


def _texts(library: Library) -> Iterator[tuple[str, str]]:
    for claim in library.claims:
        yield claim["id"], f"{claim['text']} {claim.get('contested', '')}"
    for path, text in library.pages.items():
        if path not in GENERATED:
            yield from ((f"{path}:{block.line}", block.text) for block in blocks(text))


def _runs(text: list[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(text[start : start + RUN]) for start in range(len(text) - RUN + 1))
