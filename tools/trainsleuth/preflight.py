"""Go or no go, before the time is spent: search the code, then rehearse the run in a minute.

The rehearsal is the user's own command on short epochs (runtime/rehearsal.py), so that it comes to its evaluation, its
checkpoint and its second epoch, watched by the probes that change nothing and cost little. What a run that came to its
own end on whole epochs never came to accuses nobody; where it came to all lines of a finding, a doubt about that goes.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from trainsleuth import ledger, probes
from trainsleuth.checks import run_checks
from trainsleuth.course import Course, course_of
from trainsleuth.finding import Finding
from trainsleuth.probing import NEEDED, WHOLE_EPOCHS, ProbeReport, Request, run_probes, start_up
from trainsleuth.rehearsing import rehearse
from trainsleuth.repository import Repository
from trainsleuth.this_program import lines_to_visit, of_this_program, seen, started, unsearched
from trainsleuth.triage import cause_first

Verdict = Literal["go", "no go", "unknown"]
INTERVENES = "overfit"
FEWEST = 3  # steps, below which not even a gradient that is never cleared can show
MOST_STEPS = 100_000  # of a rehearsal, which ends by what it met or by its time


@dataclass(frozen=True)
class Preflight:
    """What one preflight says. `why`: the reason for its verdict, where no finding is one."""

    verdict: Verdict
    why: str
    findings: tuple[Finding, ...]
    course: Course
    examined: dict[str, Any]
    unresolved: tuple[str, ...]
    unobserved: tuple[str, ...]
    ran: tuple[str, ...]
    run: str
    elsewhere: tuple[Finding, ...] = ()
    """Those of the findings that are about files which the run did not load."""


def preflight(request: Request, short_epochs: bool = True) -> Preflight:
    """Searches, rehearses and decides within `request.seconds`. Raises ProbeError and RepositoryError for wrong usage."""
    root = (request.root or request.cwd or Path.cwd()).resolve()
    request.say("searching the code for silent bugs")
    repository = Repository(root)
    checked = run_checks(repository, started=started(request.command, root, request.cwd))
    lines = lines_to_visit(checked.findings, repository)
    began = time.monotonic()
    asked = replace(request, steps=request.steps or MOST_STEPS)
    rehearsal = rehearse(asked, lines, short_epochs=short_epochs)
    shown, course = seen(rehearsal.runs, lines), course_of(rehearsal)
    reports = [rehearsal]
    left = request.seconds - (time.monotonic() - began)
    is_clean = course.steps and not any(finding.is_alarm for finding in rehearsal.findings)
    if is_clean and left > start_up(rehearsal.runs) + NEEDED:
        fit = replace(request, only=probes.of(INTERVENES), seconds=left, given=request.seconds)
        reports.append(run_probes(fit))
    of_code = of_this_program(checked.findings, shown, is_whole=course.is_whole)
    of_runs = [finding for report in reports for finding in report.findings]
    findings = _in_order([*of_code, *of_runs], shlex.join(request.command))
    verdict, why = _verdict(findings, rehearsal, course)
    unobserved = dict.fromkeys(line for report in reports for line in report.unobserved)
    return Preflight(
        verdict=verdict,
        why=why,
        findings=tuple(findings),
        course=course,
        examined={"checks": checked.examined, "runs": [report.examined for report in reports]},
        unresolved=tuple(line for report in reports for line in report.unresolved),
        unobserved=(*unobserved, *_not_asked(reports, is_clean, course), *unsearched(checked.unsearched, root)),
        ran=tuple(line for report in reports for line in report.ran),
        run=rehearsal.run,
        elsewhere=tuple(finding for finding in findings if not shown.is_about(finding)),
    )


def _not_asked(reports: list[ProbeReport], is_clean: object, course: Course) -> Iterator[str]:
    if course.steps and len(reports) == 1:
        why = "there was no time left for it" if is_clean else "what was found is to be mended first"
        yield f"whether one batch can be fitted (probe overfit_one_batch): {why}"


def _in_order(findings: Iterable[Finding], command: str) -> list[Finding]:
    """What speaks for the likeliest cause first."""
    named = [finding.told_for(command) for finding in findings]
    return cause_first(named, ledger.update(named))


def _verdict(findings: Iterable[Finding], report: ProbeReport, course: Course) -> tuple[Verdict, str]:
    """A program that crashes is no go even where it never trained; one that nothing was seen of is neither."""
    alarms = [finding for finding in findings if finding.is_alarm]
    if alarms:
        return "no go", ""
    if not report.trained:
        return "unknown", "no training step was seen"
    if course.steps < FEWEST and not course.ended_by_itself:
        return (
            "unknown",
            f"only {course.steps} training step{'s were' if course.steps > 1 else ' was'} seen in its time",
        )
    stands = next((f for f in findings if f.by == "probe:run" and f.outcome == "open"), None)
    if course.stood and stands is not None:
        place = f" (at {stands.place})" if stands.place else ""
        return "unknown", f"it took {course.steps} steps and then none for {course.stood:.0f} s, until its limit{place}"
    stopped = next((f for f in findings if f.by == "probe:run" and f.next == WHOLE_EPOCHS), None)
    if stopped is not None and not (
        course.ended_by_itself or course.epochs > float(stopped.measured.get("epochs", course.epochs))
    ):
        why = "after its epochs were cut short, and with whole ones it did not come as far in time"
        return "unknown", f"it stopped at {stopped.place} {why}" if stopped.place else f"it stopped {why}"
    return "go", ""
