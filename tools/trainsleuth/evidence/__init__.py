"""The lore, verified: what it cites exists, what it counts was measured, what it quotes is still there.

Offline, unless pages are asked for; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.evidence import anchors, overlap, pages, records
from trainsleuth.evidence.anchors import Sighting, sightings
from trainsleuth.evidence.library import Library, installed
from trainsleuth.evidence.records import Defect

__all__ = ["Defect", "Library", "Sighting", "defects", "installed", "sightings"]


def defects(library: Library) -> Iterator[Defect]:
    """Everything that is wrong, records first; anchors and shared words only where a text is at hand."""
    yield from records.defects(library)
    yield from pages.defects(library)
    yield from anchors.defects(library)
    yield from overlap.defects(library)
