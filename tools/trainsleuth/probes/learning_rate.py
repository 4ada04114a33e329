"""Does the learning rate of every step let training happen?

Reads each parameter group's rate at every step, however it is set (scheduler, or by hand).

Fails on: a rate that is zero at every step; a rate that falls by a factor of 1,000 or more and then stays
there for a third of the steps seen, when the schedule moves at every step (a schedule made for epochs that
is stepped per batch); a schedule that has set the rate to a tenth of the optimizer's own, or less, and never stepped
until the program came to its end (before that it is open). A schedule stepped per batch that has brought the rate to a tenth or less and then left
it alone for two thirds of the steps seen is a note. So is a rate that is set by hand, or by a schedule that is built again,
and that takes in each pass over the data the values of the first; so is a rate of exactly 0 for the first steps, where these are many. Where no optimizer of torch is built, what a change of the
parameters is to their gradient stands for the rate: it fails where that falls to a thousandth and stays there for a third of the steps.
A pass rules these out for the steps seen; whether the rate is a good one is a question of tuning.
Cost: none. Cannot see: what the schedule does after the last step seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

from . import _by_hand
from ._rate_anew import begins_anew

EXPERIMENT = "observe"
READS = ("trace", "passes", "by_hand")
NEEDED_STEPS = 5
COLLAPSED = 1e-3  # of the highest rate seen
LONG = 1 / 3  # of the steps seen
NEEDED_TO_WAIT = 20  # steps
PART = 0.1  # of the rate that the optimizer was built with: a warm-up begins lower
SMALL = 0.11  # of the highest rate seen: a tenth, and room for rounding


def probe(trace: Trace) -> Iterator[Finding]:
    ticks = trace.events("tick")
    if not trace.stepping and (by_hand := [*_by_hand.collapses(trace)] or [*_by_hand.course(trace)]):
        yield from by_hand
        return
    if len(ticks) < NEEDED_STEPS or not trace.stepping:
        yield Finding(by="probe:learning_rate", outcome="open", family="optimizer",
                      message=f"{len(ticks)} steps were seen, by {len(trace.stepping)} torch optimizers; at least {NEEDED_STEPS} "
                "steps of one are needed to judge the learning rate",
                      next="allow more steps with --steps or --time")  # fmt: skip
        return
    for optimizer in trace.stepping:
        curves = [tick["lr"].get(str(optimizer), []) for tick in ticks]
        for group in range(min(map(len, curves))):
            rates = [float(one[group]) for one in curves]
            judged = _judge(trace, optimizer, rates)
            asked = None
            if judged.outcome == "pass" and not group:
                highest = [max(map(float, one)) for one in curves]  # a group may wait while others learn
                asked = _zero_at_first(trace, optimizer, highest) or begins_anew(trace, optimizer, rates)
            yield asked or judged


def _schedule_of(trace: Trace, optimizer: int) -> Event | None:
    return next((event for event in trace.events("schedule_born") if event["optimizer"] == optimizer), None)


def _zero_at_first(trace: Trace, optimizer: int, rates: list[float]) -> Finding | None:
    """Many steps pass before the first that may change anything, as where a decay is turned round."""
    zeros = next(place for place, rate in enumerate(rates) if rate)
    if zeros < NEEDED_STEPS:
        return None
    made = _schedule_of(trace, optimizer) or trace.optimizer(optimizer)
    path, line = place(made.get("site"))
    return Finding(
        by="probe:learning_rate", outcome="fail", severity="note", confidence="medium", family="optimizer", path=path, line=line,
        measured={"zero_at_first": zeros, "steps": len(rates), "highest": max(rates)},
        message=f"the learning rate of {made.get('cls')} built at {shown(made)} is exactly 0 at the first {zeros} of {len(rates)} steps, which change "
        f"nothing, and {rates[zeros]:.3g} after them: is a schedule turned round, or counted from 0 where a warm-up is to begin above it?",
        suspects=("learning-rate-zero-or-tiny",),
        next="print the rate of each epoch beside the one that is meant",
    )  # fmt: skip


def _never_moved(trace: Trace, optimizer: int, rates: list[float]) -> Finding | None:
    """A schedule was built, has set the rate to a part of what the optimizer was built with, and never stepped since."""
    made = _schedule_of(trace, optimizer)
    if made is None or len(rates) < NEEDED_TO_WAIT or min(rates) != max(rates):
        return None
    if any(op.get("optimizer") == optimizer for op in trace.ops("schedule")):
        return None
    built = [group.get("lr") for group in trace.optimizer(optimizer).get("groups", ())]
    meant = max((rate for rate in built if isinstance(rate, float)), default=0.0)
    if rates[0] > PART * meant:
        return None
    path, line = place(made.get("site"))
    ended = trace.ended_by_itself
    return Finding(
        by="probe:learning_rate", outcome="fail" if ended else "open", severity="warning", confidence="medium",
        family="optimizer", path=path, line=line, measured={"rate": rates[0], "built_with": meant, "steps": len(rates)},
        message=f"the learning rate stays at {rates[0]:.3g} in all {len(rates)} steps, {meant / rates[0]:.3g} times below the {meant:.3g} that "
        f"the optimizer was built with: {made['cls']} built at {shown(made)} begins there and "
        + ("never stepped; expected its step() after each batch or epoch" if ended else "has not stepped yet"),
        suspects=("learning-rate-zero-or-tiny",) if ended else (),
        next="call step() of the schedule where its length is counted: after each batch, or after each epoch",
        claims=("lr-decay-defaults",) if ended else (),
    )  # fmt: skip


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
        made = None if schedules else _schedule_of(trace, optimizer)
        waits = f"; {made['cls']} built at {shown(made)} sets the rate and has not stepped" if made else ""
        return Finding(
            by="probe:learning_rate", outcome="fail", severity="error", confidence="high", family="optimizer", path=path,
            line=line, measured=measured, suspects=("learning-rate-zero-or-tiny",),
            message=f"the learning rate of {born.get('cls')} built at {shown(born)} is 0 at all {len(rates)} steps{waits}; "
            "expected a positive rate after the first step of a warm-up",
            next="print the rate that the configuration gives to the optimizer and to its schedule",
        )  # fmt: skip
    if (waiting := _never_moved(trace, optimizer, rates)) is not None:
        return waiting
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
        message=f"the learning rate of {born.get('cls')} {_course(rates)} in {len(rates)} steps",
        measured=measured,
    )  # fmt: skip


def _course(rates: list[float]) -> str:
    first, top, last = (f"{rate:.3g}" for rate in (rates[0], max(rates), rates[-1]))
    if min(rates) == max(rates):
        return f"stays at {first}"
    return f"goes from {first}" + (f" over {top}" if top not in (first, last) else "") + f" to {last}"
