"""What the lore says about a question, as an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainsleuth.answers.answer import Answer, Section
from trainsleuth.content import Section as Page
from trainsleuth.entry import as_dict, as_text
from trainsleuth.lore import Claim, Entry, Source
from trainsleuth.wording import one_line

_KINDS: Mapping[type, str] = {Claim: "claim", Source: "source", Page: "section"}


def lore_answer(entries: Iterable[Entry], query: str) -> Answer:
    """The entries that were found for `query`, nearest first."""
    found = list(entries)
    asked = repr(one_line(query, 80))
    count = f"{len(found)} {'entry' if len(found) == 1 else 'entries'} for {asked}, nearest first"
    none = f'the lore says nothing with the words {asked}; try the symptom ("loss is nan"), or an id'
    return Answer(
        head=count if found else none,
        sections=(Section("", tuple(as_text(entry) for entry in found), "limit, or an id"),),
        plain={"query": query, "entries": [entry_dict(entry) for entry in found]},
    )


def entry_dict(entry: Entry) -> Mapping[str, Any]:
    """Plain data of one entry, with what it is: claim, source or section."""
    return {"what": _KINDS[type(entry)], **as_dict(entry)}
