"""Where does the time of a training step go, and does a step take longer and longer?

Times waiting for the loader, forward, backward and optimizer at every step, and the process's own CPU time
over the run.

Fails (as a note, never as an alarm) on: more than half of the time spent waiting for data; CPU time per step
that grows all through the run, as when every step's graph is kept, and faster than its calls of modules.
A pass shows the shares. Times are those of a probed run: a few percent longer, compilers off.
Cost: a few clock readings per step. Cannot see: what a device does after work was handed to it; loops without
a loader wait inside "the rest".

Bad:
    total_loss += loss

Good:
    total_loss += loss.item()
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainsleuth.finding import Finding, Number
from trainsleuth.trace import Event, Trace, place

EXPERIMENT = "observe"
READS = ("timing",)
NEEDED_STEPS = 20
WAITING = 0.5  # of the time
WORTH_SAVING = 0.005  # seconds per step
GROWS = 1.5  # last quarter over first, with every quarter above the one before
MORE_CALLS = 1.2  # of modules, in the last quarter over the first
SAME_CALL = 1.2  # times its time in the first quarter, up to which a call is no longer than it was
NEEDED_FOR_TREND = 60


def probe(trace: Trace) -> Iterator[Finding]:
    timings = trace.events("timing")
    if not timings or timings[-1]["steps"] < NEEDED_STEPS:
        yield Finding(by="probe:throughput", outcome="open", family="training-procedure",
                      message=f"fewer than {NEEDED_STEPS} steps were timed",
                      next="let it train for more steps" if trace.ended_by_itself else "allow more --steps or --time")  # fmt: skip
        return
    timing = timings[-1]
    yield from _waits(trace, timing)
    yield from _grows(trace, timing)
    yield _shares(trace, timing)


def _note(site: str | None, message: str, measured: dict[str, Number], next_step: str) -> Finding:
    path, line = place(site)
    return Finding(by="probe:throughput", outcome="fail", severity="note", confidence="medium", path=path, line=line,
                   message=message, measured=measured, next=next_step, claims=("pretokenised-file", "nanogpt-sync-point"))  # fmt: skip


def _waits(trace: Trace, timing: Event) -> Iterator[Finding]:
    share = timing["mean_wait"] / timing["mean"]
    if share > WAITING and timing["mean_wait"] > WORTH_SAVING:
        loader: Event = trace.events("loader")[0] if trace.events("loader") else {}
        workers = loader.get("num_workers")
        yield _note(
            loader.get("site"),
            f"{share:.0%} of the time goes into waiting for the loader ({1000 * timing['mean_wait']:.1f} of "
            f"{1000 * timing['mean']:.1f} ms per step, {workers} workers)",
            {"share": round(share, 3), "workers": workers or 0},
            "more workers, or prepare the data once and keep them",
        )


def _grows(trace: Trace, timing: Event) -> Iterator[Finding]:
    quarters = timing["quarters"]
    rises = all(later > 1.05 * earlier for earlier, later in pairwise(quarters))
    if _is_more_work(timing):
        return  # longer episodes or sequences: what a call takes stays
    if timing["steps"] >= NEEDED_FOR_TREND and rises and quarters[-1] > GROWS * quarters[0]:
        step = trace.ops("step")
        times, calls = ", ".join(f"{1000 * quarter:.1f}" for quarter in quarters), timing["calls"]
        more = calls[-1] > MORE_CALLS * calls[0]
        yield _note(
            step[0].get("site") if step else None,
            f"a step takes more and more CPU time: {times} ms in the four quarters of {timing['steps']} steps"
            + (f", and calls modules {', '.join(map(str, calls))} times" if more else "")
            + "; expected it to stay",
            {"first_quarter": quarters[0], "last_quarter": quarters[-1]},
            "an adaptive solver may do so; else look for a list of inputs that grows"
            if more
            else "look for a loss or an output that is kept with its graph (sum of losses without .item(), a growing list)",
        )


def _is_more_work(timing: Event) -> bool:
    quarters, calls = timing["quarters"], timing["calls"]
    more = calls[0] > 0 and calls[-1] > MORE_CALLS * calls[0]
    return bool(more and quarters[-1] * calls[0] <= SAME_CALL * quarters[0] * calls[-1])


def _shares(trace: Trace, timing: Event) -> Finding:
    parts = {name: seconds / timing["step"] for name, seconds in timing["parts"].items()}
    rest = max(0.0, 1.0 - sum(parts.values()))
    shares = ", ".join(f"{name} {share:.0%}" for name, share in parts.items())
    speed = [model for model in trace.events("inspected") if model.get("flops") and model.get("peak")]
    used = ""
    measured: dict[str, Number] = {
        "ms_per_step": round(1000 * timing["step"], 2),
        **{k: round(v, 3) for k, v in parts.items()},
    }
    if speed:
        flops, peak = 3 * sum(model["flops"] for model in speed), speed[0]["peak"]
        used = f"; about {flops / timing['step'] / peak:.0%} of what a large matrix product reaches here ({peak:.2g} FLOP/s)"
        measured["flops_per_second"] = round(flops / timing["step"])
    note = " (work handed over, not done)" if timing["asynchronous"] else ""
    if _is_more_work(timing):
        note += f"; it grows with its calls of modules, {timing['calls'][0]} to {timing['calls'][-1]}, which take no longer each"
    return Finding(
        by="probe:throughput", outcome="pass", confidence="medium",
        message=f"a step takes {1000 * timing['step']:.1f} ms: {shares}, the rest {rest:.0%}{note}{used}", measured=measured,
    )  # fmt: skip
