"""The package that a training command of a library is told to load: fairseq-train DATA --user-dir ./own."""

from __future__ import annotations

import re

from trainsleuth.facts import Index

from .launch_targets import script_of
from .registering import registering_file

LOADS = re.compile(
    r"(?:^|\s)(?:--|[\w.]*\.)(?:user[-_]dir|include[-_]packages?|plugins?)(?:\s*=\s*|\s+)[\"']?([^\s\"')]+)"
)
_LOADS_SOME = re.compile(r"user[-_]dir|include[-_]package|plugin")  # begins with letters, which a search skips to
_TRAINS = re.compile(r"(?:^|[\s/(_-])(?:pre)?train(?:_model)?(?:\.py)?(?=[\s)]|$)")


def loads_package(text: str) -> bool:
    """It trains, and is told what to load."""
    match = LOADS.search(text) if _LOADS_SOME.search(text) is not None else None
    return match is not None and _TRAINS.search(text[: match.start()]) is not None


def starts_library(index: Index, text: str) -> bool:
    """A library's own program that trains what the project gives it."""
    return loads_package(text) or registering_file(index, "", text) is not None


def started_of_library(index: Index, text: str, path: str) -> bool:
    """`path` is what a library's own program, started so, loads or finds."""
    if path.endswith("/__init__.py"):
        return loads_package(text)
    return registering_file(index, "", text) == path


def package_in(index: Index, folder: str, text: str, scope: str | None = None) -> str | None:
    """The file of the package that a training command of a library is told to load; one of the `scope` first.

    Where that is the folder in which the command is given, the only package above all others; where none is named, the
    file that registers a task with the library.
    """
    match = LOADS.search(text) if loads_package(text) else None
    if match is None:
        return registering_file(index, folder, text)
    within = f"{scope.rstrip('/')}/__init__.py" if scope is not None else ""
    if _HERE.match(match[1]):
        tops = [within] if within in index.files else [one for one in index.files if _TOP.fullmatch(one)]
        return tops[0] if len(tops) == 1 else None
    plain = match[1].rstrip("/")
    written = f"{plain if '/' in plain else plain.replace('.', '/')}/__init__.py"
    tail = re.sub(r"^(?:\$\{?\w+\}?/|\./|\.\./)+", "", written)
    if within in index.files and f"/{within}".endswith(f"/{tail}"):
        return within
    return script_of(index, folder, written)


_HERE = re.compile(r"`pwd`|\$\(?pwd\b|\$\{?PWD\b|\.$", re.I)
_TOP = re.compile(r"[^/]+/__init__\.py")
