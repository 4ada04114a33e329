"""A run that is watched to its end: the user's own command as it is, with a runtime in it that only listens.

Nothing is contained, bounded or kept quiet: this process becomes the command. What is found is said on its stderr and
kept in a folder, with a bundle of the step at the first breach.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainsleuth.launcher import LaunchError
from trainsleuth.launcher.command import resolve
from trainsleuth.launcher.environment import CONFIG, RUNTIME, entered
from trainsleuth.launcher.folder import clear, home
from trainsleuth.launcher.python_call import CommandError
from trainsleuth.launcher.root import choose_root

PATCHES = ("backward", "optimizer birth", "optimizer step", "gradient scaler", "data loader")
KEPT = 20  # folders of watched runs
OLD = 7 * 86_400  # seconds since anything in one was written


@dataclass(frozen=True)
class Watched:
    """What to become: `words` in `environment`. `folder` will hold the log and, unless another was named, the bundles; None
    where the run is watched already.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path | None = None


def watched(
    command: Sequence[str],
    *,
    root: Path | None = None,
    python: str | None = None,
    bundles: Path | None = None,
    stop: bool = False,
    exact: bool = False,
) -> Watched:
    """`stop`: end the run at a breach that is kept; `exact`: read each loss before its backward, on devices too.

    Raises LaunchError for a command that cannot be started, OSError where no folder can be made.
    """
    if CONFIG in os.environ:  # as a part of a run that is probed, which sees more
        return Watched(tuple(command), os.environ)
    cwd = Path.cwd()
    place = root.resolve() if root is not None else choose_root(cwd)
    if bundles is not None:
        bundles.mkdir(parents=True, exist_ok=True)
        if not os.access(bundles, os.W_OK):
            raise LaunchError(f"nothing can be written into {bundles}: name another folder with --bundles")
    folder = _folder()
    experiment = {
        "listeners": ["vigil"],
        "patches": PATCHES,
        "stop": stop,
        "exact": exact,
        "bundles": str(bundles.resolve()) if bundles is not None else "",
    }
    config = {
        "run_folder": str(folder),
        "root": str(place),
        "told_from": "" if root is not None else os.path.relpath(cwd, place),
        "cwd": str(cwd),
        "launched_at": time.monotonic(),
        "watch_only": True,
        "experiment": experiment,
    }
    environment = {**os.environ, **entered(config, os.environ)}
    return Watched(words_of(command, environment, python), environment, folder)


def words_of(command: Sequence[str], environment: Mapping[str, str], python: str | None) -> tuple[str, ...]:
    """What to start for a command, with this interpreter where one is named. Raises LaunchError."""
    try:
        runner = RUNTIME / "run_script.py"
        return tuple(resolve(command, cwd=Path.cwd(), environment=environment, python=python, runner=runner))
    except CommandError as error:
        raise LaunchError(str(error)) from error


def _folder() -> Path:
    runs = (home() / "watched").absolute()
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = sorted((one for one in runs.iterdir() if one.is_dir()), key=_written)
    for old in known[: -KEPT + 1]:
        if time.time() - _written(old) > OLD:
            clear(str(old))
    folder = runs / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    folder.mkdir(mode=0o700)
    return folder


def _written(folder: Path) -> float:
    return max((one.stat().st_mtime for one in (folder, *folder.iterdir())), default=0.0)
