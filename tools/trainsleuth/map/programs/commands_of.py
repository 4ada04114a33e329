"""The commands that start programs of a repository, and in which order they count for one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from trainsleuth.facts import Function, Index

from ..calling.graph import Graph
from ..calling.reach import reach
from ..launching.command_words import is_same_subcommand, words_behind
from ..launching.launch import Command, commands, is_beside, names_recipe
from ..launching.subcommand import training_first
from ..loop.frameworks import Handover
from ..loop.steps import Sign
from .entries import Entry, trainings


def starting(index: Index, launch: Command | None) -> tuple[Command, ...]:
    """Commands that start programs, the caller's own first; those of a README may stand in any block of it."""
    texts = (path for path in index.files if path.lower().endswith((".md", ".rst")))
    own = [launch] if launch is not None and launch.target else []
    return (*own, *commands(index), *(Command(path, 1, "", path) for path in texts))


def launched(found: list[Entry], launch: Command | None, recipe: str | None = None) -> Entry:
    """The program that the caller's command starts, when it is one of those found; of a recipe alone the likeliest that a
    command starts with it, or that has one in a document beside it.
    """
    if launch is not None or recipe is None:
        return next((one for one in found if launch is not None and one.path == launch.target), found[0])
    for fits in (_gives_recipe, is_beside):
        for one in found:
            if one.trains and any(fits(command, recipe) for command in one.commands):
                return one
    return found[0]


def _gives_recipe(command: Command, recipe: str) -> bool:
    """As a path, or to an option of configurations: --size base does not give configs/base.yaml."""
    stem = re.escape(PurePosixPath(recipe).stem)
    return re.search(rf"(?:/|conf\S*[ =]['\"]?){stem}(?:\.\w+)?(?=['\"\s]|$)", command.text) is not None


def started_by(entry: Entry, recipe: str | None, launch: Command | None, started: Iterable[Command]) -> Entry:
    """Its commands with those first that the caller gave, then those that name the recipe or are scripts beside it, then
    those that start the launcher of the caller's command as that does.
    """
    ours = [one for one in entry.commands if recipe is not None and names_recipe(one, recipe)]
    ours = ours or [one for one in entry.commands if recipe is not None and is_beside(one, recipe)]
    if launch is not None and launch.target and launch.target != entry.path:
        words = words_behind(launch.text)
        alike = [one for one in started if one.target == launch.target and one.path and one.text]
        ours += [one for one in alike if is_same_subcommand(words_behind(one.text), words)]
        if not ours and alike:
            ours = [max(alike, key=lambda one: len({*words} & {*words_behind(one.text)}))]
    others = [one for one in entry.commands if one not in ours and one is not launch]
    return replace(entry, commands=(*([launch] if launch is not None else ()), *ours, *others))


def by_what_trains(
    graph: Graph, entry: Entry, table: Mapping[Function, list[Sign]], handed: Mapping[Function, list[Handover]]
) -> Entry:
    """Its commands with those behind that ask for a subcommand which does not train."""

    def trains(function: Function) -> bool:
        return any(True for _ in trainings(reach(graph, [function]), table, handed))

    return replace(entry, commands=training_first(graph.values, entry.reach.distance, entry.commands, trains))
