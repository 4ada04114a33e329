"""Hypotheses and the tests that would separate them, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    likely = [one for one in left if one.verdict != "open" or one.for_ or one.credence.high >= UNLIKELY]
    lines = [_line(one, width) for one in likely]
    if len(likely) < len(left):
        lines.append(f"  open  below {UNLIKELY}: {len(left) - len(likely)} more")
    if refuted := [one.id for one in given if one.verdict == "refuted"]:
        lines.append(wrapped(f"refuted  {', '.join(refuted)}", "  ", width, "  "))
    return Section("hypotheses, likeliest first:", tuple(lines))


def suggestions_section(
    suggestions: Iterable[Suggestion], width: int | None = None, command: str = "COMMAND"
) -> Section:
    """A line for each: the command line, its typical cost, what it tells apart. `command` starts the user's program."""
    lines = (
        f"{one.command.replace('COMMAND', one_line(command))}  (about {one.seconds:.0f} s)  {one_line(one.why)}"
        for one in suggestions
    )
    return Section(
        "next tests, the most telling per second first:", tuple(wrapped(line, "  ", width, "  ") for line in lines)
    )


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
