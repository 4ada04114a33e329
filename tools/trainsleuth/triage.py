"""The loop by rule: search the code, run the cheap probes, then those that separate what is left.

Every finding goes to the ledger; the ledger says which test is worth its time next; a test that is not
is not run. Notes are written after each stage, so that nothing is lost when the rest is cut short.
"""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainsleuth import ledger, probes
from trainsleuth.checks import run_checks
from trainsleuth.course import Course, course_of
from trainsleuth.finding import Finding, best_first
from trainsleuth.hypothesis import Hypothesis
from trainsleuth.ledger import Suggestion
from trainsleuth.notes import Notes, NotesError
from trainsleuth.probing import NEEDED, ProbeReport, Request, run_probes, start_up
from trainsleuth.rehearsing import rehearse
from trainsleuth.repository import Repository
from trainsleuth.this_program import Asked, lines_to_visit, of_this_program, seen, started, unsearched
from trainsleuth.trace import traces

SETTLED = 0.97  # credence of the leading cause from which further tests are not worth their time
FIRST_SHARE = 0.6  # of the time, to watch the training under the first experiment
VISIT_STEPS = 40  # in which it is told which lines the run comes to: before Python 3.12 that slows calls of functions
START = 20  # seconds that a program of the usual size needs to start and to train a little
_PASSED = "the probe {} passed in this run: read these lines, and ask whether the run was long enough to show it"
_RATE = "probe:learning_rate"  # its one error: a rate that is 0 at all steps
_BATCHES, _LEAK, _MOST = "probe:batch_as_seen", "split-leak", 0.5  # of the evaluation examples; not every batch is read
_BORNE_OUT = "by itself it asks; this run bears it out"
_OF_TRAINING = (
    "same-data-for-two-parts",
    "same-rows-for-two-parts",
    "split-left-unused",
    "training-set-as-test-set",
    "training-set-in-test-loop",
)
TOLD = 6  # hypotheses that stay in the notes and in the answer when nothing speaks for or against them


@dataclass(frozen=True)
class Case:
    """One triage: findings with the likeliest cause first, and what was and was not looked at.

    `unwritten` says why the notes do not hold it, "" when they do or none were wanted.
    """

    findings: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]
    suggestions: tuple[Suggestion, ...]
    examined: dict[str, Any]
    unresolved: tuple[str, ...]
    ran: tuple[str, ...]
    notes: Path | None = None
    unwritten: str = ""
    trained: bool = False
    unobserved: tuple[str, ...] = ()
    course: Course = field(default_factory=Course)
    """How far the first run came, whose epochs may have been cut short."""
    elsewhere: tuple[Finding, ...] = ()
    """Those of the findings that are about files which the runs did not load."""

    @property
    def cause(self) -> Finding | None:
        """The finding that speaks for the cause, None when nothing failed."""
        return self.findings[0] if self.findings and self.findings[0].is_alarm else None


def triage(request: Request, symptom: str = "", notes: Path | None = None) -> Case:
    """Runs the loop within `request.seconds`, the start of the program included. Raises ProbeError, RepositoryError and
    NotesError for wrong usage. Notes that cannot be written are no reason to lose the answer.
    """
    began = time.monotonic()
    root = request.root or Path.cwd()
    book = _Book(Notes(notes, root) if notes is not None else None)
    shown = " ".join(request.command)

    request.say("searching the code for silent bugs")
    checked = run_checks(Repository(root), started=started(request.command, root.resolve(), request.cwd))
    reports: list[ProbeReport] = []
    command = shlex.join(request.command)
    findings = [f.told_for(command) for f in checked.findings]
    lines = lines_to_visit(findings, Repository(root))
    failures = [f for f in findings if f.outcome == "fail"]
    failed = {f.by for f in failures}
    book.write(Notes.add_findings, failures, shown, silent=[f.by for f in findings if f.by not in failed])

    for report in _reports(request, findings, lines, symptom, began):
        reports.append(report)
        findings += report.findings
        book.write(Notes.add_findings, report.findings, shown)
    if not reports:
        findings.append(_no_time(request.seconds, time.monotonic() - began))
    shown_by = seen((run for report in reports for run in report.runs), lines)
    findings = _without_answered(of_this_program(findings, shown_by))
    own = [f for f in findings if shown_by.is_about(f)]
    hypotheses = ledger.update(own, symptom=symptom)
    ordered = tuple(cause_first(findings, hypotheses))
    told = tuple(h for place, h in enumerate(hypotheses) if place < TOLD or h.for_ or h.verdict != "open")
    done = {f.by for f in findings}
    book.write(Notes.add_hypotheses, [h for h in told if h.for_ or h.verdict == "supported"], shown)
    return Case(
        findings=ordered,
        hypotheses=told,
        suggestions=tuple(_answerable(ledger.suggest(hypotheses, done), request, reports))[:3],
        examined=_examined(checked.examined, reports),
        unresolved=tuple(line for report in reports for line in report.unresolved),
        ran=tuple(line for report in reports for line in report.ran),
        notes=book.path,
        unwritten=book.unwritten,
        trained=any(report.trained for report in reports),
        course=course_of(reports[0]) if reports else Course(),
        elsewhere=tuple(f for f in ordered if not shown_by.is_about(f)),
        unobserved=(
            *dict.fromkeys(line for report in reports for line in report.unobserved),
            *unsearched(checked.unsearched, root),
        ),
    )


