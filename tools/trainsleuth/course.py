"""How far a rehearsal came: its steps, and what behind an epoch it met."""

from __future__ import annotations

from dataclasses import dataclass

from trainsleuth.launcher import Run
from trainsleuth.probing import WHOLE_EPOCHS, ProbeReport
from trainsleuth.trace import Event, Trace, traces

STANDS, LEAST_STAND = 0.5, 8.0  # of the time after the first step, and seconds, without a step, from which it may hang


@dataclass(frozen=True)
class Course:
    """How far the rehearsal came, of the process that came furthest; the counts are of its training alone.

    `seconds`: from the first backward on; `epochs`: ended, most of them cut short; `saves`: calls of torch.save;
    `has_epochs`: does it take data from loaders of torch? `cut_from`: the step from which they were cut, None where
    nothing was; `batches`: of one whole epoch, None where that is not known; `step_seconds`: the median of a step as it
    was probed; `stood`: seconds without a step before it was ended at its limit, where they are most of its time;
    `was_begun_again`: on whole epochs.
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

    @property
    def is_whole(self) -> bool:
        """Did it come to its own end on whole epochs? Only then a line that it never came to is one that it does not come to."""
        return self.ended_by_itself and self.cut_from is None


def course_of(report: ProbeReport) -> Course:
    """That of the runs of a report; one of no steps where nothing trained."""
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
    """Seconds from its last step to its limit, of a program that came to no step in most of its time after the first;
    else 0.
    """
    ticks = [float(event["t"]) for event in trace.events("tick")] or [0.0]
    stood = run.seconds - ticks[-1]
    if run.ended != "timeout" or stood < max(LEAST_STAND, STANDS * (run.seconds - ticks[0])):
        return 0.0
    return round(stood, 1)
