"""Classes that are called as a setting says: --model er means the class Er, or the one in er.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from trainsleuth.facts import Class

NO_NAMES = frozenset({"true", "false", "none", "null", "train", "model", "data", "base", "default", "python", "main", "run", "trainer"})  # fmt: skip
_WORD = re.compile(r"[A-Za-z][\w-]*")


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Names in settings and commands as they are compared with those of classes and files."""
    found = (plain(word) for text in texts for word in _WORD.findall(text[:2000]))
    return frozenset(word for word in found if len(word) > 1 and word not in NO_NAMES)


def plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def is_named(cls: Class, words: Collection[str]) -> bool:
    """A setting holds the name of the class, or of its file."""
    return bool(words) and (plain(cls.name) in words or plain(PurePosixPath(cls.path).stem) in words)
