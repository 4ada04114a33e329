"""The words of a launch command: those of its launcher, and those of the program that it starts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import zip_longest

_PROGRAM = re.compile(r"(?:^|/)[\w.-]+\.py$")


def words_behind(text: str) -> list[str]:
    """The words of a command behind the program that it starts."""
    words = _words(text)
    return words[_start(words) :]


def words_before(text: str) -> list[str]:
    """Those of its launcher."""
    words = _words(text)
    return words[: _start(words) - 1]


def is_same_subcommand(words: Sequence[str], others: Sequence[str]) -> bool:
    """Both begin with one name that is no option, behind their programs: tool train data.csv."""
    return [*words[:1]] == [*others[:1]] and bool(words) and words[0].isidentifier()


def options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word that is an option, with its value: --lr=0.1, --lr 0.1. One that is given alone has the next word."""
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.partition("=")
        if name.startswith("-") and name.strip("-"):
            yield name, value if equals else following


def held(text: str) -> str:
    """The command that a variable holds, to be run further down: CMD="torchrun train.py --lr 0.1"."""
    match = _HELD.fullmatch(text)
    return match[2] if match is not None else text


_HELD = re.compile(r"\s*(?:export\s+)?[A-Za-z_]\w*=([\"'])(.*)\1\s*", re.S)


def _words(text: str) -> list[str]:
    words = _split(held(text))
    inner = next(
        (found for word in words if " " in word and _has_program(found := _split(_ASSIGNED.sub("", word)))), None
    )
    return inner or words


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=False)
    except ValueError:
        return text.split()


def _has_program(words: Sequence[str]) -> bool:
    """Of a command that another one is given whole: make run COMMAND="./train.py lr=1", bash -c "python train.py" """
    return any(_PROGRAM.search(word) for word in words)


_ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")


def _start(words: list[str]) -> int:
    """Behind the program's name: what stands before it belongs to its launcher."""
    for place, word in enumerate(words):
        if _PROGRAM.search(word):
            return place + 1
        if word == "-m" and place + 1 < len(words) and not words[place + 1].startswith("torch.distributed"):
            return place + 2
    return _behind_container(words)


_CONTAINERS = ("docker", "docker-compose", "podman", "nvidia-docker")
_STARTS = ("run", "exec")
_ALONE = re.compile(r"-[itdT]+|--(?:rm|interactive|tty|detach|init|privileged|no-deps|service-ports)")  # take no word


def _behind_container(words: Sequence[str]) -> int:
    """Behind the name of what a container runs: docker-compose run -e KEY --rm main train; behind the first word else."""
    place = next((at for at, word in enumerate(words) if word in _STARTS), 0)
    if not place or words[0] not in _CONTAINERS:
        return 1
    place += 1
    while place < len(words) and words[place].startswith("-"):
        takes_one = "=" not in words[place] and _ALONE.fullmatch(words[place]) is None
        place += 1 + takes_one
    return min(place + 1, len(words))
