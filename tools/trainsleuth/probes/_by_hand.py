"""Rules of step_trace, learning_rate and parameter_table for programs that change their parameters by hand, without an optimizer of torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from trainsleuth.finding import Family, Finding
from trainsleuth.trace import Event, Trace, place, shown

NEEDED = 10  # changes
NEARLY_ALL = 0.95
COLLAPSED = 1e-3  # of the largest
LONG = 1 / 3  # of all changes
STEADY = 1e-3  # by which the factors of a decay may differ


def kept(trace: Trace) -> Iterator[Finding]:
    """The gradient of the step before is still there when the next one is added to it. Not where it is always the same part of it: then
    the gradient is a momentum's buffer.
    """
    for event in _seen(trace):
        of = event["cleared"] + event["kept"] + event["other"]
        if event["kept"] >= NEARLY_ALL * of and not _is_decayed(event):
            yield _failure(
                event,
                "step_trace",
                f"the parameters are changed by hand, and their gradients are never cleared: in {event['kept']} of {of} steps the one before was still there "
                f"when backward at {shown(event)} added to it; expected it to be zeroed after each change",
                "missing-zero-grad",
                "training-procedure",
                {"kept": event["kept"], "steps": of},
                "set p.grad = None, or call p.grad.zero_(), behind the change",
            )


def cleared(trace: Trace) -> Iterator[Finding]:
    for event in _seen(trace):
        of = event["cleared"] + event["kept"] + event["other"]
        if event["cleared"] >= NEARLY_ALL * of:
            path, line = place(event.get("site"))
            yield Finding(
                by="probe:step_trace", outcome="pass", family="training-procedure", path=path, line=line, measured={"steps": of},
                message=f"the parameters are changed by hand behind backward at {shown(event)}, and their gradients are cleared in between",
            )  # fmt: skip


def collapses(trace: Trace) -> Iterator[Finding]:
    """What is left of the gradient in a change falls to nothing, long before the end of what was seen."""
    for event in _seen(trace):
        sizes, moves = [abs(rate) for rate, _ in event["changes"]], [size for _, size in event["changes"]]
        top, furthest = max(sizes), max(moves)
        low = [
            rate <= COLLAPSED * top and move <= COLLAPSED * furthest for rate, move in zip(sizes, moves, strict=True)
        ]
        after = len(low) - len(list(takewhile(bool, reversed(low))))
        idle = max(0, event["n"] - len(low))  # steps behind which nothing moved at all
        if after < len(low) and len(low) - after + idle >= LONG * event["n"]:
            yield _failure(
                event,
                "learning_rate",
                f"the parameters are changed by hand, at first by {top:.3g} times their gradient, and from change {after + 1} of {len(low)} on by less than "
                f"a thousandth of that: nothing more is learned; expected a rate that falls as long as the training lasts",
                "learning-rate-zero-or-tiny",
                "optimizer",
                {"highest": top, "last": sizes[-1], "fell_after_changes": after, "changes": len(low)},
                "print the rate at each step: is it made smaller in each batch where each epoch was meant?",
            )


def course(trace: Trace) -> Iterator[Finding]:
    for event in _seen(trace):
        rates = sorted(rate for rate, _ in event["changes"])
        path, line = place(event.get("site"))
        yield Finding(
            by="probe:learning_rate", outcome="pass", family="optimizer", path=path, line=line,
            message=f"the parameters are changed by hand, by {rates[len(rates) // 2]:.3g} times their gradient in the median of {len(rates)} changes",
            measured={"median": rates[len(rates) // 2], "changes": len(rates)},
        )  # fmt: skip


def left_behind(trace: Trace) -> Iterator[Finding]:
    """Parameters that get gradients and stay as they are, while as many others, or more, are changed. What changes a picture, and no network,
    has few that move.
    """
    for event in _seen(trace):
        still, of = event["still"], event["still"] + event["moved"]
        if not still or still > event["moved"]:
            continue
        sizes = ", ".join("x".join(map(str, size)) or "one number" for size in event["shapes"])
        finding = _failure(
            event,
            "parameter_table",
            f"the parameters are changed by hand, and {still} of {of} that get gradients never move in {len(event['changes'])} changes "
            f"({sizes}); expected all that get gradients to be changed",
            "optimizer-misses-parameters",
            "optimizer",
            {"still": still, "parameters": of},
            "compare what is changed with what the loss depends on: is a list of parameters made by hand?",
        )
        yield replace(finding, severity="note", confidence="low") if trace.ops("weights_loaded") else finding


def moved(trace: Trace) -> Iterator[Finding]:
    for event in _seen(trace):
        if not event["still"]:
            path, line = place(event.get("site"))
            yield Finding(
                by="probe:parameter_table", outcome="pass", family="optimizer", path=path, line=line,
                measured={"parameters": event["moved"]},
                message=f"all {event['moved']} parameters that were seen to get gradients are changed by hand",
            )  # fmt: skip


def _is_decayed(event: Event) -> bool:
    """p.grad *= 0.9 behind each change."""
    least, most = event["factors"]
    return bool(most - least <= STEADY and most < 1.0 - STEADY)


def _seen(trace: Trace) -> Iterator[Event]:
    for event in trace.events("by_hand"):
        if len(event["changes"]) >= NEEDED:
            yield event


def _failure(
    event: Event, probe: str, message: str, suspect: str, family: Family, measured: dict[str, float], advice: str
) -> Finding:
    path, line = place(event.get("site"))
    return Finding(
        by=f"probe:{probe}", outcome="fail", severity="warning", confidence="high", family=family, path=path, line=line,
        message=message, suspects=(suspect,), measured=measured, next=advice,
    )  # fmt: skip
