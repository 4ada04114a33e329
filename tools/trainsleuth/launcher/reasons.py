"""Why a run ended so, in words: what, expected, got, and what to do next."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from trainsleuth.launcher.record import Ended, Event

_GIVE = "give the command that starts the training"


def refused(report: Mapping[str, Any]) -> str:
    hint = {
        2: "the interpreter in its first line does not exist",
        8: "it has no first line that names an interpreter: start it as `bash SCRIPT` or `python SCRIPT`",
    }.get(report["number"], "check that it may be executed")
    return f"the command could not be started ({report['why']}): {hint}"


def failed(failed: Event | None, output: str) -> str:
    if failed is not None:
        reason = str(failed.get("traceback") or "").strip().rpartition("\n")[2]
        what = f"{failed['what']} ({reason})" if reason else str(failed["what"])
    else:
        said = [line for line in output.splitlines() if line.startswith("trainsleuth: ")]
        what = said[-1].removeprefix("trainsleuth: ") if said else "a process ended with exit code 70"
    return f"{what}; nothing was trained unprobed, and the full message is in the output"


def no_torch(events: Sequence[Event], crash: Event) -> str:
    hello = next((event for event in events if event["kind"] == "hello" and event["pid"] == crash["pid"]), {})
    return (
        f"the interpreter {hello.get('executable', '?')} (Python {hello.get('python', '?')}) has no torch: "
        "name the one you train with by --python"
    )


def broken(report: Mapping[str, Any], crash: Event | None) -> tuple[Ended, str]:
    how = code(report["code"])
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


def never_hooked(events: Sequence[Event]) -> str:
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


def leftovers(report: Mapping[str, Any]) -> list[str]:
    left = report.get("outlived") or []
    if not left or report.get("how") != "exited":
        return []
    return [f"{len(left)} processes outlived the command and were stopped: {_names(left)}"]


def unprobed(events: Sequence[Event]) -> list[str]:
    blind = [event["argv"] for event in events if event["kind"] == "unprobed" and event.get("torch")]
    return [f"torch also ran in processes that were not probed: {_names(blind)}"] if blind else []


def links(unprotected: Sequence[str]) -> list[str]:
    if not unprotected:
        return []
    return [
        f"{len(unprotected)} large files or folders were linked into the copy, not copied, and could be "
        f"written through: {', '.join(unprotected[:3])}"
    ]


def is_hooked(events: Sequence[Event]) -> bool:
    return any(event["kind"] == "hooks" for event in events)


def _names(lines: Sequence[Sequence[str]]) -> str:
    shown = [shlex.join(line)[:120] for line in lines[:3]]
    return ", ".join(f"`{line}`" for line in shown) + (f" and {len(lines) - 3} more" if len(lines) > 3 else "")


def code(code: int | None) -> str:
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
