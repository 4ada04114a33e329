"""Where a command runs so that the user's folder stays as it is, and what it changed there."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainsleuth.launcher import changes
from trainsleuth.launcher.containment import Copy, CopyError, copy_folder
from trainsleuth.launcher.instead import Texts, put
from trainsleuth.launcher.record import Contained
from trainsleuth.launcher.root import is_too_wide

Stamps = Mapping[str, changes.Stamp]


@dataclass(frozen=True)
class Stage:
    """`root` and `cwd` as the command sees them: others in a copy. `before` is for comparing later."""

    root: str
    cwd: str
    command: tuple[str, ...]
    contained: Contained = "none"
    copy: Copy | None = None
    before: Mapping[str, Stamps] = field(default_factory=dict)
    instead: Texts = field(default_factory=dict)


def prepare(how: str, plain: Stage, folder: Path) -> Stage:
    """The stage for containment `how`. Raises CopyError when the folder cannot be copied."""
    runs = str(folder.parent.parent)
    if how == "overlay":  # put in place by the supervisor, for itself and its children only
        return replace(plain, contained="overlay")
    if how == "none":
        too_wide = is_too_wide(Path(plain.root))
        return replace(plain, before={} if too_wide else {plain.root: changes.snapshot(plain.root, runs)})
    copy = copy_folder(plain.root, str(folder / "copy"), runs)
    _replace_in(copy, plain.instead)
    return Stage(
        root=copy.place,
        cwd=copy.inside(plain.cwd),
        command=tuple(copy.translate(word) for word in plain.command),
        contained="copy",
        copy=copy,
        before={place: changes.snapshot(place, runs) for place in (copy.place, plain.root)},
    )


def _replace_in(copy: Copy, texts: Texts) -> None:
    if linked := next((path for path in texts if copy.is_linked(path)), None):
        raise CopyError(f"{linked} is too large to be copied, so it cannot be replaced there")
    try:
        put(copy.place, texts)
    except OSError as error:
        raise CopyError(f"{error.filename or 'a file'} cannot be replaced: {error.strerror}") from error


def to_protect(stage: Stage, folder: Path) -> str | None:
    """The real folder behind a copy with links, if the kernel may be asked to forbid writing there.

    That closes the folders above it for new files too, so none of them may be one for temporary files.
    """
    if stage.copy is None or not stage.copy.linked:
        return None
    root = stage.copy.root
    for needed in (tempfile.gettempdir(), str(folder)):
        if f"{root}/".startswith(f"{needed}/") or needed.startswith(f"{root}/"):
            return None
    return root


def changed(stage: Stage, report: Mapping[str, Any], folder: Path) -> changes.Changes:
    """What the run changed, relative to its root; absolute in the real folder behind a copy."""
    if stage.contained == "overlay":
        wrote = tuple(path for path in report.get("wrote", ()) if path not in stage.instead)
        return changes.Changes(wrote, tuple(report.get("deleted", ())), report.get("untold", 0))
    written: list[str] = []
    gone: list[str] = []
    for place, before in stage.before.items():
        found = changes.between(before, changes.snapshot(place, str(folder.parent.parent)))
        prefix = "" if place == stage.root else f"{changes.readable(place)}/"
        written.extend(prefix + path for path in found.wrote)
        gone.extend(prefix + path for path in found.deleted)
    return changes.collect(written, gone)


def open_links(stage: Stage, report: Mapping[str, Any]) -> tuple[str, ...]:
    """What in the copy leads back to the real folder and could be written through."""
    if stage.copy is None or report.get("protected"):
        return ()
    return tuple(map(changes.readable, stage.copy.linked))
