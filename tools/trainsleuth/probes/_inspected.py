"""What the look at the model at the end of a run gave, and why there may be none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

LISTENER = "listener inspection"


MEASURED = ("scale", "input_effect", "mates_effect", "axis_1_effect", "rounded")


def models(trace: Trace) -> tuple[Event, ...]:
    """One record per trained module that could be called again; what came out as NaN or infinity was not measured."""
    return tuple(map(_measured, trace.events("inspected")))


def parts(trace: Trace) -> tuple[Event, ...]:
    """The same of modules inside of a model that gives back nothing but its loss."""
    return tuple(map(_measured, trace.events("inspected_part")))


def told(model: Event) -> str:
    """Which module it is, and where it, or the model around it, is called."""
    inside = f"{model['name']} (a {model['cls']}) of {model['of']}" if "of" in model else model["cls"]
    return f"{inside} called at {shown(model)}"


def _measured(model: Event) -> Event:
    if not any(isinstance(model.get(name), str) for name in MEASURED):
        return model
    known = {name: value for name, value in model.items() if name not in (*MEASURED, "causal", "copies")}
    return {**known, "why": "its output holds NaN or infinity"}


def unanswered(trace: Trace, by: str, question: str) -> Iterator[Finding]:
    """Open findings for modules that could not be called again, or when there was no look at all."""
    for event in trace.events("not_inspected"):
        path, line = place(event.get("site"))
        yield Finding(by=by, outcome="open", family="architecture", path=path, line=line,
                      message=f"{question} of {event['cls']} stays open: calling it again gave {event['why']}")  # fmt: skip
    if models(trace) or trace.events("not_inspected"):
        return
    if (why := trace.hooks_missing.get(LISTENER)) is not None:
        yield Finding(by=by, outcome="open", family="architecture",
                      message=f"{question} stays open: the probe itself failed ({why})",
                      next="call the model once more by hand, with the examples of the last batch exchanged")  # fmt: skip
    elif trace.steps and not trace.stepping:
        yield Finding(by=by, outcome="open", family="architecture",
                      message=f"{question} stays open: no optimizer of torch tells which module is trained",
                      next="call the model once more by hand, with the examples of the last batch exchanged")  # fmt: skip
    else:
        yield Finding(by=by, outcome="open", family="architecture",
                      message=f"{question} stays open: the run ended before a trained module could be called once more",
                      next="allow fewer --steps or more --time, so that the run ends by itself or by us")  # fmt: skip


def finding(by: str, event: Event, outcome: Any, message: str, **more: Any) -> Finding:
    """A finding at the place where the module is called."""
    path, line = place(event.get("site"))
    more.setdefault("family", "architecture")
    return Finding(by=by, outcome=outcome, path=path, line=line, message=message, **more)
