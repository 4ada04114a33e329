"""Configurations that the launch command names of which no file was read: --config-name=base beside many base.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import plain_name
from trainsleuth.repository import CONFIG_SUFFIXES

from ...launching.command_words import words_behind
from ...program import Program
from ..forms.command_line import given_by
from ..values.overrides import launch_of

_OPTION = re.compile(r"(?:config|cfg|conf|yaml)(?:_(?:name|file|path|yaml))?|recipe", re.I)
_OF_FILE = re.compile(r"(?:name|file|path|yaml)$", re.I)
_NAME = re.compile(r"(?=.*[A-Za-z])[\w./+-]*[\w+-]")
_FLAGS = frozenset({"true", "false", "none", "null"})


def unread(program: Program) -> Iterator[str]:
    """As the command has it. A file of Python that it names may be loaded as a module: of that nothing is said.

    A plain word that no file is called by may name settings that the code itself holds: --cfg=ffhq.
    """
    command = launch_of(program, None)
    read = _called(program.config_paths)
    files = _called(program.index.configs)
    for name, value in given_by(command.text) if command is not None else ():
        is_file = value.endswith(CONFIG_SUFFIXES) or "/" in value or value in files or _OF_FILE.search(name)
        is_name = _OPTION.fullmatch(name) and _NAME.fullmatch(value) and value.lower() not in _FLAGS and is_file
        if command is not None and is_name and not value.endswith(".py") and PurePosixPath(value).name not in read:
            words = (word for word in words_behind(command.text) if plain_name(word).startswith(name))
            option = next(words, name).partition("=")[0]
            yield f"{option} {value}"


def _called(paths: Iterable[str]) -> frozenset[str]:
    """The names of the files with and without their endings, and of the folders that they lie in."""
    every = [PurePosixPath(path) for path in paths]
    return frozenset(name for one in every for name in (one.stem, *one.parts))
