"""Does the learning rate of every step let training happen?

Reads each parameter group's rate at every step, however it is set (scheduler, or by hand).

Fails on: a rate that is zero at every step; a rate that falls by a factor of 1,000 or more and then stays
there for a third of the steps seen, when the schedule moves at every step (a schedule made for epochs that
is stepped per batch). A schedule stepped per batch that has brought the rate to a tenth or less and then left
it alone for two thirds of the steps seen is a note.
A pass rules these out for the steps seen; whether the rate is a good one is a question of tuning.
Cost: none. Cannot see: what the schedule does after the last step seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place, shown

EXPERIMENT = "observe"
NEEDED_STEPS = 5
COLLAPSED = 1e-3  # of the highest rate seen
LONG = 1 / 3  # of the steps seen
SMALL = 0.11  # of the highest rate seen: a tenth, and room for rounding


def probe(trace: Trace) -> Iterator[Finding]:
    ticks = trace.events("tick")
    if len(ticks) < NEEDED_STEPS or not trace.stepping:
        yield Finding(by="probe:learning_rate", outcome="open", family="optimizer",
                      message=f"{len(ticks)} steps were seen, by {len(trace.stepping)} torch optimizers; at least {NEEDED_STEPS} "
                "steps of one are needed to judge the learning rate",
                      next="allow more steps with --steps or --time")  # fmt: skip
        return
    for optimizer in trace.stepping:
        curves = [tick["lr"].get(str(optimizer), []) for tick in ticks]
        for group in range(min(map(len, curves))):
            yield _judge(trace, optimizer, [float(rates[group]) for rates in curves])


def _judge(trace: Trace, optimizer: int, rates: list[float]) -> Finding:
    born = trace.optimizer(optimizer)
    top = max(rates)
    collapsed = rates[-1] < COLLAPSED * top
    limit = COLLAPSED * top if collapsed else rates[-1]
    low = sum(rate <= limit for rate in rates)
    measured = {"first": rates[0], "highest": top, "last": rates[-1], "steps": len(rates)}
    schedules = [op for op in trace.ops("schedule") if op.get("optimizer") == optimizer]
    if top == 0.0:
        path, line = place(born.get("site"))
        return Finding(
            by="probe:learning_rate", outcome="fail", severity="error", confidence="high", family="optimizer", path=path,
            line=line, measured=measured, suspects=("learning-rate-zero-or-tiny",),
            message=f"the learning rate of {born.get('cls')} built at {shown(born)} is 0 at all {len(rates)} steps; "
            "expected a positive rate after the first step of a warm-up",
            next="print the rate that the configuration gives to the optimizer and to its schedule",
        )  # fmt: skip
    steps_traced = len([op for op in trace.ops("step") if op["optimizer"] == optimizer])
    per_step = bool(schedules) and len(schedules) >= 0.8 * steps_traced
    fell = rates.index(top) < len(rates) * (1 - LONG)
    ended = per_step and rates[-1] <= SMALL * top and low >= (1 - LONG) * len(rates)
    if fell and (ended or (collapsed and low >= LONG * len(rates))):
        site = schedules[0] if schedules else born
        path, line = place(site.get("site"))
        after = next(i for i, rate in enumerate(rates) if rate <= limit and i > rates.index(top))
        what = f"{schedules[0]['cls']} stepped at {shown(site)}" if schedules else "the program"
        return Finding(
            by="probe:learning_rate", outcome="fail",
            severity="warning" if collapsed and (per_step or not schedules) else "note",
            confidence="high" if collapsed and per_step else "medium", family="optimizer", path=path, line=line,
            measured={**measured, "fell_after_steps": after, "steps_after": low},
            message=f"the learning rate falls from {top:.3g} to {rates[-1]:.3g} within {after} steps and stays there for "
            f"{low} of {len(rates)} steps: {what} {'moves it at every batch' if per_step else 'sets it'}; "
            "expected a decay that lasts as long as the training",
            suspects=("learning-rate-zero-or-tiny",),
            next="compare the schedule's length (T_max, milestones, gamma) with the number of times its step() is called",
            claims=("lr-decay-defaults",),
        )  # fmt: skip
    path, line = place(born.get("site"))
    return Finding(
        by="probe:learning_rate", outcome="pass", confidence="high", family="optimizer", path=path, line=line,
        message=f"the learning rate of {born.get('cls')} goes from {rates[0]:.3g} over {top:.3g} to {rates[-1]:.3g} "
        f"in {len(rates)} steps",
        measured=measured,
    )  # fmt: skip
