"""Which files a repository's latest commits changed, read from git's objects alone.

A repository's own git settings may name programs that git would run, so they are never read: git works in an empty
folder of ours and sees nothing but the objects. What lies outside the root (linked work trees, borrowed objects) is
not followed.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MAX_COMMITS = 300
MAX_SECONDS = 5
MAX_BYTES = 10_000_000  # of names; about 150,000 changes
_COMMIT = "\x01"  # begins each commit in git's output: no file name has it
_SHA1 = re.compile(r"[0-9a-f]{40}")
_BRANCH = re.compile(r"refs/[\w.+@-]+(?:/[\w.+@-]+)*")


@dataclass(frozen=True)
class History:
    """How many of the latest `commits` (at most MAX_COMMITS, merges left out) changed each file, by path."""

    commits: int
    changes: Mapping[str, int]


def head_of(root: Path) -> str | None:
    """The commit that is checked out at `root`, or None when `root` has no plain git folder of its own."""
    folder = root / ".git"
    if folder.is_symlink() or not folder.is_dir():
        return None
    head = _text(folder / "HEAD")
    if head.startswith("ref: "):
        head = _commit_of(folder, head[5:])
    return head if _SHA1.fullmatch(head) else None


def read_history(root: Path) -> History | None:
    """None without history: no git folder, no git on this machine, borrowed objects, or git took over MAX_SECONDS."""
    commit = head_of(root)
    objects = root / ".git" / "objects"
    borrowed = objects / "info" / "alternates"
    if commit is None or objects.is_symlink() or not objects.is_dir() or os.path.lexists(borrowed):
        return None
    with tempfile.TemporaryDirectory(prefix="trainsleuth-") as own:
        (Path(own) / "objects").mkdir()
        (Path(own) / "refs").mkdir()
        (Path(own) / "HEAD").write_text("ref: refs/heads/none\n")
        cuts = _text(root / ".git" / "shallow").splitlines()
        (Path(own) / "shallow").write_text("".join(f"{cut}\n" for cut in cuts))
        told = _log(commit, own, objects)
    if told is None:
        return None
    commits = told.decode("utf-8", "replace").split(_COMMIT)[1:]
    changes = Counter(path for one in commits for path in dict.fromkeys(one.strip("\0\n").split("\0")) if path)
    return History(len(commits), changes)


def _commit_of(folder: Path, name: str) -> str:
    if not _BRANCH.fullmatch(name) or ".." in name:
        return ""
    loose = _text(folder / name)
    if loose:
        return loose
    packed = (line.split(" ") for line in _text(folder / "packed-refs").splitlines())
    return next((words[0] for words in packed if words[1:] == [name]), "")


def _text(path: Path) -> str:
    """A small file inside the git folder; "" for none, and for one that links elsewhere."""
    with suppress(OSError, ValueError):
        git = next(parent for parent in path.parents if parent.name == ".git")
        if path.resolve().is_relative_to(git.resolve()) and path.stat().st_size < MAX_BYTES:
            return path.read_text("utf-8", "replace").strip()
    return ""


def _log(commit: str, own: str, objects: Path) -> bytes | None:
    command = ["git", "log", f"--max-count={MAX_COMMITS}", "--no-merges", "--name-only", "--no-renames", "-z"]
    surroundings = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": own,
        "GIT_DIR": own,
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        process = subprocess.Popen(
            [*command, "--format=%x01", commit],
            cwd=own,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None  # no git on this machine
    assert process.stdout is not None
    with process, _killed_after(process, MAX_SECONDS):
        told = process.stdout.read(MAX_BYTES)
        whole = len(told) < MAX_BYTES
        if not whole:
            process.kill()
    return told if whole and process.returncode == 0 else None


@contextmanager
def _killed_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        process.wait()
        timer.cancel()
