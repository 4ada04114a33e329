"""Files of settings that a launch command names and that are not there: python train.py configs/test.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainsleuth.repository import Repository

from .command_words import words_behind

_FILE = re.compile(r"(?!/)(?:[\w.-]+/)*[\w.-]*\w\.(?:ya?ml|toml|gin)")


def missing_files(repository: Repository, text: str) -> Iterator[str]:
    """As the command has them, wherever in the repository it may be run. A file that git ignores is there."""
    for word in dict.fromkeys(one.partition("=")[2] or one for one in words_behind(text)):
        plain = str(PurePosixPath(word))
        if _FILE.fullmatch(word) is None or ".." in word or (repository.root / plain).exists():
            continue
        if not any(f"/{path}".endswith(f"/{plain}") for path in repository.files):
            yield word
