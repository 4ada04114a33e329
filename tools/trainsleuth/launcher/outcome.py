"""How a run ended, in one word and one sentence. Pure: a report, events and output in; words out."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from trainsleuth.launcher import reasons
from trainsleuth.launcher.python_call import is_python
from trainsleuth.launcher.record import Ended, Event, Limits, Stand

FAILED = 70  # the runtime's exit code for a process that it could not probe
TIMED_OUT = 124  # the exit code of the command `timeout` when its time is up
MB = 1_000_000
REASONS = {
    "nonfinite": "a value of its training was not finite",
    "steps": "the steps asked for were seen",
    "seconds": "the time to watch it was over",
}


def judge(
    report: Mapping[str, Any],
    events: Sequence[Event],
    output: str,
    limits: Limits,
    unprotected: Sequence[str] = (),
    stand: Stand | None = None,
    command: Sequence[str] = (),
) -> tuple[Ended, str]:
    """(ended, why)."""
    ended, why = _judge(report, events, output, limits, stand, command)
    notes = [
        *reasons.leftovers(report),
        *(reasons.unprobed(events) if ended != "not_probed" else ()),
        *reasons.links(unprotected),
    ]
    return ended, "; ".join([why, *notes])


def _judge(
    report: Mapping[str, Any],
    events: Sequence[Event],
    output: str,
    limits: Limits,
    stand: Stand | None,
    command: Sequence[str],
) -> tuple[Ended, str]:
    if report["kind"] == "refused":
        return "not_started", reasons.refused(report)
    if report["kind"] == "lost":
        return "crashed", (
            f"trainsleuth's own supervisor ended unexpectedly ({reasons.code(report.get('code'))}) and the "
            "command was killed with it: see supervisor.log in the run folder"
        )
    failed = _first(events, "failed")
    if failed is not None or (report["code"] == FAILED and not reasons.is_hooked(events)):
        return "not_probed", reasons.failed(failed, output)
    cut_short = _cut_short(report, events, limits, stand)
    if cut_short is not None:
        return cut_short
    finish, crash = _first(events, "finish"), _crash(events)
    if finish is not None and (crash is None or crash["t"] > finish["t"]):
        reason = finish.get("reason", "no reason given")
        return "stopped", f"stopped on purpose after {finish['t']:.1f} s: {REASONS.get(reason, reason)}"
    if crash is not None and crash.get("module") == "torch" and not reasons.is_hooked(events):
        return "not_probed", reasons.no_torch(events, crash)
    if report["code"] == TIMED_OUT and crash is None and _has_own_limit(command):
        why = "give it more, or leave it out: --time limits a run as well"
        return "timeout", f"the command's own `timeout` stopped it after {report['seconds']:.1f} s: {why}"
    if report["code"] != 0:
        return reasons.broken(report, crash)
    if not reasons.is_hooked(events):
        return "not_probed", reasons.never_hooked(events)
    return "finished", f"the command ended by itself after {report['seconds']:.1f} s with exit code 0"


def _has_own_limit(command: Sequence[str]) -> bool:
    before = takewhile(lambda word: not is_python(word), command)
    return any(os.path.basename(word) == "timeout" for word in before)


def _cut_short(
    report: Mapping[str, Any], events: Sequence[Event], limits: Limits, stand: Stand | None
) -> tuple[Ended, str] | None:
    """Runs that we ended, or the kernel for lack of memory."""
    how, used = report["how"], f"{report['used_bytes'] / MB:,.0f} MB"
    if how == "timeout":
        where = "" if reasons.is_hooked(events) else ", and no probed process had imported torch by then"
        if stand is not None:
            where = f" at {stand.path}:{stand.line}" + (f" (in {stand.inside})" if stand.inside else "")
        advice = "allow more time or fewer steps" + (", or look there: it may wait for something" if stand else "")
        if stand is not None and stand.by_probe:
            at_work = f"{stand.inside}, called at {stand.path}:{stand.line}"
            where, advice = f" while the probe itself was at work in it (in {at_work})", "allow more time"
        return "timeout", f"the command still ran after {_spent(limits)} and was stopped{where}: {advice}"
    if how == "out_of_memory":
        return "out_of_memory", (
            f"the command and its children used {used}, more than the limit allowed, and were stopped: "
            "use a smaller batch, fewer loader workers, or a higher limit"
        )
    if report["code"] == -signal.SIGKILL and report.get("kernel_kills", 0) > 0:
        return "out_of_memory", (
            "the kernel killed the command for lack of memory (at most "
            f"{report['peak_bytes'] / MB:,.0f} MB seen in use): use a smaller batch or fewer loader workers"
        )
    if how in ("cancelled", "orphaned"):
        return "cancelled", f"the run was cancelled after {report['seconds']:.1f} s"
    if how == "finished" and _first(events, "finish") is None:
        return "stopped", "a process ended on purpose at its step budget, and the rest was stopped after it"
    return None


def _spent(limits: Limits) -> str:
    """The time that a run had, in the user's own number where that was nearly all of it."""
    if limits.given is None:
        return f"{limits.seconds:g} s"
    if limits.seconds > 0.9 * limits.given:
        return f"{limits.given:g} s"
    return f"{limits.seconds:.0f} s, what was left of {limits.given:g} s,"


def _first(events: Sequence[Event], kind: str) -> Event | None:
    return next((event for event in events if event["kind"] == kind), None)


def _crash(events: Sequence[Event]) -> Event | None:
    """The first crash where torch was hooked, else the first of all: causes come before what they cause."""
    crashes = [event for event in events if event["kind"] == "crash"]
    hooked = {event["pid"] for event in events if event["kind"] == "hooks"}
    return next((event for event in crashes if event["pid"] in hooked), crashes[0] if crashes else None)
