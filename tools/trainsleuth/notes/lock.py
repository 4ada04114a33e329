"""One writer at a time, with the lock outside of the user's repository."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

LOCK_SECONDS = 20.0


class NotesError(Exception):
    """The notes could not be read or written; the message says where, why and what to do next."""


def home_folder() -> Path:
    """Where locks and runs lie, outside of every repository: $TRAINSLEUTH_HOME, else the user's cache."""
    named = os.environ.get("TRAINSLEUTH_HOME")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainsleuth"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with the file among all trainsleuth processes of this user on this machine."""
    lock = FileLock(_lock_folder() / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.lock")
    try:
        lock.acquire(timeout=LOCK_SECONDS)
    except Timeout as error:
        raise NotesError(f"{path} is held by another process for {LOCK_SECONDS:.0f} s; retry") from error
    except OSError as error:
        raise NotesError(f"no lock at {lock.lock_file}: {error.strerror}; set TRAINSLEUTH_HOME") from error
    try:
        yield
    finally:
        lock.release()


def _lock_folder() -> Path:
    """In the home folder; in the temporary one where a sandbox leaves no home to write to."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    tried = []
    for root in (home_folder, lambda: Path(tempfile.gettempdir()) / f"trainsleuth-{user}"):
        try:
            folder = root() / "locks"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: no home at all
            tried.append(str(error))
            continue
        if os.access(folder, os.W_OK):
            return folder
        tried.append(f"{folder} is read-only")
    raise NotesError(f"no folder for locks ({'; '.join(tried)}); set TRAINSLEUTH_HOME to a folder")
