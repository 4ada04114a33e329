"""Options that a launcher reads from a text file: python launch.py -c runs/small.txt, each line of which is key=value."""

from __future__ import annotations

import re

from trainsleuth.facts import Index

from ..recipe.composition import normal
from .command_words import words_behind
from .launch import Command

_OPTION = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@-]*=\S.*")
MAX_OPTIONS = 400
MAX_CHARACTERS = 40_000


def with_options_of_files(index: Index, launch: Command | None, target: str) -> Command | None:
    """The command that the launcher makes of such a file for the program `target`; `launch` where it names none, or starts
    the program itself.
    """
    is_other = launch is not None and target != "" and target.rpartition("/")[2] not in launch.text
    for word in words_behind(launch.text) if launch is not None and is_other else ():
        path = normal(word)
        text = index.repository.read(path) if path.endswith(".txt") and path in index.repository.files else None
        options = [line.strip() for line in (text or "")[:MAX_CHARACTERS].split("\n") if line.strip()]
        options = [one for one in options if not one.startswith("#")][:MAX_OPTIONS]
        if launch is not None and options and all(map(_OPTION.fullmatch, options)):
            return launch._replace(text=" ".join([f"python {target}", *map(_quoted, options)]), target=target)
    return launch


def _quoted(option: str) -> str:
    return f"'{option}'" if " " in option and "'" not in option else option