def _reports(
    request: Request, findings: Iterable[Finding], lines: Asked, symptom: str, began: float
) -> Iterator[ProbeReport]:
    """What each experiment that is worth its time says; the first also tells which of the lines the run comes to."""
    known, left = list(findings), list(probes.usual())
    last: ProbeReport | None = None
    while left:
        seconds = request.seconds - (time.monotonic() - began)
        experiment = _next(left, known, symptom, seconds)
        if experiment is None or (last is not None and seconds < start_up(last.runs) + NEEDED):
            return
        left.remove(experiment)
        share = seconds if not left else seconds * FIRST_SHARE
        asked = replace(request, only=probes.of(experiment), seconds=seconds, watch=share, given=request.seconds)
        is_first = last is None
        last = rehearse(asked, lines, whole_epoch=False, visit_steps=VISIT_STEPS) if is_first else run_probes(asked)
        yield last
        known += last.findings
        if last.saw_no_step or any("program-crashes" in finding.suspects for finding in last.findings):
            return  # a second run would show the same


def _next(left: Sequence[str], findings: Sequence[Finding], symptom: str, seconds: float) -> str | None:
    """The experiment whose best test separates most per second; None when the cause is settled or time is out.

    The first run is never skipped: a bug found by reading is still a guess about the program.
    """
    if seconds < NEEDED:
        return None
    if len(left) == len(probes.usual()):
        return left[0]
    hypotheses = ledger.update(findings, symptom=symptom)
    lead = hypotheses[0]
    if lead.verdict == "supported" and lead.credence.middle >= SETTLED:
        return None
    by_test = {s.test: s.expected_bits_per_second for s in ledger.suggest(hypotheses, {f.by for f in findings})}
    worth = {e: max((by_test.get(f"probe:{name}", 0.0) for name in probes.of(e)), default=0.0) for e in left}
    best = max(left, key=lambda experiment: worth[experiment])
    return best if worth[best] > 0 else None


def _no_time(seconds: float, spent: float) -> Finding:
    least = math.ceil(spent) + START
    return Finding(by="probe:run", outcome="open", next=f"allow at least {least} s",
                   message=f"too little time to start a run: {seconds:g} s were given, and the search of the code took {spent:.1f} of them")  # fmt: skip


def _answerable(
    suggested: Iterable[Suggestion], request: Request, reports: Sequence[ProbeReport]
) -> Iterator[Suggestion]:
    """Tests that this program can answer by what was seen of it, with the steps that it has where it ends by itself."""
    seen = [trace for report in reports[:1] for run in report.runs for trace in traces(run.events) if trace.trains]
    whole = max((trace.steps for trace in seen if trace.ended_by_itself), default=None)
    for one in suggested:
        module = probes.all_probes().get(one.test.removeprefix("probe:"))
        if module is None:
            yield one
        elif not seen or not hasattr(module, "can_answer") or any(module.can_answer(trace) for trace in seen):
            experiment = probes.EXPERIMENTS[module.EXPERIMENT]
            wanted = experiment["steps"] if experiment.get("on_request") else 0
            given = whole if whole and whole < wanted else wanted if request.steps and request.steps < wanted else None
            yield replace(one, steps=given)


class _Book:
    """The notes of a triage, if any are wanted, until they can be written no more. Raises NotesError for what holds none."""

    def __init__(self, notes: Notes | None) -> None:
        self._notes = notes
        self.unwritten = ""
        if notes is not None:
            notes.read()

    @property
    def path(self) -> Path | None:
        """Where they are; None when there are none, or they could not be written."""
        return self._notes.path if self._notes is not None else None

    def write(self, add: Callable[..., object], *given: object, **named: object) -> None:
        if self._notes is None:
            return
        try:
            add(self._notes, *given, **named)
        except NotesError as error:
            self._notes, self.unwritten = None, str(error)


