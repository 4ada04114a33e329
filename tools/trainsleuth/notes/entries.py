"""What the notes hold: entries read back from the comments beside the text that people read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from trainsleuth.finding import Confidence, Family, Finding, Outcome, Severity
from trainsleuth.hypothesis import Hypothesis, Verdict, reference
from trainsleuth.question import READER, Question

_MARK = re.compile(r" {0,2}<!-- trainsleuth:(run|finding|hypothesis|question) (\{.*\}) -->")
_TICK = re.compile(r"[-*] \[([ xX])\] ")
BY_HAND = "ticked by hand in the notes"


@dataclass(frozen=True)
class Damaged:
    """A line that should hold an entry and could not be read; its text stays in the file."""

    line: int
    why: str


@dataclass(frozen=True)
class Run:
    """The start of a section: one command, its moment, and what it found that the notes held already.

    `silent` are tests that ran and found nothing to tell, as far as that is news.
    """

    when: str
    command: str
    again: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


Item = Run | Finding | Hypothesis | Question | Damaged


def items(text: str) -> Iterator[Item]:
    """Every entry in `text`, in order; what people wrote between them is passed over."""
    tick = None
    for line, content in enumerate(text.split("\n"), start=1):
        stripped = content.rstrip("\r")
        found = _MARK.fullmatch(stripped)
        if found:
            item = _item(found[1], found[2], line)
            yield _as_ticked(item, tick) if isinstance(item, Question) and tick is not None else item
            tick = None
        elif box := _TICK.match(stripped):
            tick = box[1] != " "
        elif stripped.lstrip().startswith("<!-- trainsleuth:"):
            yield Damaged(line, "the entry is cut off")


def _as_ticked(question: Question, is_ticked: bool) -> Question:
    """The question as its box says: people tick one that was open, or open one again that was ticked."""
    if is_ticked == question.is_answered:
        return question
    return replace(question, answer=BY_HAND if is_ticked else "", by=READER, places=())


def last_said(known: Iterable[Item]) -> dict[str, set[str]]:
    """For each `by`, the references of what it said in the last run in which it spoke, or had nothing to tell."""
    said: dict[str, set[str]] = {}
    author: dict[str, str] = {}
    speaking: set[str] = set()

    def hear(by: str, ref: str) -> None:
        if by not in speaking:
            speaking.add(by)
            said[by] = set()
        said[by].add(ref)

    for item in known:
        if isinstance(item, Run):
            speaking.clear()
            said.update((by, set()) for by in item.silent)
            for ref in item.again:
                if ref in author:
                    hear(author[ref], ref)
        elif isinstance(item, Finding):
            author[reference(item)] = item.by
            hear(item.by, reference(item))
    return said


def _item(kind: str, content: str, line: int) -> Item:
    try:
        fields = json.loads(content)
        if kind == "run":
            return Run(
                fields["when"], fields["command"], tuple(fields.get("again", ())), tuple(fields.get("silent", ()))
            )
        if kind == "question":
            return _question(fields)
        return _hypothesis(fields) if kind == "hypothesis" else _finding(fields)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return Damaged(line, f"not a {kind}: {type(error).__name__}: {error}"[:200])


def _finding(fields: Mapping[str, Any]) -> Finding:
    finding = Finding.from_dict(fields)
    for name, words in (("outcome", Outcome), ("severity", Severity), ("confidence", Confidence)):
        if getattr(finding, name) not in get_args(words):
            raise ValueError(f"{name} is {getattr(finding, name)!r}")
    if finding.family not in get_args(Family) or not isinstance(finding.message, str):
        raise ValueError("family or message")
    reference(finding)  # fails when a field has the wrong shape
    return finding


def _hypothesis(fields: Mapping[str, Any]) -> Hypothesis:
    hypothesis = Hypothesis.from_dict(fields)
    if hypothesis.verdict not in get_args(Verdict):
        raise ValueError(f"verdict is {hypothesis.verdict!r}")
    return hypothesis


def _question(fields: Mapping[str, Any]) -> Question:
    question = Question.from_dict(fields)
    words = (question.id, question.text, question.answer, question.by, question.test, *question.places)
    if question.stage not in (1, 2, 3) or not all(isinstance(word, str) for word in words):
        raise ValueError("a field has the wrong kind")
    return question
