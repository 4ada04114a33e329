"""What git tracks in a repository, read from its index alone: a file may be tracked that .gitignore names.

The format: https://git-scm.com/docs/index-format. Versions 2 and 3 are read, which git writes unless it is told otherwise.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from pathlib import Path

MAX_BYTES = 50_000_000  # of an index; about 500,000 files
MAX_ADDED = 5000  # files that are tracked and ignored
_HEAD = struct.Struct(">4sII")
_FIXED = 62  # bytes before the name of an entry
_MODE, _FLAGS = 24, 60  # where they stand in it
_EXTENDED = 0x4000  # a flag: two bytes more before the name
_PLAIN_FILE = 0o100000


def tracked_beside(root: Path, listed: Collection[str]) -> list[str]:
    """Plain files that git tracks at `root` and `listed` lacks, which exist there behind no symbolic link, none hidden."""
    known = frozenset(listed)
    added: list[str] = []
    plain: dict[str, bool] = {"": True}
    for path in _tracked(root):
        if path not in known and not f"/{path}".count("/.") and _is_plain(root, path, plain):
            added.append(path)
            if len(added) == MAX_ADDED:
                break
    return added


def _is_plain(root: Path, path: str, folders: dict[str, bool]) -> bool:
    """A file at the end of plain folders. `folders` are those that were looked at."""
    folder = path.rpartition("/")[0]
    for cut in (*(place for place, one in enumerate(folder) if one == "/"), len(folder)):
        above = folder[:cut]
        if above not in folders:
            folders[above] = os.path.isdir(f"{root}/{above}") and not os.path.islink(f"{root}/{above}")
        if not folders[above]:
            return False
    return os.path.isfile(f"{root}/{path}") and not os.path.islink(f"{root}/{path}")


def _tracked(root: Path) -> Iterator[str]:
    """Paths of plain files as the index gives them; as many as can be read of one that is broken."""
    index = root / ".git" / "index"
    try:
        if index.parent.is_symlink() or index.is_symlink() or index.stat().st_size > MAX_BYTES:
            return
        read = index.read_bytes()
    except OSError:
        return
    if len(read) < _HEAD.size:
        return
    signature, version, count = _HEAD.unpack_from(read)
    if signature != b"DIRC" or version not in (2, 3):
        return
    start = _HEAD.size
    for _ in range(count):
        if start + _FIXED > len(read):
            return
        (mode,) = struct.unpack_from(">I", read, start + _MODE)
        (flags,) = struct.unpack_from(">H", read, start + _FLAGS)
        name = start + _FIXED + (2 if flags & _EXTENDED else 0)
        end = read.find(b"\0", name)
        if end < 0:
            return
        path = read[name:end].decode("utf-8", "replace")
        if mode & 0o170000 == _PLAIN_FILE and not path.startswith("/") and ".." not in path.split("/"):
            yield path
        start += (end - start) // 8 * 8 + 8  # one to eight bytes of padding
