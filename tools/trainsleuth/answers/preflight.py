"""What a preflight says, go or no go on its first line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG, Answer, Section
from trainsleuth.answers.course import course_lines
from trainsleuth.answers.findings import asked_once, counted, failure_text, line_text
from trainsleuth.answers.reports import NARROW_PROBE, repeated, unobserved_section
from trainsleuth.finding import COMMAND_SHOWN, Finding
from trainsleuth.wording import one_line, wrapped

if TYPE_CHECKING:
    from trainsleuth.preflight import Preflight
    from trainsleuth.probing import Request

CODES = {"go": NOTHING_WRONG, "no go": FOUND, "unknown": FAILED}


def preflight_answer(said: Preflight, asked: Request, width: int | None = None) -> Answer:
    """The verdict, how far the rehearsal came, what speaks against the run; what was ruled out is only counted."""
    own = [finding for finding in said.findings if finding not in said.elsewhere]
    failures = tuple(failure_text(finding, width) for finding in own if finding.outcome == "fail")
    elsewhere = tuple(failure_text(finding, width) for finding in said.elsewhere)
    of_run = [] if _crashed(own) else [finding for finding in own if finding.by.startswith("probe:")]
    opened = asked_once([finding for finding in of_run if finding.outcome == "open"])
    judged = _judged(of_run)
    outcome = said.why or counted([*(finding for finding in said.findings if finding.outcome != "open"), *opened])
    return Answer(
        head=wrapped(
            f"{said.verdict.upper()}  {one_line(shlex.join(asked.command), COMMAND_SHOWN)}: {one_line(outcome)}",
            "",
            width,
        ),
        sections=(
            Section(
                "the rehearsal:",
                tuple(wrapped(line, "  ", width, "  ") for line in (*course_lines(said.course), *judged)),
            ),
            Section("", failures, NARROW_PROBE),
            Section("in files that this command did not load:", elsewhere, NARROW_PROBE),
            Section("open:", tuple(line_text(finding, width) for finding in opened), NARROW_PROBE),
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


def _judged(findings: Sequence[Finding]) -> Iterator[str]:
    """The probes that found nothing wrong: what is not among them was not judged. Those that also found or left something come last."""
    passed = {finding.by for finding in findings if finding.outcome == "pass"}
    asked = {finding.by for finding in findings if finding.outcome == "open"}
    failed = {finding.by for finding in findings if finding.outcome == "fail"}
    for said, ids in (
        ("judged and found right", passed - asked - failed),
        ("found right only in part, see below", passed & (asked | failed)),
    ):
        if ids:
            yield f"{said}: {', '.join(sorted(one.removeprefix('probe:') for one in ids))}"


def _crashed(findings: Iterable[Finding]) -> bool:
    """Then what stays open is no question of its own."""
    return any("program-crashes" in finding.suspects for finding in findings)
