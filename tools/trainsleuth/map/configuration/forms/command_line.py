"""What a launch command sets: flags, key=value overrides, and the variables of the script that holds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Index

from ...launching.command_words import words_before, words_behind
from ...launching.shell_scripts import lines_of
from ...launching.shell_variables import filled, known_before

_OVERRIDE = re.compile(r"^[+~]{0,2}([A-Za-z_][\w.@/-]*)=(.*)$")
_UNSET = re.compile(r"\$\{?\w+\}?|\"?\$\{?@\}?\"?")  # a variable of the shell that may be empty
_FLAG = re.compile(r"^--?[A-Za-z]")
_PAIR = re.compile(r"^[A-Z_][A-Z_0-9]*(?:\.[A-Z_0-9]+)+$")  # SOLVER.BASE_LR 0.01


class Given(NamedTuple):
    """`name` without its dashes, dashes within as underscores; `value` "True" for a flag that stands alone."""

    name: str
    value: str


def given_by(
    text: str, takes: Mapping[str, int] | None = None, is_key: Callable[[str], bool] = lambda word: False
) -> Iterator[Given]:
    """All that a command sets, in its order; only what stands behind the program that it starts. `takes`: how many words
    belong to an option, less than none for all up to the next, where that is known. `is_key`: of a word without a dot,
    that it is a key whose value follows.
    """
    words = words_behind(text)
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if _FLAG.match(word):
            name, equals, value = word.lstrip("-").partition("=")
            values = [value] if equals else []
            count = (takes or {}).get(name.replace("-", "_"), -1)
            many = count < 0 and name.replace("-", "_") in (takes or {})
            while not equals and place < len(words) and not (ends(words[place]) or _is_alone(words[place], values)):
                if len(values) == count or ((values or many) and is_key(words[place])):
                    break
                values.append(words[place])
                place += 1
            pairs = [match for one in values if (match := _OVERRIDE.match(one)) is not None]
            is_set = not equals and all("." in pair[1] or len(name) == 1 for pair in pairs)
            left = [one for one in values if _OVERRIDE.match(one) is None and not _UNSET.fullmatch(one)]
            if is_set and pairs and not left:  # -r optim.lr=0.1, --cfg-options a.b=1 c.d=2
                yield from (Given(pair[1], pair[2]) for pair in pairs)
            else:
                yield Given(name.replace("-", "_"), " ".join(values) if values else "True")
        elif place < len(words) and (_PAIR.match(word) or (is_key(word) and not ends(words[place]))):
            yield Given(word, words[place])
            place += 1
        elif (match := _OVERRIDE.match(word)) is not None:
            yield Given(match[1], match[2])


def launched_by(text: str) -> Iterator[Given]:
    """How many processes the launcher before the program is told to start, and on which devices:
    CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc-per-node=8 train.py."""
    words = words_before(text)
    for place, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        if name == _DEVICES and _PLACES.fullmatch(value):
            yield Given(name, value)
            continue
        name = name.replace("-", "_")
        if word.startswith("--") and name in _PROCESSES:
            value = value if equals else next(iter(words[place + 1 : place + 2]), "")
            if value.isdecimal():
                yield Given(name, value)


_DEVICES = "CUDA_VISIBLE_DEVICES"
_PLACES = re.compile(r"\d+(?:,\d+)*")
_PROCESSES = ("nproc_per_node", "num_processes", "num_gpus", "nnodes", "num_nodes", "num_machines")
LAUNCHING = frozenset({_DEVICES, *_PROCESSES})  # read by what starts the program


def with_variables(index: Index, path: str, line: int, text: str) -> str:
    """`text` with the variables that the script at `path` assigns above `line`."""
    if "$" not in text:
        return text
    lines = lines_of(index.repository, path) if path else []
    return filled(text, known_before(lines, line))


def _is_alone(word: str, before: list[str]) -> bool:
    """A path behind a plain word is an argument of its own: --task translation data-bin/iwslt."""
    return "/" in word and len(before) == 1 and before[0].isidentifier()


def is_option(word: str) -> bool:
    return _FLAG.match(word) is not None


def ends(word: str) -> bool:
    """Begins something new, or ends the command."""
    return bool(_FLAG.match(word) or _PAIR.match(word)) or word in (";", "&&", "||", "|", ">", ">>", "2>&1", "&", "#")