def _without_answered(findings: Sequence[Finding]) -> list[Finding]:
    """No failure offers a probe for its next step that has just passed."""
    said: dict[str, set[str]] = {}
    for finding in findings:
        said.setdefault(finding.by, set()).add(finding.outcome)
    passed = [by.removeprefix("probe:") for by, outcomes in said.items() if outcomes == {"pass"}]
    return [
        next(
            (
                replace(f, next=_PASSED.format(name))
                for name in passed
                if f.next.startswith(f"trainsleuth probe --only {name} ")
            ),
            f,
        )
        for f in findings
    ]


def cause_first(findings: Sequence[Finding], hypotheses: Sequence[Hypothesis]) -> list[Finding]:
    """Failures in the order of the hypothesis they speak for; for one cause, the line to edit before its effects."""
    place = {hypothesis.id: number for number, hypothesis in enumerate(hypotheses)}
    failures = _borne_out([f for f in findings if f.outcome == "fail"])
    rest = [f for f in findings if f.outcome != "fail"]
    stands_still = _stands_still(findings)

    def order(finding: Finding) -> tuple[Any, ...]:
        best = min((place.get(suspect, -1) for suspect in finding.suspects), default=len(place))
        return (
            not finding.is_alarm,
            not finding.is_alarm and finding.confidence == "low",  # what is only asked comes behind what is surely so
            not (stands_still and finding.by == _RATE),  # what else was seen is of weights that nothing has moved
            best,
            len(finding.suspects) > 1,  # one that names this cause alone saw it, others saw what it does
            ("error", "warning", "note").index(finding.severity),
            not finding.by.startswith("check:"),  # a check names the line to edit, a probe often its effect
            ("high", "medium", "low").index(finding.confidence),
            finding.path is None,
            finding.by,
        )

    return _corroborated(_told_once(sorted(failures, key=order))) + best_first(rest)


def _borne_out(failures: Sequence[Finding]) -> list[Finding]:
    """A part of the data that the code makes of the training data, by a check that only asks, and evaluation examples that this run had
    trained on: each alone may be meant, the two together are the leak.
    """
    trained_on = [
        one
        for one in failures
        if one.by == _BATCHES and _LEAK in one.suspects and float(one.measured.get("share", 0)) >= _MOST
    ]
    if not trained_on:
        return list(failures)
    seen = trained_on[0]
    said = (
        f" In this run {seen.measured['shared']} of {seen.measured['evaluated']} evaluation examples were trained on."
    )
    return [
        replace(
            one,
            severity="warning",
            confidence="medium",
            message=one.message + said,
            seen_by=(seen.by,),
            grounds=_BORNE_OUT,
        )
        if one.by.removeprefix("check:") in _OF_TRAINING and not one.doubt and not one.is_alarm
        else one
        for one in failures
    ]


def _told_once(failures: Sequence[Finding]) -> list[Finding]:
    """A note at the very place of an alarm, of another test and for the same cause, is that alarm once more."""
    alarms = {(one.place, suspect): one for one in failures if one.is_alarm and one.place for suspect in one.suspects}
    seen: dict[tuple[str, str], list[str]] = {}
    kept = []
    for one in failures:
        said = next((alarms[key] for suspect in one.suspects if (key := (one.place, suspect)) in alarms), None)
        if one.is_alarm or said is None or said.by == one.by:
            kept.append(one)
        else:
            seen.setdefault((said.place, said.by), []).append(one.by)
    return [
        replace(one, seen_by=(*one.seen_by, *seen[one.place, one.by]))
        if one.is_alarm and (one.place, one.by) in seen
        else one
        for one in kept
    ]


def _stands_still(findings: Sequence[Finding]) -> bool:
    """Was the rate of every optimizer, and of each of its groups, 0 at all steps?"""
    rates = [finding for finding in findings if finding.by == _RATE]
    return bool(rates) and all(finding.severity == "error" and finding.outcome == "fail" for finding in rates)


def _corroborated(failures: Sequence[Finding]) -> list[Finding]:
    """The first failure is surer, and says so, when another test of its own kind fails for the same cause."""
    if not failures:
        return []
    first, *others = failures
    same = [f for f in others if f.is_alarm and f.by != first.by and set(f.suspects) & set(first.suspects)]
    if first.is_alarm and same:
        seen_by = tuple(dict.fromkeys(f.by for f in same))
        then = same[0].next if first.by.startswith("check:") else ""  # a check's own is to run the probe that failed
        first = replace(first, confidence="high", seen_by=seen_by, next=then or first.next)
    return [first, *others]


def _examined(checked: Any, reports: Sequence[ProbeReport]) -> dict[str, Any]:
    return {"checks": checked, "runs": [report.examined for report in reports]}
