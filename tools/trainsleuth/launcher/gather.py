"""A `Run` from what the supervisor reported and what the processes wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from trainsleuth.launcher import changes, last_stack, outcome
from trainsleuth.launcher import folder as folders
from trainsleuth.launcher.record import Event, Limits, Run
from trainsleuth.launcher.stage import Stage, changed, open_links
from trainsleuth.launcher.supervise import Report


def gather(blank: Run, stage: Stage, report: Report, pid: int | None, limits: Limits) -> Run:
    """`pid` is that of the command, None if it was never started."""
    folder = blank.folder
    found = changed(stage, report, folder)
    events = tuple(_completed(folders.events(folder), report, pid, found.untold))
    output = _read(folder / "output.txt")
    outside = changes.since({event["path"]: event["before"] for event in events if event["kind"] == "wrote"})
    stand = last_stack.stood(folder, events)
    ended, why = outcome.judge(report, events, output, limits, open_links(stage, report), stand, blank.command)
    return replace(
        blank,
        ended=ended,
        why=why,
        exit_code=report.get("code") if report["kind"] == "ended" else None,
        seconds=report.get("seconds", 0.0),
        output=output,
        events=events,
        contained=stage.contained,
        wrote=tuple(dict.fromkeys([*found.wrote, *outside.wrote])),
        stand=stand if ended in ("timeout", "out_of_memory") else None,
        deleted=tuple(dict.fromkeys([*found.deleted, *outside.deleted])),
        peak_bytes=report.get("peak_bytes", 0),
    )


def _completed(events: tuple[Event, ...], report: Report, pid: int | None, untold: int) -> list[Event]:
    """The events, with what only the supervisor knew: the command's exit code, processes never heard of."""
    code, end = report.get("code"), report.get("seconds", 0.0)
    told: list[Event] = [
        {**event, "code": code} if event["kind"] == "exit" and event["pid"] == pid else event for event in events
    ]
    unseen: list[dict[str, Any]] = [
        {"kind": "unprobed", "t": end, "rank": None, **process} for process in report.get("unprobed", ())
    ]
    if untold:
        unseen.append({"kind": "wrote_more", "t": end, "pid": None, "rank": None, "untold": untold})
    return [*told, *unseen]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
