"""How a run ended, in one word and one sentence. Pure: a report, events and output in; words out."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from trainsleuth.launcher.record import Ended, Event, Limits

FAILED = 70  # the runtime's exit code for a process that it could not probe
MB = 1_000_000

_GIVE = "give the command that starts the training"


def judge(
    report: Mapping[str, Any],
    events: Sequence[Event],
    output: str,
    limits: Limits,
    unprotected: Sequence[str] = (),
) -> tuple[Ended, str]:
    """(ended, why)."""
    ended, why = _judge(report, events, output, limits)
    notes = [
        *_about_leftovers(report),
        *(_about_unprobed(events) if ended != "not_probed" else ()),
        *_about_links(unprotected),
    ]
    return ended, "; ".join([why, *notes])


def _judge(report: Mapping[str, Any], events: Sequence[Event], output: str, limits: Limits) -> tuple[Ended, str]:
    if report["kind"] == "refused":
        return "not_started", _refused(report)
    if report["kind"] == "lost":
        return "crashed", (
            f"trainsleuth's own supervisor ended unexpectedly ({_code(report.get('code'))}) and the command "
            "was killed with it: see supervisor.log in the run folder"
        )
    failed = _first(events, "failed")
    if failed is not None or (report["code"] == FAILED and not _hooked(events)):
        return "not_probed", _failed(failed, output)
    cut_short = _cut_short(report, events, limits)
    if cut_short is not None:
        return cut_short
    finish, crash = _first(events, "finish"), _crash(events)
    if finish is not None and (crash is None or crash["t"] > finish["t"]):
        reason = finish.get("reason", "no reason given")
        return "stopped", f"stopped on purpose after {finish['t']:.1f} s: {reason}"
    if crash is not None and crash.get("module") == "torch" and not _hooked(events):
        return "not_probed", _no_torch(events, crash)
    if report["code"] != 0:
        return _broken(report, crash)
    if not _hooked(events):
        return "not_probed", _never_hooked(events)
    return "finished", f"the command ended by itself after {report['seconds']:.1f} s with exit code 0"


def _refused(report: Mapping[str, Any]) -> str:
    hint = {
        2: "the interpreter in its first line does not exist",
        8: "it has no first line that names an interpreter: start it as `bash SCRIPT` or `python SCRIPT`",
    }.get(report["number"], "check that it may be executed")
    return f"the command could not be started ({report['why']}): {hint}"


def _failed(failed: Event | None, output: str) -> str:
    if failed is not None:
        reason = str(failed.get("traceback") or "").strip().rpartition("\n")[2]
        what = f"{failed['what']} ({reason})" if reason else str(failed["what"])
    else:
        said = [line for line in output.splitlines() if line.startswith("trainsleuth: ")]
        what = said[-1].removeprefix("trainsleuth: ") if said else "a process ended with exit code 70"
    return f"{what}; nothing was trained unprobed, and the full message is in the output"


def _cut_short(report: Mapping[str, Any], events: Sequence[Event], limits: Limits) -> tuple[Ended, str] | None:
    """Runs that we ended, or the kernel for lack of memory."""
    how, used = report["how"], f"{report['used_bytes'] / MB:,.0f} MB"
    if how == "timeout":
        where = "" if _hooked(events) else ", and no probed process had imported torch by then"
        return "timeout", (
            f"the command still ran after {limits.seconds:g} s and was stopped{where}: allow more time or fewer steps"
        )
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


def _no_torch(events: Sequence[Event], crash: Event) -> str:
    hello = next((event for event in events if event["kind"] == "hello" and event["pid"] == crash["pid"]), {})
    return (
        f"the interpreter {hello.get('executable', '?')} (Python {hello.get('python', '?')}) has no torch: "
        "name the one you train with by --python"
    )


def _broken(report: Mapping[str, Any], crash: Event | None) -> tuple[Ended, str]:
    how = _code(report["code"])
    if crash is None:
        return (
            "crashed",
            f"the command ended with {how} after {report['seconds']:.1f} s and left no traceback",
        )
    place = f"{crash['path']}:{crash['line']}" if crash.get("path") else "code outside the project"
    message = (str(crash.get("message") or "").strip().splitlines() or [""])[0][:300]
    hint = _hint(crash, bool(report.get("protected")))
    return "crashed", f"{crash['type']} at {place}: {message} ({how}){hint}"


def _hint(crash: Event, protected: bool) -> str:
    """A word on crashes that the way we run things can cause."""
    if protected and crash["type"] == "PermissionError":
        return "; in a copy the large files are the real ones, made read-only: pass --contain none to allow it"
    text = f"{crash['type']} {crash.get('message')}"
    if "cross-device link" in text:
        return "; a folder cannot be renamed in a contained run without root rights: try --contain copy"
    if any(word in text for word in ("LocalEntryNotFound", "OfflineMode", "offline mode", "HF_HUB_OFFLINE")):
        return "; probes run offline: download it once by hand, then probe again"
    return ""


def _never_hooked(events: Sequence[Event]) -> str:
    """No handshake came from a process that imports torch."""
    blind = [event for event in events if event["kind"] == "unprobed"]
    if any(event.get("torch") for event in blind):
        names = _names([event["argv"] for event in blind if event.get("torch")])
        return (
            f"torch ran in a Python process that could not be probed: {names}; a Python that was started "
            "with -I, -E or -S, or with an environment of its own, does not load the probe"
        )
    if not any(event["kind"] == "hello" for event in events):
        seen = f" ({_names([event['argv'] for event in blind])} did not load the probe)" if blind else ""
        return f"no Python process of this command could be probed{seen}: {_GIVE}"
    return f"the command ended with exit code 0 but never imported torch: {_GIVE}"


def _about_leftovers(report: Mapping[str, Any]) -> list[str]:
    left = report.get("outlived") or []
    if not left or report.get("how") != "exited":
        return []
    return [f"{len(left)} processes outlived the command and were stopped: {_names(left)}"]


def _about_unprobed(events: Sequence[Event]) -> list[str]:
    blind = [event["argv"] for event in events if event["kind"] == "unprobed" and event.get("torch")]
    return [f"torch also ran in processes that were not probed: {_names(blind)}"] if blind else []


def _about_links(unprotected: Sequence[str]) -> list[str]:
    if not unprotected:
        return []
    return [
        f"{len(unprotected)} large files or folders were linked into the copy, not copied, and could be "
        f"written through: {', '.join(unprotected[:3])}"
    ]


def _names(lines: Sequence[Sequence[str]]) -> str:
    shown = [shlex.join(line)[:120] for line in lines[:3]]
    return ", ".join(f"`{line}`" for line in shown) + (f" and {len(lines) - 3} more" if len(lines) > 3 else "")


def _code(code: int | None) -> str:
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _hooked(events: Sequence[Event]) -> bool:
    return any(event["kind"] == "hooks" for event in events)


def _first(events: Sequence[Event], kind: str) -> Event | None:
    return next((event for event in events if event["kind"] == kind), None)


def _crash(events: Sequence[Event]) -> Event | None:
    """The first crash where torch was hooked, else the first of all: causes come before what they cause."""
    crashes = [event for event in events if event["kind"] == "crash"]
    hooked = {event["pid"] for event in events if event["kind"] == "hooks"}
    return next((event for event in crashes if event["pid"] in hooked), crashes[0] if crashes else None)
