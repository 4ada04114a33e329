"""The launch command that the caller gives: as it is, or by the shell script that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index
from trainsleuth.repository import is_under

from .configuration.command_line import with_variables
from .launch import SHELL, Command, command_of, commands_of
from .recipes import Setting


def given_command(index: Index, recipe: str, scope: str | None) -> Command | None:
    """A command outright, or that of a script: the last one that starts a program of the scope; None for neither."""
    path = index.repository.relative(recipe) if recipe.endswith(SHELL) and " " not in recipe.strip() else None
    if path is None:
        return command_of(index, recipe)
    found = commands_of(index, path)
    of_scope = [one for one in found if scope is None or is_under(one.target, scope)]
    for one in (of_scope or list(found))[-1:]:
        return one._replace(path="", text=with_variables(index, path, one.line, one.text), script=path)
    return None


_OPTION = re.compile(r"^\s*--([A-Za-z][\w.-]*)[ =]+([^\s\\]+)")


def settings_in(index: Index, launch: Command | None) -> Iterator[Setting]:
    """The options of the given script's command that stand on lines of their own."""
    for line, text in _lines(index, launch):
        if (match := _OPTION.match(text)) is not None:
            yield Setting(launch.script if launch is not None else "", line, match[1].replace("-", "_"), match[2])


def started_at(index: Index, launch: Command) -> int:
    """The line of the script on which the program is named."""
    name = launch.target.rpartition("/")[2]
    return next((line for line, text in _lines(index, launch) if name in text), launch.line)


def _lines(index: Index, launch: Command | None) -> Iterator[tuple[int, str]]:
    """Lines of the given script from its command on, with their numbers."""
    if launch is not None and launch.script:
        lines = (index.repository.read(launch.script) or "").split("\n")
        yield from enumerate(lines[launch.line - 1 :], launch.line)
