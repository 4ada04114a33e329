"""What a preflight says, go or no go on its first line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG, Answer, Section
from trainsleuth.answers.findings import counted, failure_text, line_text
from trainsleuth.answers.reports import NARROW_PROBE, repeated, unobserved_section
from trainsleuth.finding import Finding
from trainsleuth.wording import one_line, wrapped

if TYPE_CHECKING:
    from trainsleuth.preflight import Course, Preflight
    from trainsleuth.probing import Request

CODES = {"go": NOTHING_WRONG, "no go": FOUND, "unknown": FAILED}


def preflight_answer(said: Preflight, asked: Request, width: int | None = None) -> Answer:
    """The verdict, how far the rehearsal came, what speaks against the run; what was ruled out is only counted."""
    own = [finding for finding in said.findings if finding not in said.elsewhere]
    failures = tuple(failure_text(finding, width) for finding in own if finding.outcome == "fail")
    elsewhere = tuple(failure_text(finding, width) for finding in said.elsewhere)
    of_run = [] if _crashed(own) else [finding for finding in own if finding.by.startswith("probe:")]
    opened = tuple(line_text(finding, width) for finding in of_run if finding.outcome == "open")
    outcome = said.why or counted(said.findings)
    return Answer(
        head=wrapped(f"{said.verdict.upper()}  {one_line(shlex.join(asked.command))}: {one_line(outcome)}", "", width),
        sections=(
            Section("the rehearsal:", tuple(wrapped(line, "  ", width, "  ") for line in _course_lines(said.course))),
            Section("", failures, NARROW_PROBE),
            Section("in files that this command did not load:", elsewhere, NARROW_PROBE),
            Section("open:", opened, NARROW_PROBE),
            unobserved_section(said.unobserved, width),
        ),
        plain={
            "verdict": said.verdict,
            "why": said.why,
            "findings": [finding.to_dict() for finding in said.findings],
            "course": asdict(said.course),
            "examined": said.examined,
            "unresolved": said.unresolved,
            "ran": said.ran,
            "run": said.run,
        },
        tail=repeated("preflight", asked),
        code=CODES[said.verdict],
    )


def _crashed(findings: Iterable[Finding]) -> bool:
    """Then what stays open is no question of its own."""
    return any("program-crashes" in finding.suspects for finding in findings)


def _course_lines(course: Course) -> Iterator[str]:
    """How far it came, what it did not come to, and what a whole epoch would take."""
    if not course.steps:
        return
    came = [
        _number(course.epochs, "epoch"),
        _number(course.evaluations, "evaluation"),
        _number(course.saves, "call") + " of torch.save" if course.saves else "",
    ]
    cut = f"; epochs were cut short from step {course.cut_from} on" if course.cut_from is not None else ""
    end = "; it came to its own end" if course.ended_by_itself else ""
    if course.was_begun_again:
        yield "its epochs cut short, it stopped (below); this is what it did with whole ones"
    yield f"{course.steps} steps in {course.seconds:.1f} s, {', '.join(one for one in came if one) or 'no epoch ended'}{cut}{end}"
    named = {
        "evaluation": course.evaluations,
        "checkpoint by torch.save": course.saves,
        "second epoch": course.epochs > 1 or not course.has_epochs,
    }
    if not course.ended_by_itself and (missed := [name for name, met in named.items() if not met]):
        yield f"not met, so not examined: {', '.join(missed)}"
    if course.step_seconds and course.batches:
        whole = course.step_seconds * course.batches
        yield (
            f"a step takes {1000 * course.step_seconds:.1f} ms under the probes, {course.batches} batches of a whole epoch "
            f"{whole:.3g} s at one step each, without what comes between epochs"
        )


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}" if count else ""
