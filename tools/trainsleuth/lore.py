"""The lore: claims and their sources, by id, by words or by symptom."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from trainsleuth.bm25 import Ranking
from trainsleuth.content import Section, read_evidence, sections

MAX_QUERY = 400  # characters of a question that count
RESULTS = "experiments/results.json"


class LoreError(LookupError):
    """An id that the lore does not hold; the message names the nearest ones."""


@dataclass(frozen=True)
class Source:
    """Where a claim comes from. `read` is "full text", "in part" or "not read"."""

    id: str
    title: str
    authors: str
    year: int
    url: str
    kind: str
    why: str
    read: str
    licence: str


@dataclass(frozen=True)
class Citation:
    """One place in one source: `anchor` is at most 7 of its words, `seen` what they were found in.

    `heading` is the nearest heading above the anchor, where that is known.
    """

    source: Source
    where: str
    anchor: str = ""
    seen: str = ""
    heading: str = ""

    @property
    def url(self) -> str:
        """The address of the source; on a web page, of the anchor in it."""
        page = self.source.url
        if not self.anchor or not page.startswith("http") or page.endswith(".pdf") or "#" in page:
            return page
        return f"{page}#:~:text={quote(self.anchor, safe='').replace('-', '%2D')}"


@dataclass(frozen=True)
class Claim:
    """One sentence of lore.

    `strength` is "measured by us", "measured study", "expert consensus", "single expert" or "lore".
    `experiment` is the script in evidence/experiments that measures it, `measured` what came out.
    """

    id: str
    topic: str
    text: str
    strength: str
    sources: tuple[Citation, ...]
    contested: str = ""
    experiment: str = ""
    measured: str = ""
    recounted: str = ""
    to_measure: str = ""


Entry = Claim | Source | Section
_Named = TypeVar("_Named")


def look_up(query: str, limit: int = 5) -> list[Entry]:
    """The `limit` entries nearest to an id, a question or a symptom in the user's words, best first.

    An empty list means that no word of the question occurs in the lore.
    """
    query = query[:MAX_QUERY]
    entries, ranking = _index()
    asked_id = query.strip().strip("[]")
    named = [entry for entry in entries if entry.id == asked_id]
    scored = sorted(zip(ranking.scores(query), range(len(entries)), strict=True), key=lambda s: (-s[0], s[1]))
    ranked = [entries[place] for score, place in scored if score > 0 and entries[place] not in named]
    return (named + ranked)[: max(limit, 0)]


def claim(id: str) -> Claim:
    """The claim with this id; LoreError names the nearest ids when there is none."""
    return _named(claims(), id, "claim")


def source(id: str) -> Source:
    """The source with this id; LoreError names the nearest ids when there is none."""
    return _named(sources(), id, "source")


@functools.cache
def claims() -> dict[str, Claim]:
    """Every claim by its id."""
    return {plain["id"]: _claim(plain) for plain in read_evidence("claims.yaml")}


@functools.cache
def sources() -> dict[str, Source]:
    """Every source by its id."""
    return {plain["id"]: Source(**plain) for plain in read_evidence("sources.yaml")}


@functools.cache
def measurements() -> dict[str, str]:
    """What the experiments say of each claim that they measure, by its id."""
    return {id: says for result in read_evidence(RESULTS)["results"] for id, says in result["says"].items()}


@functools.cache
def _index() -> tuple[tuple[Entry, ...], Ranking]:
    entries: tuple[Entry, ...] = (*sections(), *claims().values(), *sources().values())
    return entries, Ranking([_words_of(entry) for entry in entries])


def _words_of(entry: Entry) -> str:
    if isinstance(entry, Claim):
        return f"{entry.id} {entry.topic} {entry.text} {entry.measured}"
    if isinstance(entry, Section):
        return f"{entry.title} " * 4 + entry.text
    return f"{entry.id} {entry.title} {entry.authors} {entry.year}"


def _claim(plain: Mapping[str, Any]) -> Claim:
    cited = tuple(
        Citation(source(one["id"]), one["where"], one.get("anchor", ""), one.get("seen", ""), one.get("heading", ""))
        for one in plain["sources"]
    )
    measured = measurements().get(plain["id"], "") if "experiment" in plain else ""
    return Claim(**{**plain, "sources": cited, "measured": measured})


def _named(known: Mapping[str, _Named], id: str, kind: str) -> _Named:
    if id in known:
        return known[id]
    near = difflib.get_close_matches(id, known, n=3, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else "; search by words with look_up"
    raise LoreError(f"no {kind} with the id {id!r}{hint}")
