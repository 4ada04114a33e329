"""What a run wrote: read from the upper layer of an overlay, or by comparing a folder before and after."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

SKIPPED = frozenset({".git", ".venv", "node_modules"})
SCAN_CAP = 200_000  # files; a larger folder is compared as far as that
LIST_CAP = 5_000  # changed paths that are named

_spelled_out = re.compile(r"\\u(dc[89a-f][0-9a-f])")  # how events carry a byte that is not UTF-8

Stamp = tuple[int, int]  # modification time in ns, size in bytes


@dataclass(frozen=True)
class Changes:
    """Paths relative to the root with forward slashes, folders end in one; `untold` more were left out."""

    wrote: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    untold: int = 0


def collect(wrote: Iterable[str], deleted: Iterable[str]) -> Changes:
    written, gone = sorted(map(readable, wrote)), sorted(map(readable, deleted))
    untold = max(0, len(written) - LIST_CAP) + max(0, len(gone) - LIST_CAP)
    return Changes(tuple(written[:LIST_CAP]), tuple(gone[:LIST_CAP]), untold)


def readable(path: str) -> str:
    """A name that survives every encoder: bytes that are not UTF-8 are spelled out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace").replace(os.sep, "/")


def in_layer(upper: str, lower: str, prefix: str = "") -> Iterator[tuple[str, bool]]:
    """(path, was deleted) for all that differs between the upper folder of an overlay and the real one."""
    for entry in _entries(upper):
        path, below = prefix + entry.name, os.path.join(lower, entry.name)
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            yield path, True
        elif entry.is_dir(follow_symlinks=False):
            inside = list(in_layer(entry.path, below, path + "/"))
            if not inside and not os.path.isdir(below):
                yield path + "/", False
            yield from inside
            if _is_opaque(entry.path):
                yield from ((f"{path}/{name}", True) for name in _missing(entry.path, below))
        elif _stamp_of(below) != _stamp(status):
            yield path, False


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # the run took our right to look, or removed it meanwhile
        return []


def _is_opaque(folder: str) -> bool:
    """Whether the folder was deleted and made anew, so that nothing from below shows through."""
    for name in ("trusted.overlay.opaque", "user.overlay.opaque"):
        try:
            return os.getxattr(folder, name) == b"y"
        except OSError:
            continue
    return False


def _missing(upper: str, lower: str) -> list[str]:
    names = {entry.name for entry in _entries(upper)}
    return [entry.name for entry in _entries(lower) if entry.name not in names]


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size


def _stamp_of(path: str) -> Stamp | None:
    try:
        return _stamp(os.lstat(path))
    except OSError:
        return None


def since(before: Mapping[str, Sequence[int] | None]) -> Changes:
    """What became of some absolute paths whose stamps, None where nothing was, are known from before."""
    now = {path: _stamp_of(_spelled_out.sub(lambda code: chr(int(code[1], 16)), path)) for path in before}
    return Changes(
        tuple(path for path, stamp in now.items() if stamp and list(stamp) != before[path]),
        tuple(path for path, stamp in now.items() if stamp is None and before[path] is not None),
    )


def snapshot(root: str, left_out: str = "") -> dict[str, Stamp]:
    """Time and size of the files below `root`; no link is followed, no `SKIPPED` or `left_out` entered."""
    stamps: dict[str, Stamp] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED and os.path.join(folder, name) != left_out]
        for name in names:
            path = os.path.join(folder, name)
            stamp = _stamp_of(path)
            if stamp is not None:
                stamps[os.path.relpath(path, root)] = stamp
            if len(stamps) >= SCAN_CAP:
                return stamps
    return stamps


def between(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> Changes:
    return collect(
        (path for path, stamp in after.items() if before.get(path) != stamp),
        (path for path in before if path not in after),
    )
