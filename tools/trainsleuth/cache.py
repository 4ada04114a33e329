"""What was worked out before, kept outside of the user's repository: bytes by key, in one SQLite file.

The folder is $TRAINSLEUTH_CACHE ("off": none), else the cache folder of the user. Nothing depends on it: a damaged file
is begun anew, and where it cannot be written all goes on without, and says so once.
Values are data: whoever stores some decodes them against a type, so a forged one is at worst a wrong answer.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

OFF = "off"
MAX_BYTES = 500_000_000  # of all that is kept; the oldest go first
_BATCH = 500  # keys of one question; SQLite takes 999
_SCHEMA = "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, size INTEGER, at INTEGER, value BLOB NOT NULL)"
_SIZES = ("page_count", "freelist_count", "page_size")
_log = logging.getLogger(__name__)


class Cache:
    """Keys are digests. Several processes may read and write at the same time."""

    def __init__(self, folder: Path | None, max_bytes: int = MAX_BYTES) -> None:
        self._file = folder / "kept.sqlite" if folder is not None else None
        self._max_bytes = max_bytes

    @property
    def is_off(self) -> bool:
        """Nothing is ever kept: what would be put need not be made."""
        return self._file is None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Values of those `keys` that are there."""
        asked = list(keys)
        found: dict[bytes, bytes] = {}
        with self._open() as store:
            for start in range(0, len(asked) if store is not None else 0, _BATCH):
                part = asked[start : start + _BATCH]
                marks = ",".join("?" * len(part))
                assert store is not None
                found.update(store.execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", part))
        return {key: value for key, value in found.items() if isinstance(value, bytes)}

    def put(self, values: Mapping[bytes, bytes]) -> None:
        now = int(time.time())
        with self._open() as store:
            if store is not None and values:
                rows = ((key, value, len(value), now) for key, value in values.items())
                store.executemany("INSERT OR REPLACE INTO kept (key, value, size, at) VALUES (?, ?, ?, ?)", rows)
                self._make_room(store)

    def _make_room(self, store: sqlite3.Connection) -> None:
        """By pages in use: a sum over the rows would walk through the whole file, and others wait meanwhile."""
        pages, unused, size = (store.execute(f"PRAGMA {one}").fetchone()[0] for one in _SIZES)
        total = (pages - unused) * size
        if total <= self._max_bytes:
            return
        spare = total - self._max_bytes // 2
        for key, size in store.execute("SELECT key, size FROM kept ORDER BY at, rowid").fetchall():
            store.execute("DELETE FROM kept WHERE key = ?", (key,))
            spare -= size
            if spare <= 0:
                break

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """A connection whose work is kept when nothing fails; None when there is no cache to be had."""
        if self._file is None:
            yield None
            return
        store = None
        try:
            self._file.parent.mkdir(0o700, parents=True, exist_ok=True)
            store = sqlite3.connect(self._file, timeout=5, isolation_level="IMMEDIATE")
            store.execute("PRAGMA trusted_schema = OFF")
            store.execute("PRAGMA synchronous = OFF")  # a torn file is noticed, and begun anew
            store.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            self._failed(store, error)
            store = None
        try:
            yield store
            if store is not None:
                store.commit()
        except sqlite3.Error as error:
            self._failed(store, error)
            store = None
        finally:
            if store is not None:
                store.close()

    def _failed(self, store: sqlite3.Connection | None, error: Exception) -> None:
        if store is not None:
            store.close()
        assert self._file is not None
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            self._file.unlink(missing_ok=True)  # not a database, or a damaged one
        else:
            _say_once(f"the cache at {self._file.parent} cannot be used ({error}); working without it")


@functools.cache
def _say_once(text: str) -> None:
    _log.warning(text)


def open_cache() -> Cache:
    """The cache that the environment asks for."""
    given = os.environ.get("TRAINSLEUTH_CACHE", "")
    if given == OFF:
        return Cache(None)
    return Cache(Path(given).expanduser() if given else user_cache_path("trainsleuth", appauthor=False))


def digest(*parts: bytes) -> bytes:
    """One key of several parts; where one ends counts."""
    made = hashlib.blake2b(digest_size=20)
    for part in parts:
        made.update(len(part).to_bytes(8, "big"))
        made.update(part)
    return made.digest()


@functools.cache
def code_digest() -> bytes:
    """Changes with the code of this package, of its parser and of the interpreter: what others kept is never read.

    By sizes and times: reading four hundred files would cost each process six times as much.
    """
    root = Path(__file__).parent
    folders = [root, *filter(Path.is_dir, (root / part for part in _MAKERS))]
    own = (stamp for folder in folders for stamp in _stamps(folder, folder != root))
    parsers = [find_spec(name) for name in ("tree_sitter", "tree_sitter_python", "yaml")]
    installed = [f"{spec.origin} {os.stat(spec.origin).st_mtime_ns}" for spec in parsers if spec and spec.origin]
    return digest("\n".join((sys.version, *installed, *sorted(own))).encode())


def _stamps(folder: str | Path, is_deep: bool) -> Iterator[str]:
    """Name, size and times of each source; the time of its entry as well, for installers may set that of its content."""
    for entry in os.scandir(folder):
        if is_deep and entry.is_dir():
            yield from _stamps(entry.path, is_deep)
        elif entry.name.endswith((".py", ".json", ".yaml")):
            stat = entry.stat()
            yield f"{entry.path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"


_MAKERS = ("facts", "map", "checks")  # what answers are made by, besides the modules beside this one
