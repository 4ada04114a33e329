"""One launch from the request to the `Run`: find a containment that works, run, gather what came of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainsleuth.launcher import changes, memory, outcome
from trainsleuth.launcher import environment as variables
from trainsleuth.launcher import folder as folders
from trainsleuth.launcher.command import CannotStart, resolve
from trainsleuth.launcher.containment import CannotCopy, Copy, choose_root, copy_folder, is_too_wide
from trainsleuth.launcher.record import Contained, Event, LaunchError, Limits, Run
from trainsleuth.launcher.supervise import Report, supervise


@dataclass(frozen=True)
class Request:
    """What `launch` was asked for."""

    command: tuple[str, ...]
    experiment: Mapping[str, Any]
    root: Path | None
    cwd: Path
    python: str | None
    limits: Limits
    contain: str
    cancelled: Callable[[], bool]
    progress: Callable[[str], None]
    keep: bool


@dataclass(frozen=True)
class Stage:
    """Where the command runs: `root` and `cwd` as it sees them, which are others in a copy."""

    root: str
    cwd: str
    command: tuple[str, ...]
    contained: Contained
    copy: Copy | None = None
    before: Mapping[str, Mapping[str, changes.Stamp]] = field(default_factory=dict)


class Unavailable(Exception):
    """This containment does not work here; the message says why."""


def conduct(request: Request) -> Run:
    _check(request)
    root, cwd = _places(request)
    blank = Run(request.command, "", folders.home(), "not_started", "")
    try:
        folder = folders.make()
    except OSError as error:
        return replace(
            blank,
            why=f"the run folder could not be made in {folders.home()} ({error.strerror}): "
            "set TRAINSLEUTH_HOME to a folder that you may write",
        )
    folders.prune(folder.parent)
    blank = replace(blank, folder=folder)
    try:
        plain = Stage(str(root), str(cwd), request.command, "none")
        added = _added(request, plain, folder, plain.root)
        words = _words(request, plain, added)
        blank = replace(blank, ran=variables.shell_line(cwd, added, words))
        return _contained(request, plain, folder, blank)
    except CannotStart as error:
        return replace(blank, why=str(error))
    finally:
        (folder / folders.LIFELINE).unlink(missing_ok=True)
        if not request.keep:
            for name in ("layer", "copy"):
                folders.clear(str(folder / name))


def _check(request: Request) -> None:
    if not request.command or not all(isinstance(word, str) for word in request.command):
        raise LaunchError("the command must be a list of at least one word")
    if any("\0" in word for word in request.command):
        raise LaunchError("a word of the command holds a NUL character")
    if request.contain not in ("auto", "overlay", "copy", "none"):
        raise LaunchError(f"contain must be auto, overlay, copy or none, not {request.contain!r}")
    if not request.limits.seconds > 0 or request.limits.output_bytes <= 0:
        raise LaunchError("the limits of seconds and output_bytes must be above 0")


def _places(request: Request) -> tuple[Path, Path]:
    """(root, cwd), absolute and without links."""
    cwd = request.cwd.resolve()
    root = request.root.resolve() if request.root is not None else choose_root(cwd)
    for place in (root, cwd):
        if not place.is_dir():
            raise LaunchError(f"{place} is not a folder")
    return root, cwd


def _contained(request: Request, plain: Stage, folder: Path, blank: Run) -> Run:
    """The run under the first containment that works."""
    wanted = {"auto": ("overlay", "copy")}.get(request.contain, (request.contain,))
    if is_too_wide(Path(plain.root)) and wanted != ("none",):
        return replace(
            blank,
            why=f"{plain.root} holds far more than one project, so it is not contained as a whole: change into the "
            "project, name it with --root, or pass --contain none to let the command write where it likes",
        )
    reasons = []
    for how in wanted:
        try:
            stage = _stage(how, plain, folder)
            return _attempt(request, stage, plain.root, folder, blank)
        except Unavailable as error:
            reasons.append(f"{how}: {error}")
    return replace(
        blank,
        why=f"what the command writes into {plain.root} cannot be contained here ({'; '.join(reasons)}): "
        "pass --contain none to let it write there",
    )


def _stage(how: str, plain: Stage, folder: Path) -> Stage:
    home = str(folder.parent.parent)
    if how == "overlay":
        return replace(plain, contained="overlay")
    if how == "none":
        before = {} if is_too_wide(Path(plain.root)) else {plain.root: changes.snapshot(plain.root, home)}
        return replace(plain, before=before)
    try:
        copy = copy_folder(plain.root, str(folder / "copy"), home)
    except CannotCopy as error:
        raise Unavailable(str(error)) from error
    return Stage(
        root=copy.place,
        cwd=copy.inside(plain.cwd),
        command=tuple(copy.translate(word) for word in plain.command),
        contained="copy",
        copy=copy,
        before={place: changes.snapshot(place, home) for place in (copy.place, plain.root)},
    )


def _attempt(request: Request, stage: Stage, original: str, folder: Path, blank: Run) -> Run:
    added = _added(request, stage, folder, original)
    job = {
        "command": _words(request, stage, added),
        "cwd": stage.cwd,
        "environment": variables.apply(os.environ, added),
        "folder": str(folder),
        "lifeline": str(folder / folders.LIFELINE),
        "overlay": stage.root if stage.contained == "overlay" else None,
        "layer": str(folder / "layer"),
        "protect": original if _may_protect(stage, folder) else None,
        "remove": [str(folder / "copy")],
        "keep": request.keep,
        "seconds": request.limits.seconds,
        "memory_bytes": request.limits.memory_bytes or memory.default_limit(),
        "output_bytes": request.limits.output_bytes,
    }
    report, pid = supervise(job, request.cancelled, request.progress)
    if report["kind"] == "unable":
        raise Unavailable(report["why"])
    return _gather(request, stage, folder, replace(blank, contained=stage.contained), report, pid)


def _may_protect(stage: Stage, folder: Path) -> bool:
    """Write protection covers the folders above the root too, and those for temporary files must stay open."""
    if stage.copy is None or not stage.copy.linked:
        return False
    needed = (tempfile.gettempdir(), str(folder))
    return not any(
        f"{stage.copy.root}/".startswith(f"{place}/") or place.startswith(f"{stage.copy.root}/")
        for place in needed
    )


def _added(request: Request, stage: Stage, folder: Path, original: str) -> dict[str, str | None]:
    config = {
        "run_folder": str(folder),
        "root": stage.root,
        "original_root": original,
        "cwd": stage.cwd,
        "lifeline": str(folder / folders.LIFELINE),
        "launched_at": time.monotonic(),
        "experiment": dict(request.experiment),
    }
    given: dict[str, str | None] = dict(request.experiment.get("env", {}))
    inherited = dict(os.environ)
    if request.python is not None:
        first = os.path.dirname(os.path.abspath(request.python))
        given = {"PATH": os.pathsep.join([first, inherited.get("PATH", os.defpath)]), **given}
    if stage.copy is not None and "PYTHONPATH" in inherited:
        entries = inherited["PYTHONPATH"].split(os.pathsep)
        inherited["PYTHONPATH"] = os.pathsep.join(map(stage.copy.translate, entries))
    return variables.additions(config, given, inherited)


def _words(request: Request, stage: Stage, added: Mapping[str, str | None]) -> list[str]:
    python = None if request.python is None else os.path.abspath(request.python)
    if python is not None and not os.access(python, os.X_OK):
        raise CannotStart(
            f"the interpreter {request.python} given with --python does not exist or cannot be run"
        )
    return resolve(
        stage.command,
        cwd=Path(stage.cwd),
        environment=variables.apply(os.environ, added),
        python=python,
        runner=variables.RUNTIME / "run_script.py",
    )


def _gather(request: Request, stage: Stage, folder: Path, blank: Run, report: Report, pid: int | None) -> Run:
    events = _completed(folders.events(folder), report, pid)
    output = folder / "output.txt"
    text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    found = _changes(stage, report, folder)
    outside = dict.fromkeys(event["path"] for event in events if event["kind"] == "wrote")
    ended, why = outcome.judge(report, events, text, request.limits, _unprotected(stage, report))
    return replace(
        blank,
        ended=ended,
        why=why,
        exit_code=report.get("code") if report["kind"] == "ended" else None,
        seconds=report.get("seconds", 0.0),
        output=text,
        events=events,
        wrote=(*found.wrote, *(path for path in outside if path not in found.wrote)),
        deleted=found.deleted,
        peak_bytes=report.get("peak_bytes", 0),
    )


def _completed(events: tuple[Event, ...], report: Report, pid: int | None) -> tuple[Event, ...]:
    """The events, with what only the supervisor knew: the command's exit code, processes never heard of."""
    code = report.get("code")
    told = [
        {**event, "code": code} if event["kind"] == "exit" and event["pid"] == pid else event
        for event in events
    ]
    unseen = [
        {"kind": "unprobed", "t": report.get("seconds", 0.0), "rank": None, **process}
        for process in report.get("unprobed", ())
    ]
    return (*told, *unseen)


def _changes(stage: Stage, report: Report, folder: Path) -> changes.Changes:
    if stage.contained == "overlay":
        return changes.Changes(
            tuple(report.get("wrote", ())), tuple(report.get("deleted", ())), report.get("untold", 0)
        )
    wrote: list[str] = []
    deleted: list[str] = []
    for place, before in stage.before.items():
        found = changes.between(before, changes.snapshot(place, str(folder.parent.parent)))
        prefix = "" if place == stage.root else f"{changes.readable(place)}/"
        wrote.extend(prefix + path for path in found.wrote)
        deleted.extend(prefix + path for path in found.deleted)
    return changes.collect(wrote, deleted)


def _unprotected(stage: Stage, report: Report) -> tuple[str, ...]:
    """Large files of the user's that the run could have written through a link."""
    if stage.copy is None or report.get("protected"):
        return ()
    return tuple(map(changes.readable, stage.copy.linked))
