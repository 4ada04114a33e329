"""A file that is only ever added to: atomic, and never through a link that leaves its folder."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from trainsleuth.notes.lock import NotesError

MAX_FILE = 64 * 2**20  # bytes; a notes file of that size is no longer for reading
_TRIES = 5  # a person may save the same file while we write


def resolved(path: Path, root: Path) -> Path:
    """Where `path` really lies; NotesError when that is outside of `root` or not a plain file."""
    try:
        target, top = path.resolve(strict=False), root.resolve(strict=False)
        plain = _is_plain(target)
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that cannot be one
        raise NotesError(f"{path} cannot be followed ({error}); name another file") from error
    if not target.is_relative_to(top):
        raise NotesError(f"{path} leads to {target}, outside of {root}; remove the link or name another file")
    if not plain:
        raise NotesError(f"{path} is not a plain file; name another one")
    return target


def _is_plain(target: Path) -> bool:
    """A file, or nothing yet. It is looked at once: another writer may make it between two looks."""
    try:
        return stat.S_ISREG(target.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True


def tail(path: Path, limit: int) -> tuple[bytes, int]:
    """The last `limit` bytes from the start of a line on, and how many bytes before them were left out."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - limit)
            file.seek(start)
            content = file.read(limit)
    except (FileNotFoundError, NotADirectoryError):
        return b"", 0
    except OSError as error:
        raise NotesError(f"{path} cannot be read: {error.strerror}") from error
    if start:
        cut = content.find(b"\n") + 1
        return content[cut:], start + cut
    return content, 0


def extend(path: Path, addition: Callable[[], bytes]) -> None:
    """Add what `addition` returns (asked again when the file changed meanwhile) at the end of the file.

    Call it under `locked`. What is there stays byte for byte; a reader sees the old file or the new.
    """
    for _ in range(_TRIES):
        before = _state(path)
        added = addition()
        if not added or _replaced(path, before, added):
            return
    raise NotesError(f"{path} keeps changing while it is written; close the editor and try again")


def _replaced(path: Path, before: os.stat_result | None, added: bytes) -> bool:
    if before is not None and before.st_size > MAX_FILE:
        raise NotesError(f"{path} is larger than {MAX_FILE // 2**20} MB; move it away and start a new one")
    if before is not None and not os.access(path, os.W_OK):
        raise NotesError(f"{path} is read-only; make it writable or name another file")
    name = path.with_name(f".{path.name}.tmp")
    try:
        name.unlink(missing_ok=True)  # left over by a writer that was killed: we hold the lock
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise NotesError(f"{path} cannot be written: {error.strerror}; name another folder") from error
    try:
        with os.fdopen(handle, "wb") as file:
            _fill(file, path if before else None, added)
            if before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        if not _same(before, _state(path)):
            return False
        os.replace(name, path)
        _sync(path.parent)
        return True
    except OSError as error:
        raise NotesError(f"{path} cannot be written: {error.strerror}; nothing was changed") from error
    finally:
        name.unlink(missing_ok=True)


def _fill(file: BinaryIO, old: Path | None, added: bytes) -> None:
    if old is not None:
        with old.open("rb") as source:
            shutil.copyfileobj(source, file)
    file.write(added)
    file.flush()
    os.fsync(file.fileno())


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotesError(f"{path} cannot be looked at: {error.strerror}; name another file") from error


def _same(one: os.stat_result | None, two: os.stat_result | None) -> bool:
    if one is None or two is None:
        return one is two
    return (one.st_ino, one.st_size, one.st_mtime_ns) == (two.st_ino, two.st_size, two.st_mtime_ns)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
