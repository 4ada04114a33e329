"""A rehearsal of the user's command: watched by the probes that change nothing, on short epochs (runtime/rehearsal.py).

So a run of a minute comes to evaluation, checkpoint and second epoch. Where short epochs may be what stopped the program
it is run once more on whole ones.
"""

from __future__ import annotations

import time
from dataclasses import replace

from trainsleuth import probes
from trainsleuth.course import course_of
from trainsleuth.probing import NEEDED, ProbeReport, Request, run_probes, start_up, stopped_short
from trainsleuth.this_program import Asked

EXPERIMENT = "observe"


def rehearse(
    request: Request,
    lines: Asked,
    *,
    short_epochs: bool = True,
    whole_epoch: bool = True,
    visit_steps: int | None = None,
) -> ProbeReport:
    """What the probes say within `request.seconds`, and which of the `lines` the run came to, in its first `visit_steps`
    before Python 3.12. `whole_epoch`: a share of the time is for one that shows all of its data, and the run ends when
    enough was met, not after a number of steps. Raises ProbeError.
    """
    began = time.monotonic()
    asked = replace(request, only=probes.of(EXPERIMENT))
    asked = asked.with_listener("rehearsal", short_epochs=short_epochs, whole_epoch=whole_epoch)
    if lines.lines:
        asked = asked.with_listener("visited", visit=lines.lines, visit_steps=visit_steps)
    report = run_probes(asked)
    left = request.seconds - (time.monotonic() - began)
    if not any(map(stopped_short, report.runs)) or left < start_up(report.runs) + NEEDED:
        return report
    epochs = course_of(report).epochs
    stopped = [replace(f, measured={**f.measured, "epochs": epochs}) for f in report.findings if f.by == "probe:run"]
    settings = {**asked.settings, "short_epochs": False, "epochs": epochs + 1}
    given = request.given or request.seconds
    again = run_probes(replace(asked, seconds=left, watch=None, given=given, settings=settings))
    return replace(again, findings=(*again.findings, *stopped), ran=(*report.ran, *again.ran))
