"""One launch from the request to the `Run`: find a containment that works, and run in it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from trainsleuth.launcher import environment as variables
from trainsleuth.launcher import folder as folders
from trainsleuth.launcher import memory
from trainsleuth.launcher.command import resolve
from trainsleuth.launcher.containment import CopyError
from trainsleuth.launcher.gather import gather
from trainsleuth.launcher.python_call import CommandError
from trainsleuth.launcher.record import Run
from trainsleuth.launcher.request import Request, check, places
from trainsleuth.launcher.root import is_too_wide
from trainsleuth.launcher.stage import Stage, prepare, to_protect
from trainsleuth.launcher.supervise import supervise


class UnavailableError(Exception):
    """The overlay does not work here; the message says why."""


def conduct(request: Request) -> Run:
    check(request)
    root, cwd = places(request)
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
    plain = Stage(str(root), str(cwd), request.command, instead=request.instead)
    try:
        added = _added(request, plain, folder, plain.root)
        words = _words(request, plain, added)
        return _contained(request, plain, replace(blank, ran=variables.shell_line(cwd, added, words)))
    except CommandError as error:
        return replace(blank, why=str(error))
    finally:
        (folder / folders.LIFELINE).unlink(missing_ok=True)
        if not request.keep:
            for name in ("layer", "copy"):
                folders.clear(str(folder / name))


def _contained(request: Request, plain: Stage, blank: Run) -> Run:
    """The run under the first containment that works."""
    wanted = {"auto": ("overlay", "copy")}.get(request.contain, (request.contain,))
    if is_too_wide(Path(plain.root)) and wanted != ("none",):
        return replace(
            blank,
            why=f"{plain.root} holds far more than one project and is not contained as a whole: go into the "
            "project, name it with --root, or pass --contain none to let the command write anywhere",
        )
    reasons = []
    for how in wanted:
        try:
            return _attempt(request, prepare(how, plain, blank.folder), plain.root, blank)
        except (UnavailableError, CopyError) as error:
            reasons.append(f"{how}: {error}")
    return replace(
        blank,
        why=f"what the command writes into {plain.root} cannot be contained here ({'; '.join(reasons)}): "
        "name a smaller folder with --root, or pass --contain none to let it write there",
    )


def _attempt(request: Request, stage: Stage, original: str, blank: Run) -> Run:
    folder = blank.folder
    added = _added(request, stage, folder, original)
    job = {
        "command": _words(request, stage, added),
        "cwd": stage.cwd,
        "environment": variables.apply(os.environ, added),
        "folder": str(folder),
        "lifeline": str(folder / folders.LIFELINE),
        "overlay": stage.root if stage.contained == "overlay" else None,
        "layer": str(folder / "layer"),
        "instead": dict(stage.instead) if stage.contained == "overlay" else {},
        "protect": to_protect(stage, folder),
        "remove": [str(folder / "copy")],
        "keep": request.keep,
        "seconds": request.limits.seconds,
        "memory_bytes": request.limits.memory_bytes or memory.default_limit(),
        "output_bytes": request.limits.output_bytes,
    }
    report, pid = supervise(job, request.cancelled, request.progress)
    if report["kind"] == "unable":
        raise UnavailableError(report["why"])
    return gather(blank, stage, report, pid, request.limits)


def _added(request: Request, stage: Stage, folder: Path, original: str) -> dict[str, str | None]:
    """The variables that the command gets on top of ours."""
    config = {
        "run_folder": str(folder),
        "root": stage.root,
        "original_root": original,
        "told_from": "" if request.root is not None else os.path.relpath(stage.cwd, stage.root),
        "cwd": stage.cwd,
        "lifeline": str(folder / folders.LIFELINE),
        "launched_at": time.monotonic(),  # one clock for all processes of the machine
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
        raise CommandError(f"the interpreter {request.python} does not exist or cannot be run: check --python")
    return resolve(
        stage.command,
        cwd=Path(stage.cwd),
        environment=variables.apply(os.environ, added),
        python=python,
        runner=variables.RUNTIME / "run_script.py",
    )
