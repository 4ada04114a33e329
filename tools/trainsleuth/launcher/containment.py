"""A copy of the user's folder, for machines that have no overlay."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field

from trainsleuth.launcher.changes import SKIPPED, readable

FILE_BYTES = 1_000_000  # larger ones are data or weights: cloned where that costs nothing, else linked
FOLDER_ENTRIES = 2_000  # a folder with more is data: linked as a whole
TOTAL_BYTES = 200_000_000
TOTAL_FILES = 20_000
FICLONE = 0x40049409


class CopyError(Exception):
    """The folder is too large or cannot be read; the message says which limit and what was met."""


@dataclass
class Copy:
    """A copy of `root` at `place`. `linked` are the places in it that lead back to the real folder."""

    root: str
    place: str
    left_out: str = ""
    linked: list[str] = field(default_factory=list)
    files: int = 0
    size: int = 0

    def inside(self, path: str) -> str:
        """Where `path` lies in the copy; outside the root, and behind a link, it stays what it is."""
        relative = os.path.relpath(path, self.root)
        if relative == ".":
            return self.place
        if relative.startswith("..") or self.is_linked(relative):
            return path
        return os.path.join(self.place, relative)

    def is_linked(self, relative: str) -> bool:
        return any(relative == link or relative.startswith(link + "/") for link in self.linked)

    def translate(self, word: str) -> str:
        """A command line word, with each absolute path into the root turned into one into the copy."""
        start = word.find(self.root)
        if start < 0 or (start > 0 and word[start - 1] not in "=:,'\"[ "):
            return word
        end = start + len(self.root)
        if word[end : end + 1] not in ("", "/", ":", ",", "'", '"', "]", " "):
            return word
        rest = word[end:]
        if self.is_linked(rest.lstrip("/")):
            return word
        return word[:start] + self.place + rest


def copy_folder(root: str, place: str, left_out: str = "") -> Copy:
    """Copy small files, clone or link large ones, link `SKIPPED` and very full folders. Raises CopyError.

    The folder `left_out`, an absolute path, is not in the copy at all.
    """
    copy = Copy(root, place, left_out)
    try:
        _copy_into(copy, root, place, "")
    except OSError as error:
        raise CopyError(f"{readable(str(error.filename or root))} cannot be copied: {error.strerror}") from error
    return copy


def _copy_into(copy: Copy, source: str, target: str, prefix: str) -> None:
    os.mkdir(target, 0o700)
    with os.scandir(source) as entries:
        for entry in entries:
            relative, there = prefix + entry.name, os.path.join(target, entry.name)
            if entry.is_symlink():
                os.symlink(_same_destination(copy, entry.path), there)
            elif entry.path == copy.left_out:
                continue
            elif entry.is_dir():
                if entry.name in SKIPPED or _is_full(entry.path):
                    _link(copy, entry.path, there, relative)
                else:
                    _copy_into(copy, entry.path, there, relative + "/")
            elif entry.is_file():
                _copy_file(copy, entry, there, relative)
    shutil.copystat(source, target, follow_symlinks=False)
    os.chmod(target, os.stat(target).st_mode | 0o700)


def _copy_file(copy: Copy, entry: os.DirEntry[str], there: str, relative: str) -> None:
    size = entry.stat().st_size
    if size >= FILE_BYTES:
        if not _clone(entry.path, there):
            _link(copy, entry.path, there, relative)
        return
    copy.files += 1
    copy.size += size
    if copy.files > TOTAL_FILES or copy.size > TOTAL_BYTES:
        raise CopyError(
            f"{copy.root} holds more than {TOTAL_FILES:,} small files or {TOTAL_BYTES / 1e6:.0f} MB in them"
        )
    with suppress(PermissionError):  # a file that the program cannot read either
        shutil.copy2(entry.path, there)


def _clone(source: str, target: str) -> bool:
    """Share the blocks of a large file until one side is written to, on file systems that can."""
    with open(source, "rb") as old, open(target, "wb") as new:
        try:
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
        except OSError:
            os.unlink(target)
            return False
    shutil.copystat(source, target)
    return True


def _link(copy: Copy, source: str, target: str, relative: str) -> None:
    os.symlink(source, target)
    copy.linked.append(relative)


def _same_destination(copy: Copy, link: str) -> str:
    """The text of a link: relative ones into the root stay, others become absolute."""
    text = os.readlink(link)
    destination = os.path.normpath(os.path.join(os.path.dirname(link), text))
    within = destination == copy.root or destination.startswith(copy.root + "/")
    if within:
        return text if not os.path.isabs(text) else copy.inside(destination)
    return destination


def _is_full(folder: str) -> bool:
    with os.scandir(folder) as entries:
        return sum(1 for _ in zip(entries, range(FOLDER_ENTRIES + 1), strict=False)) > FOLDER_ENTRIES
