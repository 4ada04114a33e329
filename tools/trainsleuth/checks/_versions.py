"""Which torch, or Lightning, a program was written for, as the texts beside it name one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index, names_packages

_TORCH = r"\b(?:py)?torch(?![a-z_]|-[a-z])[^\d\n,;/]{0,12}"
_LIGHTNING = r"\b(?:pytorch[-_ ])?lightning(?![a-z_]|-[a-z])[^\d\n,;/]{0,12}"
_VERSIONS = {_TORCH: r"(?:0\.[1-4]|[12]\.\d)", _LIGHTNING: r"[0-2]\.\d"}
_ELSEWHERE = re.compile(r"req(?:s|uir)[^/]*$|(?:^|/)Dockerfile[^/]*$", re.IGNORECASE)


def names_torch(index: Index, path: str, versions: str) -> str | None:
    """What names one of `versions` (a pattern: "0.[1-4]") for the code at `path`; "" where only others are named, None where
    no version is.
    """
    return _names(index, path, _TORCH, versions)


def names_lightning(index: Index, path: str, versions: str) -> str | None:
    """The same of Lightning."""
    return _names(index, path, _LIGHTNING, versions)


def _names(index: Index, path: str, package: str, versions: str) -> str | None:
    wanted = re.compile(package + rf"(?:{versions.replace('.', chr(92) + '.')})\b", re.IGNORECASE)
    above = {file: index.repository.read(file) or "" for file in _files_that_say_which(index, path)}
    is_named = any(re.search(package + _VERSIONS[package], text, re.IGNORECASE) for text in above.values())
    others = (
        ()
        if is_named
        else (file for file in index.repository.files if _ELSEWHERE.search(file) and names_packages(file))
    )
    for file, text in (*above.items(), *((file, index.repository.read(file) or "") for file in others)):
        if found := wanted.search(text):
            return f"{file} names {found.group(0)}"
    return "" if is_named else None  # what is to be installed elsewhere says nothing against it


def _files_that_say_which(index: Index, path: str) -> Iterator[str]:
    """README, requirements and the like, in the folders above `path`."""
    folders = path.split("/")[:-1]
    above = {"/".join(folders[:depth]) for depth in range(len(folders) + 1)}
    for file in sorted(index.repository.files):
        folder, _, name = file.rpartition("/")
        if folder in above and names_packages(name):
            yield file
