"""Hypotheses and the tests that would separate them, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import NOTHING_WRONG, Answer, Section
from trainsleuth.hypothesis import Hypothesis
from trainsleuth.wording import one_line, wrapped

if TYPE_CHECKING:
    from trainsleuth.ledger import Suggestion

UNLIKELY = 0.01  # credence below which an open hypothesis is only counted


def hypotheses_section(hypotheses: Iterable[Hypothesis], width: int | None = None) -> Section:
    """A line for each: verdict, how likely, what it says, what is cited for and against; one line for the refuted."""
    given = list(hypotheses)
    left = [one for one in given if one.verdict != "refuted"]
    return _section(_lines(left, width), given, width)


def pointed_section(hypotheses: Iterable[Hypothesis], width: int | None = None) -> Section:
    """A line for each that a finding speaks for; the rest, which only what is usual speaks for, in one."""
    given = list(hypotheses)
    left = [one for one in given if one.verdict != "refuted"]
    pointed = [one for one in left if one.for_ or one.verdict != "open"]
    rest = [one for one in left if one not in pointed and not _is_unlikely(one)]
    lines = [*_lines([one for one in left if one not in rest], width)]
    if rest:
        lines.append(wrapped(_unpointed(rest, pointed), "  ", width, "  "))
    return _section(lines, given, width)


def _unpointed(rest: Sequence[Hypothesis], pointed: Sequence[Hypothesis]) -> str:
    """An order that differs from that of the findings is explained."""
    named = ", ".join(one.id for one in rest)
    if not pointed:
        return f"open  nothing points anywhere; likeliest of what is not ruled out: {named}"
    before = sum(one.credence.middle > pointed[0].credence.middle for one in rest)
    why = f" (the first {before} are likelier only by what goes wrong most often)" if before > 1 else ""
    why = " (the first is likelier only by what goes wrong most often)" if before == 1 else why
    return f"open  no finding points to: {named}{why}"


def _is_unlikely(one: Hypothesis) -> bool:
    return one.verdict == "open" and one.credence.high < UNLIKELY


def _lines(left: Sequence[Hypothesis], width: int | None) -> Iterator[str]:
    likely = [one for one in left if not _is_unlikely(one)]
    yield from (_line(one, width) for one in likely)
    if len(likely) < len(left):
        yield f"  open  below {UNLIKELY}: {len(left) - len(likely)} more"


def _section(lines: Iterable[str], given: Sequence[Hypothesis], width: int | None) -> Section:
    refuted = [one.id for one in given if one.verdict == "refuted"]
    last = [wrapped(f"refuted  {', '.join(refuted)}", "  ", width, "  ")] if refuted else []
    return Section("hypotheses, likeliest first:", (*lines, *last))


def suggestions_section(
    suggestions: Iterable[Suggestion], width: int | None = None, command: str = "COMMAND", how: str = ""
) -> Section:
    """A line for each: the command line, its typical cost, what it tells apart. `command` starts the user's program, `how`
    are the options by which it was run.
    """
    lines = (
        f"{_with(one.command, one_line(how)).replace('COMMAND', one_line(command))}  (about {one.seconds:.0f} s)  {one_line(one.why)}"
        for one in suggestions
    )
    return Section(
        "next tests, the most telling per second first:", tuple(wrapped(line, "  ", width, "  ") for line in lines)
    )


def _with(command: str, how: str) -> str:
    if command.startswith("trainsleuth probe --steps "):  # its own
        how = re.sub(r"--steps \S+ ?", "", how).strip()
    return command.replace("trainsleuth probe ", f"trainsleuth probe {how} ", 1) if how else command


def next_test_answer(
    hypotheses: Sequence[Hypothesis], suggestions: Sequence[Suggestion], evidence: str, told: int = 6
) -> Answer:
    """Which test to run next, given `evidence` (what was taken into account, in words)."""
    spoken = [one for place, one in enumerate(hypotheses) if place < told or one.for_ or one.verdict != "open"]
    nothing = "no test is left that would tell more; read the code at the places named, or mend and run the tests again"
    return Answer(
        head=f"next test: {suggestions[0].command}" if suggestions else nothing,
        sections=(suggestions_section(suggestions), hypotheses_section(spoken)),
        plain={
            "suggestions": [{**asdict(one), "command": one.command} for one in suggestions],
            "hypotheses": [one.to_dict() for one in spoken],
            "evidence": evidence,
        },
        tail=f"taken into account: {evidence}",
        code=NOTHING_WRONG,
    )


def _line(one: Hypothesis, width: int | None) -> str:
    cited = [f"{word}: {', '.join(refs)}" for word, refs in (("for", one.for_), ("against", one.against)) if refs]
    about = f"  ({'; '.join(cited)})" if cited else ""
    return wrapped(f"{one.verdict}  {one.credence}  {one.id}: {one_line(one.statement)}{about}", "  ", width, "  ")
