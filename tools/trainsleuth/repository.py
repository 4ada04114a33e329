"""The files of the user's repository: list, read and search, within limits; each one left out is named."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import python_ripgrep

from trainsleuth.installed import builds, environments
from trainsleuth.tracked import tracked_beside

NOTEBOOK = ".ipynb"
SOURCE_SUFFIXES = (".py", NOTEBOOK)
CONFIG_SUFFIXES = (".yaml", ".yml", ".json")
PLAIN_SUFFIXES = (".toml", ".ini", ".conf", ".cfg", ".gin", ".txt")  # of settings where they lie in a folder of such
NOTES_FILE = "trainsleuth-notes.md"  # written by us: never listed, so that no answer is about itself
BASELINE = re.compile(r'\{\s*"version": \d+,\s*"findings": \[')  # how one that `accepted` wrote begins: no settings
MAX_BYTES = 1_000_000  # of one source file; the longest hand-written modules have about 300 kB
MAX_CONFIG_BYTES = 200_000
MAX_NOTEBOOK_BYTES = 20_000_000  # pictures in outputs; only the code cells are kept
MAX_FILES = 20_000
MAX_SCRIPTS = 2_000  # files without an ending whose first line is looked at
MAX_TOTAL_BYTES = 200_000_000
IN_PART = "read in part: "  # begins the reason why of a file that was read not all was
_PYTHON = re.compile(rb"#![^\n]*\bpython")
_CONFIG_FOLDER = re.compile(r"(?:^|[/_-])(?:config(?:s|ure|urations?)?|cfgs?|confs?|settings|recipes|hparams)/", re.I)
_OF_TOOLS = (
    "pyproject.toml",
    "Cargo.toml",
    "Pipfile.toml",
    "ruff.toml",
    ".ruff.toml",
    "pixi.toml",
    "netlify.toml",
    "poetry.toml",
    "uv.toml",
    "black.toml",
    "rustfmt.toml",
    "rust-toolchain.toml",
    "taplo.toml",
    "typos.toml",
    "_typos.toml",
    "cliff.toml",
    "fly.toml",
    "cog.toml",
)
_FIELD = "\x1f"  # between path, line and text in ripgrep's output: no file name has it


class RepositoryError(Exception):
    """The given root cannot be worked with; the message says why and what to give instead."""


@dataclass(frozen=True)
class Skipped:
    """A file that was left out, or was read in part, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Hit:
    path: str
    line: int
    text: str


class Seen(NamedTuple):
    """What was seen of a repository: its list of files, and each file that was read, as digests."""

    listing: bytes
    files: tuple[tuple[str, bytes], ...]


@dataclass
class _Amount:
    """Bytes that were read so far, of a repository and its parts."""

    read: int = 0


