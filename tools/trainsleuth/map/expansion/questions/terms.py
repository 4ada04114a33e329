"""What is looked for: words as they are given, or a question in plain words widened by the field's names for things."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

OWN = 1.0  # what a word of the question itself counts beside the field's names for it
SAID = 0.5  # of that, what counts a word that a subject stands for
ALSO = 0.45  # what counts a name that goes with the subject, but is not it
PART = 0.5  # what it counts that the map takes a statement for one of the part that is asked for
_NOTHING = re.compile("(?!)")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Term(NamedTuple):
    """One thing that is looked for; `pattern` is matched with text in lower-case parts, see `parts`."""

    name: str
    pattern: re.Pattern[str]
    last: re.Pattern[str]  # matches the last of its words
    subject: int  # terms of one subject say the same in other words
    worth: float
    part: str = ""  # of the map: a statement that belongs to it says the same as one that holds the words


class _Subject(NamedTuple):
    when: re.Pattern[str]
    names: tuple[str, ...]
    also: tuple[str, ...]
    part: str


def parts(text: str) -> str:
    """Identifiers in lower-case parts: clip_grad_norm_ and ClipGradNorm are "clip grad norm"."""
    return _PARTS.sub(" ", text.replace(" / ", " divide ").replace("/= ", "divide ")).replace("_", " ").lower()


def terms_of(words: str, literal: bool) -> list[Term]:
    """`literal`: the words as they are given, each a subject of its own; else a question."""
    if literal:
        return [_term(word, place, 1.0) for place, word in enumerate(dict.fromkeys(words.split()))]
    return list(_of_question(words))


def values_of(terms: Sequence[Term], values: Iterable[str]) -> Iterator[Term]:
    """Names among the values of settings, as what is looked for besides."""
    for number, value in enumerate(values, 1 + max((term.subject for term in terms), default=0)):
        name = value.rpartition(" = ")[2].rpartition(".")[2]
        if _NAME.fullmatch(name) and name.lower() not in ("none", "true", "false", "null"):
            yield _term(name, number, VALUE)


VALUE = 0.7
_NAME = re.compile(r"[A-Za-z_]\w{3,}")


def _of_question(question: str) -> Iterator[Term]:
    said = question.lower()
    subject = 0
    known: set[str] = set()
    for one in _table().subjects:
        matches = list(one.when.finditer(said))
        if not matches:
            continue
        for names, worth in ((one.names, 1.0), (one.also, ALSO)):
            yield from (_term(name, subject, worth) for name in names)
        if one.part:
            yield Term(one.part, _NOTHING, _NOTHING, subject, PART, one.part)
        for match in matches:
            known.update(_words(match[0] + re.split(r"\W", said[match.end() :])[0]))
        subject += 1
    for word in _words(question):
        plain = word.lower()
        if plain not in _table().plain and len(plain) > 1:
            yield _term(word, subject, OWN * (SAID if plain in known else 1.0))
            subject += 1


def _words(text: str) -> Iterable[str]:
    return dict.fromkeys(re.findall(r"[\w.+-]*\w", text))


_ENDS = re.compile(r"(?:ations?|ings?|ied|ies|ed|es|s|ion)$")


def _term(name: str, subject: int, worth: float) -> Term:
    words = parts(name).replace(".", " ").replace("-", " ").split()
    said = r"\W+".join(re.escape(word) for word in words[:-1])
    last = words[-1] if words else name
    stem = _ENDS.sub("", last) if len(last) > LONG else last
    end = r"\w*" if len(stem) > SHORT else r"s?\b"
    pattern = r"\b" + (rf"{said}\W+" if said else "") + re.escape(stem) + end
    return Term(name, re.compile(pattern), re.compile(re.escape(stem) + end), subject, worth)


SHORT = 3  # letters of a word that counts only as a whole: lr is not in lrelu
LONG = 5


class _Table(NamedTuple):
    subjects: tuple[_Subject, ...]
    plain: frozenset[str]  # words of a question that say nothing of what is asked


@functools.cache
def _table() -> _Table:
    read = yaml.safe_load((Path(__file__).parent / "subjects.yaml").read_text(encoding="utf-8"))
    return _Table(tuple(_subject(**plain) for plain in read["subjects"]), frozenset(read["plain"].split()))


def _subject(when: Sequence[str], names: Sequence[str], also: Sequence[str] = (), part: str = "") -> _Subject:
    return _Subject(re.compile("|".join(rf"(?<![a-z])(?:{one})" for one in when)), tuple(names), tuple(also), part)
