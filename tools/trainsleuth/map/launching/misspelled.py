"""Files that a command names otherwise than they are called: python exp/run.py of exps/run.py, configs/Net_s.yaml of Net-s.yaml.

READMEs are not run. What is taken instead is said in the map.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
        said.append(_said(word, found))
        return found

    return _FILE.sub(meant, given), tuple(said)


def settings_as_they_are(read: Sequence[str], given: str) -> Iterator[str]:
    """What is said of files of settings that a command of the repository names, where others are `read` instead."""
    for word in dict.fromkeys(one[0].removeprefix("./") for one in _FILE.finditer(given)):
        yield from (_said(word, path) for path in ending_otherwise(read, word))


def _said(word: str, found: str) -> str:
    return f"the command says {word}, which is not there; {found} is taken for it"


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
    found: Iterable[str] = beside or (alike if word.endswith(PROGRAMS) else ending_otherwise(files, word))
    return only[0] if len(only := list(found)) == 1 else None


def ending_otherwise(files: Iterable[str], word: str) -> list[str]:
    """Files of settings of that path but for the ending, where `word` itself is none: conf/run.yaml of conf/run.yml."""
    stem, dot, ending = word.rpartition(".")
    if dot + ending not in _SETTINGS:
        return []
    alike = [path for path in files if path.endswith(_SETTINGS) and f"/{path.rpartition('.')[0]}".endswith(f"/{stem}")]
    return [] if any(f"/{path}".endswith(f"/{word}") for path in alike) else alike


_SETTINGS = (".yaml", ".yml", ".json", ".toml")


def _folder(path: str) -> str:
    return _plain(PurePosixPath(path).parent.name)


def _plain(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()