class Repository:
    """A folder (or one file) of source. Paths are relative to `root`, with forward slashes.

    .gitignore is honoured as git does, for files that are not tracked; hidden files are left out, and no symbolic link
    is followed: what it points to inside the root is read at its own place (`behind_links`). `skipped` grows as files are listed and read.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        given = Path(root).expanduser()
        if not given.exists():
            raise RepositoryError(f"{given} does not exist; give the folder that holds the training code")
        if not os.access(given, os.R_OK):
            raise RepositoryError(f"{given} cannot be read by this user")
        resolved = given.resolve()
        self.root = resolved if resolved.is_dir() else resolved.parent
        self._only = None if resolved.is_dir() else resolved.name
        self._skipped: dict[str, str] = {}
        self._amount = _Amount()
        self._digests: dict[str, bytes] = {}
        self._odd: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._ignored: list[str] = []  # tracked all the same

    def part(self, files: Iterable[str]) -> Repository:
        """The same root with `files` alone. What is read or left out of them is known here too."""
        one = copy(self)
        for cached in ("scripts", "_listing"):
            one.__dict__.pop(cached, None)
        one.__dict__["files"] = tuple(files)
        return one

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        self.files  # noqa: B018 listing finds most of them
        return tuple(Skipped(path, reason) for path, reason in sorted(self._skipped.items()))

    def skip(self, path: str, reason: str) -> None:
        self._skipped.setdefault(path, reason)

    def leave_out(self, paths: Collection[str], why: str) -> None:
        """Tells of all of them at the first."""
        if paths:
            others = f"and {len(paths) - 1} more: " if len(paths) > 1 else ""
            self.skip(min(paths), f"{others}left out, {why}")

    @cached_property
    def files(self) -> tuple[str, ...]:
        """All files that are not ignored, sorted; at most MAX_FILES of the kinds that are parsed, source before settings,
        and what lies nearest to the root first.
        """
        if self._only is not None:
            return (self._only,)
        start = str(self.root).rstrip("/") + "/"
        listed = python_ripgrep.files(patterns=[""], paths=[str(self.root)])
        relative = [path.replace(os.sep, "/").removeprefix(start) for path in listed]
        self._ignored = tracked_beside(self.root, relative)
        paths = sorted(path for path in (*relative, *self._ignored) if path != NOTES_FILE)
        for folder in environments(paths):
            self.skip(folder, "an environment of Python: what is installed is no part of the project")
            paths = [path for path in paths if not is_under(path, folder)]
        for folder in builds(paths):
            self.skip(folder, "what a build left behind: a copy of the package")
            paths = [path for path in paths if not is_under(path, folder)]
        for path, reason, target in _odd_entries(self.root, paths):
            self._odd[path] = reason
            self.skip(path, reason)
            if target:
                self._links[path] = target
        near = sorted(paths, key=lambda path: path.count("/"))
        parsed = [path for ends in (SOURCE_SUFFIXES, CONFIG_SUFFIXES) for path in near if path.endswith(ends)]
        dropped = set(parsed[MAX_FILES:])
        self.leave_out(dropped, f"there are more than {MAX_FILES} files of code and settings; narrow the root")
        return tuple(path for path in paths if path not in dropped)

    @cached_property
    def scripts(self) -> tuple[str, ...]:
        """Python programs without the ending .py, told by their first line."""
        plain = [path for path in self.files if has_no_ending(path)]
        return tuple(path for path in plain[:MAX_SCRIPTS] if _PYTHON.match(self._first_bytes(path)))

    def sources(self, under: Iterable[str] = ()) -> tuple[str, ...]:
        """Python files, scripts and notebooks that are, or lie in, one of `under`."""
        return tuple(sorted((*self.select(SOURCE_SUFFIXES, under), *self._below(self.scripts, under))))

    def _first_bytes(self, path: str) -> bytes:
        try:
            with open(f"{self.root}/{path}", "rb", buffering=0) as file:
                return file.read(100)
        except OSError:
            return b""

    def select(self, suffixes: tuple[str, ...], under: Iterable[str] = ()) -> tuple[str, ...]:
        """Files that end in one of `suffixes` and are, or lie in, one of `under` (files, folders)."""
        return self._below((path for path in self.files if path.endswith(suffixes)), under)

    def _below(self, paths: Iterable[str], under: Iterable[str]) -> tuple[str, ...]:
        scopes = [self.relative(scope) for scope in under]
        return tuple(path for path in paths if not scopes or any(is_under(path, scope) for scope in scopes))

    def behind_links(self, path: str) -> str:
        """Where the listed file or folder lies that `path` names through links inside the root; else `path` as it is."""
        plain = path.removeprefix("./")
        try:
            place = (self.root / plain).resolve(strict=True).relative_to(self.root).as_posix()
        except (OSError, RuntimeError, ValueError):
            return path
        return place if place != plain and any(is_under(one, place) for one in self.files) else path

    @property
    def links(self) -> Mapping[str, str]:
        """Where links beside the listed files lead, a file or folder inside the root."""
        self.files  # noqa: B018
        return self._links

    def relative(self, path: str | os.PathLike[str]) -> str:
        """`path` from the root, where a relative one starts. Raises RepositoryError outside of it."""
        full = Path(os.path.normpath(self.root / path))
        try:
            return full.relative_to(self.root).as_posix()
        except ValueError:
            pass
        try:
            return full.resolve().relative_to(self.root).as_posix()
        except ValueError:
            raise RepositoryError(f"{path} is not inside {self.root}; give a path below the root") from None

    def read(self, path: str) -> str | None:
        """Text of a file, or None when it was left out; then `skipped` says why."""
        raw = self._raw(path)
        return self._decode(path, raw) if raw is not None else None

    def _raw(self, path: str) -> bytes | None:
        try:
            with open(f"{self.root}/{path}", "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                reason = self._too_much(path, size)
                raw = file.read() if not reason else b""
        except OSError as error:
            reason = f"unreadable: {error.strerror or type(error).__name__}"
        if reason:
            self.skip(path, reason)
            self._digests[path] = reason.encode()
            return None
        if path not in self._digests:
            self._amount.read += len(raw)
        self._digests[path] = hashlib.blake2b(raw, digest_size=20).digest()
        return raw

    def _too_much(self, path: str, size: int) -> str:
        limit = _limit(path)
        if size > limit:
            return f"too large: {size:,} bytes, the limit is {limit:,}"
        if path not in self._digests and self._amount.read + size > MAX_TOTAL_BYTES:
            return f"more than {MAX_TOTAL_BYTES:,} bytes in all: narrow the root"
        return ""

    def digest(self, path: str) -> bytes:
        """Of the content of a file that was read."""
        return self._digests[path]

    def seen(self) -> Seen:
        """Everything that was looked at so far."""
        self.files  # noqa: B018
        return Seen(self._listing, tuple(self._digests.items()))

    def is_as_seen(self, seen: Seen) -> bool:
        """The list of files, and the content of those that were read then, are the same now."""
        self.files  # noqa: B018
        if seen.listing != self._listing:
            return False
        for path, known in seen.files:
            self._raw(path)
            if self._digests[path] != known:
                return False
        return True

    @cached_property
    def _listing(self) -> bytes:
        """Digest of all names, of which of them are scripts, and of what is left out by name."""
        odd = (f"{path}\0{why}" for path, why in sorted(self._odd.items()))
        names = "\0".join((*self.files, "", *self.scripts, "", *odd))
        return hashlib.blake2b(names.encode("utf-8", "backslashreplace"), digest_size=20).digest()

    def _decode(self, path: str, raw: bytes) -> str | None:
        if b"\x00" in raw[:8192]:
            self.skip(path, "binary: it holds zero bytes")
            return None
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            self.skip(path, f"{IN_PART}not UTF-8 at line {line}, such bytes were replaced")
            text = raw.decode("utf-8", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", " ")

    def search(self, pattern: str, globs: Iterable[str] = (), limit: int = 1000) -> list[Hit]:
        """Lines of `files` that match the regular expression `pattern` (Rust syntax), by path and line, at most `limit`.

        Raises RepositoryError when the pattern is not a regular expression.
        """
        where = str(self.root / self._only) if self._only else str(self.root)
        listed = frozenset(self.files)  # a glob that names a hidden or an ignored file lets ripgrep read it
        try:
            found = python_ripgrep.search(
                patterns=[pattern],
                paths=[where, *(f"{where}/{path}" for path in self._ignored if path in listed)],
                globs=list(globs) or None,
                heading=False,
                line_number=True,
                separator_field_match=_FIELD,
            )
        except ValueError as error:
            raise RepositoryError(f"{pattern!r} is not a regular expression: {error}") from error
        hits = (hit for block in found for line in block.splitlines() for hit in self._hit(line, where))
        return sorted((hit for hit in hits if hit.path in listed), key=lambda hit: (hit.path, hit.line))[:limit]

    def _hit(self, line: str, where: str) -> Iterator[Hit]:
        fields = line.split(_FIELD, 2)
        if self._only and len(fields) == 2:
            fields = [where, *fields]
        if len(fields) == 3 and fields[1].isdigit():
            path = self._only or fields[0].removeprefix(where.rstrip("/")).lstrip("/")
            yield Hit(path.replace(os.sep, "/"), int(fields[1]), fields[2])


def is_python(path: str) -> bool:
    """Of a source file: it is Python, and no notebook. A script has no ending."""
    return path.endswith(".py") or has_no_ending(path)


def is_source(path: str) -> bool:
    """Of a file that has facts: it is code, and no document that quotes some."""
    return is_python(path) or is_notebook(path)


def is_notebook(path: str) -> bool:
    return path.endswith(NOTEBOOK)


def is_plain_config(path: str) -> bool:
    """Settings of a program, and none of a tool: any TOML, other forms in a folder of settings."""
    is_toml = path.endswith(".toml") and path.rpartition("/")[2] not in _OF_TOOLS
    return is_toml or (path.endswith(PLAIN_SUFFIXES) and _CONFIG_FOLDER.search(path) is not None)


def has_no_ending(path: str) -> bool:
    return "." not in path.rpartition("/")[2]


def examined(sources: Iterable[str], skipped: Mapping[str, str]) -> tuple[str, ...]:
    """Those of `sources` that were read, if only in part; `skipped` has the reason of each that was not read whole."""
    return tuple(path for path in sources if skipped.get(path, IN_PART).startswith(IN_PART))


def missing_line(file: Path, line: int | None) -> str:
    """Why `file`, which exists, has no such line; "" when it has, or none is asked for. Raises OSError."""
    if line is None:
        return ""
    if file.is_dir():
        return "it is a folder"
    with file.open("rb") as content:
        number = sum(1 for _ in content)
    return "" if 1 <= line <= number else f"it has {number} lines"


def is_under(path: str, scope: str) -> bool:
    return scope == "." or path == scope or path.startswith(scope.rstrip("/") + "/")


def _limit(path: str) -> int:
    if is_notebook(path):
        return MAX_NOTEBOOK_BYTES
    return MAX_CONFIG_BYTES if path.endswith(CONFIG_SUFFIXES + PLAIN_SUFFIXES) else MAX_BYTES


def _odd_entries(root: Path, listed: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """(path, reason, where it leads inside the root) of links and odd names next to the listed files: ripgrep drops them
    unsaid.
    """
    start = str(root)
    for folder in sorted(_folders(listed)):
        try:
            entries = list(os.scandir(f"{start}/{folder}" if folder else start))
        except OSError as error:
            yield folder or ".", f"unreadable: {error.strerror}", ""
            continue
        for entry in entries:
            is_link = entry.is_symlink() and not entry.name.startswith(".")
            if not is_link and entry.name.isascii():
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if any("\udc80" <= letter <= "\udfff" for letter in entry.name):
                yield path.encode("utf-8", "backslashreplace").decode(), "its name is not UTF-8", ""
            elif is_link:
                yield path, *_link(root, entry)


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder that one of `paths` lies in; "" is the root."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _link(root: Path, entry: os.DirEntry[str]) -> tuple[str, str]:
    """Why it is not followed, and where it leads inside the root."""
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):
        return "a symbolic link that leads nowhere", ""
    if not target.is_relative_to(root):
        return "a symbolic link out of the root", ""
    if Path(entry.path).parent.is_relative_to(target):
        return "a symbolic link back to a folder above it: a loop", ""
    place = target.relative_to(root).as_posix()
    return f"a symbolic link; its target {place} is read at its own place", place
