"""Lore as text: claims with their strength and sources, sources, sections of the playbook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from trainsleuth.answers.answer import Answer, Section
from trainsleuth.content import Section as Page
from trainsleuth.lore import Claim, Entry, Source
from trainsleuth.wording import one_line, wrapped

PAGE_LIMIT = 1_500  # characters of one section of the playbook in an answer


def lore_answer(entries: Iterable[Entry], query: str, width: int | None = None) -> Answer:
    """The entries that were found for `query`, nearest first."""
    found = list(entries)
    none = f'the lore says nothing with the words {one_line(query, 80)!r}; try the symptom ("loss is nan") or an id'
    count = f"{len(found)} {'entry' if len(found) == 1 else 'entries'} for {one_line(query, 80)!r}, nearest first"
    return Answer(
        head=count if found else none,
        sections=(Section("", tuple(entry_text(entry, width) for entry in found), "limit, or an id"),),
        plain={"query": query, "entries": [entry_dict(entry) for entry in found]},
    )


def entry_text(entry: Entry, width: int | None = None) -> str:
    """One entry, with what backs it."""
    if isinstance(entry, Claim):
        return _claim_text(entry, width)
    if isinstance(entry, Source):
        return _source_text(entry, width)
    text = entry.text if len(entry.text) <= PAGE_LIMIT else f"{entry.text[:PAGE_LIMIT]} [cut: read {entry.id}]"
    return "\n".join([entry.id, *(f"  {line}" for line in text.splitlines())])


def entry_dict(entry: Entry) -> Mapping[str, Any]:
    kind = {Claim: "claim", Source: "source", Page: "section"}[type(entry)]
    return {"kind": kind, **asdict(entry)}


def _claim_text(claim: Claim, width: int | None) -> str:
    lines = [f"{claim.id}  ({claim.strength})", wrapped(one_line(claim.text), "  ", width)]
    for name in ("measured", "recounted", "contested"):
        if said := getattr(claim, name):
            lines.append(wrapped(f"{name}: {one_line(said)}", "  ", width, "  "))
    lines += [
        wrapped(f"source: {one_line(f'{cited.source.title}, {cited.where}')}", "  ", width, "  ") + f"\n    {cited.url}"
        for cited in claim.sources
    ]
    return "\n".join(lines)


def _source_text(source: Source, width: int | None) -> str:
    return "\n".join(
        [
            f"{source.id}  ({source.kind}, {source.year})",
            wrapped(one_line(f"{source.authors}: {source.title}"), "  ", width),
            wrapped(one_line(source.why), "  ", width),
            f"  {source.url}",
        ]
    )
