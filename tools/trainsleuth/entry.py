"""Entries of the lore as text for people and models, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.content import Section
from trainsleuth.lore import Citation, Entry, Source

MAX_SECTION = 1600  # characters of a section that are shown


def as_text(entry: Entry) -> str:
    """A few lines: what it says, how strong it is, who contests it, and where it comes from."""
    return "\n".join(_lines(entry))


def as_dict(entry: Entry) -> dict[str, Any]:
    """The same as plain JSON types; what an entry does not have is left out."""
    plain: dict[str, Any]
    if isinstance(entry, Section):
        plain = {"id": entry.id, "title": entry.title, "text": _cut(entry.text), "claims": list(entry.claims)}
    elif isinstance(entry, Source):
        plain = {"id": entry.id, **vars(entry)}
    else:
        plain = {**vars(entry), "sources": [_cited(one) for one in entry.sources]}
    return {name: value for name, value in plain.items() if value not in ("", [])}


def _lines(entry: Entry) -> Iterator[str]:
    if isinstance(entry, Section):
        yield f"{entry.id}: {entry.title}"
        yield _cut(entry.text)
        return
    if isinstance(entry, Source):
        yield f"[{entry.id}] {entry.title}, {entry.authors}, {entry.year} (read: {entry.read})"
        yield f"  {entry.url}"
        return
    yield f"[{entry.id}] {entry.text} ({entry.strength})"
    for name in ("measured", "recounted", "contested"):
        if value := getattr(entry, name):
            yield f"  {name}: {value}"
    for one in entry.sources:
        yield f"  source: {one.source.title}, {one.source.authors}, {one.source.year}; {one.where}; {one.url}"


def _cited(one: Citation) -> dict[str, str]:
    return {"id": one.source.id, "title": one.source.title, "where": one.where, "url": one.url}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SECTION else text[:MAX_SECTION].rsplit("\n", 1)[0] + "\n..."
