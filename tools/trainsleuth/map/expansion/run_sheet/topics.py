"""What is asked of every run, and by which words the settings and places of the code are found that answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from ...configuration.use.switched_off import SWITCHES
from ...records import Place


class Where(NamedTuple):
    """A part or feature of the anatomy, the roles of its places, any for none, and what the statement says."""

    part: str
    roles: frozenset[str]
    says: re.Pattern[str]

    def takes(self, place: Place) -> bool:
        return not self.roles or place.role in self.roles


class Topic(NamedTuple):
    """One of topics.yaml, which says what the fields are."""

    name: str
    words: re.Pattern[str] = re.compile("^$")
    weak: re.Pattern[str] = re.compile("^$")
    sections: re.Pattern[str] = re.compile("^$")
    places: tuple[Where, ...] = ()
    built: str = ""
    is_switch: bool = False
    is_rare: bool = False
    doubtful: re.Pattern[str] = re.compile("^$")
    otherwise: tuple[Where, ...] = ()

    def tells(self, word: str) -> bool:
        return any(one.fullmatch(word) is not None for one in (self.words, self.weak, self.sections))


def _read(
    name: str,
    words: Sequence[str],
    weak: Sequence[str] = (),
    sections: Sequence[str] = (),
    places: Sequence[Sequence[str]] = (),
    built: str = "",
    switch: bool = False,
    rare: bool = False,
    doubtful: Sequence[str] = (),
    otherwise: Sequence[Sequence[str]] = (),
) -> Topic:
    where, last = (tuple(_where(*one) for one in given) for given in (places, otherwise))
    return Topic(name, _any(words), _any(weak), _any(sections), where, built, switch, rare, _any(doubtful), last)


def _any(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(words) or "^$", re.I)


def _where(part: str, roles: str, says: str = "") -> Where:
    return Where(part, frozenset(filter(None, roles.split("|"))), re.compile(says))


TOPICS = tuple(
    _read(**one) for one in yaml.safe_load((Path(__file__).parent / "topics.yaml").read_text(encoding="utf-8"))
)
TAGS = ("type", "name", "_name", "_target_", "class_path", "!new", "!name")
_FIRST = (
    ("evaluated", re.compile(r"(?:val|valid|test|eval|validation|evaluation|infer\w*)(?:_(?!freq|interval)\w+)?|sample|export\w*", re.I)),
    ("averaged weights", re.compile(r"\w*ema(?:_\w+)?|swa(?!n)\w*", re.I)),
    ("memory", re.compile(r"\w*(?:grad|activation)\w*_checkpoint\w*|\w*offload\w*", re.I)),
)  # fmt: skip


def topic_of(name: str) -> str:
    """By a section for evaluation, averaging or memory, by its last word, by the nearest section that tells, by a weak last word."""
    *above, last = [part for part in name.split(".") if not part.isdigit()] or [name]
    tag = last if above and last in (*TAGS, *SWITCHES) else ""
    if tag:
        *above, last = above
    for topic, sections in _FIRST:
        if any(sections.fullmatch(part) for part in above):
            return topic
    if (found := _named(last)) in DOUBTED and (told := next(filter(None, map(_section, reversed(above))), "")):
        return told if _doubts(found, last) else found
    if found := _named(last) or (_section(last) if tag else ""):
        return found
    for part in reversed(above):
        if found := _section(part) or _named(part):
            return found
    return next((one.name for one in TOPICS if one.weak.fullmatch(last)), "")


DOUBTED = frozenset(one.name for one in TOPICS if one.doubtful.pattern != "^$")


def _doubts(topic: str, word: str) -> bool:
    """A word that means the topic only where no section says another."""
    return any(one.name == topic and one.doubtful.fullmatch(word) is not None for one in TOPICS)


def _named(word: str) -> str:
    return next((one.name for one in TOPICS if one.words.fullmatch(word)), "")


def _section(word: str) -> str:
    return next((one.name for one in TOPICS if one.sections.fullmatch(word)), "")


def says_section(topic: Topic, section: str) -> bool:
    """The last name of a section says the topic."""
    word = section.rpartition(".")[2]
    return topic.sections.fullmatch(word) is not None or topic.words.fullmatch(word) is not None


def is_named(topic: Topic, name: str) -> float:
    """1 when the key says by its own last word, or by the tag of its section, what it is about; weak words 0.2."""
    *above, last = [part for part in name.split(".") if not part.isdigit()] or [name]
    word = above[-1] if above and last in (*TAGS, *SWITCHES) else last
    if topic.words.fullmatch(word):
        return 1.0
    return 0.2 if topic.weak.fullmatch(word) else 0.0
