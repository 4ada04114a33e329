"""The few words that pin a claim to its source: still there, moved, or gone."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from trainsleuth.evidence.library import Library, Record
from trainsleuth.evidence.records import Defect

State = Literal["found", "moved", "gone", "not looked at"]

_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\xa0": " ", "…": "..."})
_HEADING = re.compile(r"(?m)^#{1,6} +(.+?)\s*#*\s*$")
_FENCE = re.compile(r"(?ms)^```.*?^```|^~~~.*?^~~~")
_UNDERLINED = re.compile(r"(?m)^(\S.*)\n(?:={3,}|-{3,})\s*$")
_HTML_HEADING = re.compile(r"(?is)<h([1-6])[^>]*>(.*?)</h\1>")
_BLOCK_TAG = re.compile(r"(?i)</?(?:p|div|li|ul|ol|tr|td|br|section|article|pre|blockquote)\b[^>]*>")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"[^\W_]+(?:['.:/+-][^\W_]+)*")


@dataclass(frozen=True)
class Sighting:
    """One anchor looked for in its source: `now` says under which heading, or in which words, it is found instead."""

    claim: str
    source: str
    anchor: str
    state: State
    now: str = ""


def sightings(library: Library) -> Iterator[Sighting]:
    """Every anchor of every claim; those whose source is not at hand were not looked at."""
    parts = {id: sections(text) for id, text in library.texts.items()}
    for claim in library.claims:
        for cited in claim["sources"]:
            anchor = str(cited.get("anchor", ""))
            if anchor:
                state, now = look_for(cited, parts[cited["id"]]) if cited["id"] in parts else ("not looked at", "")
                yield Sighting(claim["id"], cited["id"], anchor, state, now)


def defects(library: Library) -> Iterator[Defect]:
    for one in sightings(library):
        if one.state == "gone":
            yield Defect("anchor-gone", one.claim, f"{one.anchor!r} is not in {one.source} any more; read it again")
        elif one.state == "moved":
            yield Defect("anchor-moved", one.claim, f"{one.anchor!r} of {one.source} is now {one.now}")


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Heading and words of each section of a page in markdown, HTML or plain text."""
    unfenced = _FENCE.sub(lambda code: code[0].replace("\n#", "\n #"), _plain(text))
    marked = _UNDERLINED.sub(r"# \1", unfenced)
    before, *split = _HEADING.split(marked)
    titled = [("", before), *zip(split[::2], split[1::2], strict=True)]
    return [(title.strip(), words(f"{title} {body}")) for title, body in titled]


def look_for(cited: Record, parts: list[tuple[str, list[str]]]) -> tuple[State, str]:
    """Found under its heading; moved to another one, or reworded by up to two words; or gone."""
    wanted, heading = words(str(cited["anchor"])), " ".join(words(str(cited.get("heading", ""))))
    at = [title for title, body in parts if _holds(body, wanted)]
    if not at:
        whole = [word for _, body in parts for word in body]
        if _holds(whole, wanted):
            return "found", ""  # across a heading
        near = _nearest(whole, wanted)
        return ("moved", f"worded {near!r}") if near else ("gone", "")
    if not heading or any(" ".join(words(title)) == heading for title in at):
        return "found", ""
    if heading in {" ".join(words(title)) for title, _ in parts}:
        return "moved", f"under the heading {at[0]!r}"
    return "found", ""  # its heading is not one of this copy: a part of the page, or another format


def words(text: str) -> list[str]:
    """Lower case, quotes and dashes alike, without marks of emphasis."""
    return _WORD.findall(_LINK.sub(r"\1", text).translate(_QUOTES).lower().replace("*", "").replace("`", ""))


def _plain(text: str) -> str:
    if not re.search(r"(?i)</(?:html|body|p|h[1-6])>", text):
        return text
    text = re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text)
    text = _HTML_HEADING.sub(lambda found: f"\n# {re.sub('<[^>]+>', '', found[2])}\n", text)
    return html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", _BLOCK_TAG.sub(" ", text)))


def _holds(body: list[str], wanted: list[str]) -> bool:
    return f" {' '.join(wanted)} " in f" {' '.join(body)} "


def _nearest(body: list[str], wanted: list[str]) -> str:
    """The words that replaced the anchor: all but at most two of its words, at least three, in one place."""
    need = max(len(wanted) - 2, 3)
    if len(wanted) < 4:
        return ""
    asked = set(wanted)
    for start in range(len(body) - len(wanted) + 1):
        if body[start] in asked and len(asked & set(body[start : start + len(wanted)])) >= need:
            return " ".join(body[start : start + len(wanted)])
    return ""
