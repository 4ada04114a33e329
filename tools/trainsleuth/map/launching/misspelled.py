"""Files that a command names otherwise than they are called: python exp/run.py of exps/run.py, configs/Net_s.yaml of Net-s.yaml.

READMEs are not run. What is taken instead is said in the map.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from trainsleuth.repository import Repository

_FILE = re.compile(r"(?<![\w$/{}.-])(?:[\w./-]|\+\+)*\w\.(?:py|sh|bash|ya?ml|json|toml|gin)(?![\w./-])")
PROGRAMS = (".py", ".sh", ".bash")


def as_they_are(repository: Repository, given: str) -> tuple[str, tuple[str, ...]]:
    """The command with the files that are meant, and what was put in the place of what."""
    said: list[str] = []

    def meant(match: re.Match[str]) -> str:
        word = match[0].removeprefix("./")
        found = _meant(repository.files, word)
        if found is None:
            return match[0]
        said.append(f"the command says {word}, which is not there; {found} is taken for it")
        return found

    return _FILE.sub(meant, given), tuple(said)


def script_in_folder(repository: Repository, given: str) -> str:
    """A launch script given by its name, as a README does that has changed to its folder before: ./train_small.sh"""
    name = given.strip().removeprefix("./")
    if not name.endswith((".sh", ".bash")) or name in repository.files:
        return given
    found = [path for path in repository.files if path.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else given


def _meant(files: Sequence[str], word: str) -> str | None:
    """The only file of nearly that name; one that is no program in a folder of nearly the name of that of the word."""
    if word.startswith("/") or ".." in word or any(f"/{path}".endswith(f"/{word}") for path in files):
        return None
    alike = [path for path in files if _plain(PurePosixPath(path).name) == _plain(PurePosixPath(word).name)]
    beside = [path for path in alike if _folder(path) == _folder(word)]
    found: Iterable[str] = beside or (alike if word.endswith(PROGRAMS) else ())
    return only[0] if len(only := list(found)) == 1 else None


def _folder(path: str) -> str:
    return _plain(PurePosixPath(path).parent.name)


def _plain(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()
