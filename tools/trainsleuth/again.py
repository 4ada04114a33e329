"""After a change: the probes that failed in an earlier run once more, and what became of each.

Every run of probes leaves a record in its run folder: what was asked, and what was found.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from trainsleuth.finding import Finding
from trainsleuth.launcher.folder import home
from trainsleuth.probes import all_probes
from trainsleuth.probing import RECORD, ProbeReport, Request, run_probes

Became = Literal["flipped", "still fails", "open"]
LAST = "last"
SPARE = 0.1  # of the steps may be missing: a time limit ends runs at odd moments


class AgainError(ValueError):
    """There is no such run, or nothing failed in it."""


@dataclass(frozen=True)
class Flip:
    """What one probe said before and what it says now; `after` is None when it says nothing of it any more."""

    before: Finding
    after: Finding | None
    became: Became

    def __str__(self) -> str:
        now = f": {self.after.message}" if self.after is not None and self.became != "still fails" else ""
        words = {
            "flipped": "failed before and passes now",
            "still fails": "still fails",
            "open": "failed before and is open now",
        }
        about = f" (about {', '.join(self.before.suspects)})" if self.before.suspects else ""
        return f"{self.before.by} at {self.before.place or 'no place'}{about} {words[self.became]}{now}"


@dataclass(frozen=True)
class AgainReport:
    """The new run and what became of each failure of the old one."""

    request: Request
    report: ProbeReport
    flips: tuple[Flip, ...]

    @property
    def is_mended(self) -> bool:
        """Did every failure flip?"""
        return bool(self.flips) and all(flip.became == "flipped" for flip in self.flips)


def probe_again(run: str, request: Request) -> AgainReport:
    """Runs those probes again that failed in `run`: a run folder, its name, or "last" for the newest with a failure.

    Of `request` what has no place in the record counts: `cancelled`, `progress`. A command in it must be that of
    the run, and a root must hold the folder in which the run was. Raises AgainError.
    """
    record = _record(run, (request.root or Path.cwd()).resolve())
    _must_fit(record, request)
    failed = [finding for finding in map(Finding.from_dict, record["findings"]) if finding.is_alarm]
    wanted = {f.by.partition(":")[2] for f in failed if f.by != "probe:run"}
    if request.only:
        failed = [f for f in failed if f.by.partition(":")[2] in request.only]
        if not failed:
            raise AgainError(f"in that run failed {', '.join(sorted(wanted))}, and none of what --only names")
        wanted &= request.only
    asked = _request(record, request, wanted or None)
    report = run_probes(asked)
    return AgainReport(asked, report, tuple(flips(failed, report, record.get("seen", {}))))


def _must_fit(record: dict[str, Any], request: Request) -> None:
    ran, where = tuple(record["command"]), Path(record["cwd"])
    if request.command and request.command != ran:
        raise AgainError(f"that run was of {shlex.join(ran)!r}: give this command, or none")
    if request.root is not None and not where.is_relative_to(request.root.resolve()):
        raise AgainError(f"that run was in {where}, which is not below {request.root}: give its root, or none")


def _short_of(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What an experiment sees less of than it did when it failed; "" when nothing. A pass of less is no flip."""
    if now.get("processes", 0) < before.get("processes", 0):
        return f"only {now.get('processes', 0)} processes trained now, {before['processes']} before"
    if not now.get("whole") and now.get("steps", 0) < (1 - SPARE) * before.get("steps", 0):
        return f"only {now.get('steps', 0)} steps were seen now, {before['steps']} before"
    lost = [name for name in before.get("hooks", ()) if name not in now.get("hooks", ())]
    return f"the hook {lost[0]} did not take now" if lost else ""


def _record(run: str, here: Path) -> dict[str, Any]:
    """Of a run by its folder or name; the last counts among those that ran in `here` or below: a command of another
    project is started by nobody who does not name it.
    """
    if run == LAST:
        folders = sorted((path.parent for path in (home() / "runs").glob(f"*/{RECORD}")), reverse=True)
        records = [record for record in map(_read, folders) if record is not None]
        failing = [record for record in records if _failures(record)]
        found = next((record for record in failing if Path(record["cwd"]).resolve().is_relative_to(here)), None)
        if found is None:
            other = f"; the last one that did ran in {failing[0]['cwd']}: call from there" if failing else ""
            raise AgainError(f"no run in {here} found anything: run `trainsleuth probe -- COMMAND` first{other}")
        return found
    folder = Path(run) if Path(run).is_dir() else home() / "runs" / run
    record = _read(folder)
    if record is None:
        if (folder / RECORD).exists():
            raise AgainError(f"the record of {folder} is damaged (cut off?): run the probes anew, or name another run")
        known = sorted((path.parent.name for path in (home() / "runs").glob(f"*/{RECORD}")), reverse=True)[:3]
        raise AgainError(f"{folder} holds no record of a probe run; the newest are: {', '.join(known) or 'none'}")
    if not _failures(record):
        raise AgainError(f"nothing failed in {folder}, so there is nothing to run again")
    return record


def _read(folder: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) and "findings" in found else None
    return None


def _failures(record: dict[str, Any]) -> bool:
    return any(one["outcome"] == "fail" and one["severity"] != "note" for one in record["findings"])


def _request(record: dict[str, Any], given: Request, only: set[str] | None) -> Request:
    return replace(
        given, command=tuple(record["command"]), only=frozenset(only) if only else None, steps=record["steps"],
        seconds=record["seconds"], python=record["python"], contain=record["contain"], cwd=Path(record["cwd"]),
        root=Path(record["root"]) if record["root"] else None,
    )  # fmt: skip


def flips(failed: Sequence[Finding], report: ProbeReport, seen: Mapping[str, Any]) -> Iterator[Flip]:
    """Each failure with what its probe says now about the same causes.

    No answer at all is no pass, nor is a pass of a run that sees less than the one that failed (`seen`).
    """
    known = all_probes()
    for before in failed:
        same = [f for f in report.findings if f.by == before.by]
        fails = [f for f in same if f.is_alarm and (set(f.suspects) & set(before.suspects) or not before.suspects)]
        passes = [f for f in same if f.outcome == "pass"]
        probe = known.get(before.by.partition(":")[2])
        how = probe.EXPERIMENT if probe else ""
        short_of = _short_of(seen.get(how, {}), report.seen.get(how, {}))
        if fails:
            yield Flip(before, fails[0], "still fails")
        elif passes and not short_of:
            yield Flip(before, passes[0], "flipped")
        elif passes:
            yield Flip(before, replace(passes[0], outcome="open", message=f"{short_of}: {passes[0].message}"), "open")
        else:
            yield Flip(before, same[0] if same else None, "open")
