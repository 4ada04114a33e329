"""Options that a program reads from a text file which its command names: python run.py --arg_file args/small.txt"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import Index

from ..configuration.forms.command_line import is_option
from ..recipe.composition import normal
from .command_words import words_behind
from .launch import Command, folder_of

_SUFFIXES = (".txt", ".args", ".flags", ".opt", ".opts", ".cfg", ".conf", "")
MAX_CHARACTERS = 40_000


def with_files_of_options(index: Index, launch: Command | None) -> Command | None:
    """The command with what stands in the files of options that it names; what it gives itself comes before that.
    `launch` where it names no file that holds nothing but options.
    """
    words = words_behind(launch.text) if launch is not None and launch.target else []
    given = {word.partition("=")[0] for word in words if is_option(word)}
    found = (option for word in words for option in _options(_text(index, launch, word)))
    more = [word for option in found if option[0].partition("=")[0] not in given for word in option]
    return launch._replace(text=" ".join([launch.text, *map(shlex.quote, more)])) if launch and more else launch


def _text(index: Index, launch: Command | None, word: str) -> str:
    """Of the file that a word names: args/small.txt, @args/small.txt, --flagfile=args/small.txt"""
    named = (word.partition("=")[2] if is_option(word) else word).lstrip("@")
    if not named or PurePosixPath(named).suffix not in _SUFFIXES:
        return ""
    paths = (normal(f"{folder_of(launch)}/{named}") if launch is not None else "", normal(named))
    path = next((one for one in paths if one in index.repository.files), None)
    return (index.repository.read(path) or "")[:MAX_CHARACTERS] if path is not None else ""


def _options(text: str) -> Iterator[list[str]]:
    """Each option with its values; none where something else stands first."""
    option: list[str] = []
    for line in text.split("\n") if text.lstrip().startswith(("--", "#")) else ():
        for word in shlex.split(line, comments=True) if line.count('"') % 2 == line.count("'") % 2 == 0 else ():
            if is_option(word):
                if option:
                    yield option
                option = [word]
            elif not option:
                return
            else:
                option.append(word)
    if option:
        yield option
