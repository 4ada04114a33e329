"""Go or no go, before the time is spent: search the code, then rehearse the run in a minute.

The rehearsal is the user's own command on short epochs (runtime/rehearsal.py), so that it comes to its evaluation, its
checkpoint and its second epoch, watched by the probes that change nothing and cost little. What a run that came to its
own end never came to accuses nobody; where it came to all lines of a finding, a doubt about that goes.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from trainsleuth import ledger, probes
from trainsleuth.checks import run_checks
from trainsleuth.finding import Finding
from trainsleuth.launcher import Run
from trainsleuth.probing import NEEDED, WHOLE_EPOCHS, ProbeReport, Request, run_probes, start_up, stopped_short
from trainsleuth.repository import Repository
from trainsleuth.this_program import Asked, lines_to_visit, of_this_program, seen, started, unsearched
from trainsleuth.trace import Event, Trace, traces
from trainsleuth.triage import cause_first

Verdict = Literal["go", "no go", "unknown"]
EXPERIMENT, INTERVENES = "observe", "overfit"
FEWEST = 3  # steps, below which not even a gradient that is never cleared can show
STANDS = 0.5  # of the time of a run without a step, from which it may hang
MOST_STEPS = 100_000  # of a rehearsal, which ends by what it met or by its time


@dataclass(frozen=True)
class Course:
    """How far the rehearsal came, of the process that came furthest; the counts are of its training alone.

    `seconds`: from the first backward on; `epochs`: ended, most of them cut short; `saves`: calls of torch.save;
    `has_epochs`: does it take data from loaders of torch? `cut_from`: the step from which they were cut, None where
    nothing was; `batches`: of one whole epoch, None where that is not known; `step_seconds`: the median of a step as it
    was probed; `stood`: seconds without a step before it was ended at its limit; `was_begun_again`: on whole epochs.
    """

    steps: int = 0
    seconds: float = 0.0
    epochs: int = 0
    evaluations: int = 0
    saves: int = 0
    has_epochs: bool = False
    cut_from: int | None = None
    batches: int | None = None
    step_seconds: float | None = None
    stood: float = 0.0
    ended_by_itself: bool = False
    was_begun_again: bool = False


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
    rehearsal = _rehearsed(request, lines, short_epochs)
    shown, course = seen(rehearsal.runs, lines), _course(rehearsal)
    reports = [rehearsal]
    left = request.seconds - (time.monotonic() - began)
    is_clean = course.steps and not any(finding.is_alarm for finding in rehearsal.findings)
    if is_clean and left > start_up(rehearsal.runs) + NEEDED:
        fit = replace(request, only=probes.of(INTERVENES), seconds=left, given=request.seconds)
        reports.append(run_probes(fit))
    of_code = of_this_program(checked.findings, shown, is_whole=course.ended_by_itself)
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
        unobserved=(*unobserved, *unsearched(checked.unsearched, root)),
        ran=tuple(line for report in reports for line in report.ran),
        run=rehearsal.run,
        elsewhere=tuple(finding for finding in findings if not shown.is_about(finding)),
    )


def _in_order(findings: Iterable[Finding], command: str) -> list[Finding]:
    """What speaks for the likeliest cause first."""
    named = [replace(finding, next=finding.next.replace("<your command>", command)) for finding in findings]
    return cause_first(named, ledger.update(named))


def _rehearsed(request: Request, lines: Asked, short_epochs: bool) -> ProbeReport:
    """The experiment that changes nothing, asked which of the lines it comes to. Where short epochs may be what stopped
    the program, once more with whole ones.
    """
    began = time.monotonic()
    steps = request.steps or MOST_STEPS
    asked = replace(request, only=probes.of(EXPERIMENT), steps=steps)
    asked = asked.with_listener("rehearsal", short_epochs=short_epochs)
    if lines.lines:
        asked = asked.with_listener("visited", visit=lines.lines)
    report = run_probes(asked)
    left = request.seconds - (time.monotonic() - began)
    if not any(map(stopped_short, report.runs)) or left < start_up(report.runs) + NEEDED:
        return report
    epochs = _course(report).epochs
    stopped = [replace(f, measured={**f.measured, "epochs": epochs}) for f in report.findings if f.by == "probe:run"]
    settings = {**asked.settings, "short_epochs": False, "epochs": epochs + 1}
    again = run_probes(replace(asked, seconds=left, given=request.seconds, settings=settings))
    return replace(again, findings=(*again.findings, *stopped), ran=(*report.ran, *again.ran))


def _course(report: ProbeReport) -> Course:
    training = [(trace, run) for run in report.runs for trace in traces(run.events) if trace.trains]
    if not training:
        return Course()
    trace, run = max(training, key=lambda one: one[0].steps)
    told: Event = next(iter(trace.events("rehearsed")), {})  # a program that was killed tells nothing at its end
    cuts = [event for event in trace.events("cut") if event["trains"]]
    return Course(
        steps=trace.steps,
        seconds=told.get("seconds") or 0.0,
        epochs=told.get("epochs", len(cuts)),
        evaluations=told.get("evaluations", 0),
        saves=told.get("saves", 0),
        has_epochs=bool(trace.events("loader")),
        cut_from=min((event["n"] for event in trace.events("cut")), default=None),
        batches=next((event["of"] for event in cuts if event["of"]), None),
        step_seconds=next((event["step"] for event in reversed(trace.events("timing"))), None),
        stood=_stood(trace, run),
        ended_by_itself=trace.ended_by_itself and run.ended != "crashed",
        was_begun_again=any(finding.next == WHOLE_EPOCHS for finding in report.findings) and run.ended != "crashed",
    )


def _stood(trace: Trace, run: Run) -> float:
    """Seconds from its last step to its limit, of a program that never came to a step in the last of its time."""
    last = max((float(event["t"]) for event in trace.events("tick")), default=0.0)
    return round(run.seconds - last, 1) if run.ended == "timeout" else 0.0


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
    if course.stood > STANDS * sum(run.seconds for run in report.runs[:1]) and stands is not None:
        place = f" (at {stands.place})" if stands.place else ""
        return "unknown", f"it took {course.steps} steps and then none for {course.stood:.0f} s, until its limit{place}"
    stopped = next((f for f in findings if f.by == "probe:run" and f.next == WHOLE_EPOCHS), None)
    if stopped is not None and not (
        course.ended_by_itself or course.epochs > float(stopped.measured.get("epochs", course.epochs))
    ):
        why = "after its epochs were cut short, and with whole ones it did not come as far in time"
        return "unknown", f"it stopped at {stopped.place} {why}" if stopped.place else f"it stopped {why}"
    return "go", ""
