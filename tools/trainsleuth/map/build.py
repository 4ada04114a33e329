"""From an index to the map of one program: entries, reach, recipe, parts, text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trainsleuth.facts import Function, Index, build_index
from trainsleuth.facts.reading.source import read_source
from trainsleuth.repository import Repository, is_python, is_under

from .calling.graph import Graph
from .calling.reach import Reach, reach
from .calling.values import Values
from .configuration import PythonConfigs
from .launching.handed_on import only_program_of
from .launching.launch import Command, in_script
from .launching.named_programs import documented, named_program
from .launching.override_files import with_options_of_files
from .launching.plugins import Plugin, plugin_of
from .launching.starting import Start, start_of
from .launching.usage import usage
from .loop.steps import signs
from .program import Program
from .programs.assumed import likeliest
from .programs.commands_of import by_what_trains, launched, started_by, starting
from .programs.entries import Entry, candidates, entries, is_for_other
from .programs.library import trainers_shown_in_part, ways_in
from .programs.siblings import groups
from .programs.sidelines import NEVER
from .programs.tracing import (
    ASSUMED_DISTANCE,
    Reached,
    Tracing,
    again,
    as_told,
    handed_over,
    to_training,
)
from .recipe.chosen import roots_of
from .recipe.composition import file_of
from .recipe.recipes import RECIPE_DISTANCE
from .recipe.told import Told, told_of


def read_index(repository: Repository, named: Iterable[str] = ()) -> Index:
    """All facts, and the Python blocks of the READMEs as sources of their own: the way a library is used.

    `named`: words of what the caller asks about; a file or folder among them is read wherever it lies.
    """
    index = build_index(repository, _worth_reading(repository, named))
    extra = {}
    for path in repository.files:
        name = path.rpartition("/")[2].lower()
        if name in ("readme.md", "readme.rst") and path.count("/") < 2:
            text = repository.read(path)
            if text is not None and "import " in text:
                facts = read_source(path, usage(text)[0])
                if facts.imports:
                    extra[path] = facts
    return replace(index, files={**index.files, **extra}, configs=PythonConfigs(index))


def _worth_reading(repository: Repository, named: Iterable[str]) -> list[str]:
    """Top folders and files but those of tests and copied libraries: no program is trained from there, unasked."""
    tops = {path.partition("/")[0] for path in repository.files}
    worth = {top for top in tops if top in repository.scripts or not NEVER.search(f"{top}/")}
    asked = {path for word in named if (path := word.removeprefix("./").rstrip("/")).partition("/")[0] in tops - worth}
    return sorted(worth | {one for one in asked if any(is_under(path, one) for path in repository.files)})


MANY_PROGRAMS = 6  # each hands other objects to the code that they share
MAX_CALLED = 20  # files that may start the program
LAST_DISTANCE = 16  # of that step itself: the way to it, where one is read, is shorter


def find_program(
    index: Index, scope: str | None, recipe: str | None, launch: Command | None = None, through: bool = True
) -> Program | None:
    """The program that the scope names, or the likeliest training program; None when there is no code at all.

    `launch` is the command that starts it, when the caller knows it. `through` one that only starts another.
    """
    started = starting(index, launch)
    if scope is None and recipe is None and launch is None and (shown := _shown(index, started)) is not None:
        return shown
    values = Values(index)
    graph = Graph(values)
    table, handed = signs(index, values), handed_over(index, values)
    found = entries(index, graph, started, table, handed, scope) or ways_in(index, graph, table, handed)
    if not found:
        return None
    found = [*trainers_shown_in_part(index, graph, found, table, handed, scope), *found]
    entry = started_by(launched(found, launch, recipe), recipe, launch, started)
    entry = entry if launch is not None else by_what_trains(graph, entry, table, handed)
    first = Program(index, values, graph, entry, tuple(found), frozenset(), table, handed)
    told = told_of(first, recipe, launch)
    tracing, roots = Tracing(values, graph, table, handed, entry), list(_roots(index, told))
    if told.is_telling or scope is not None or len(found) > MANY_PROGRAMS or not is_python(entry.path):
        tracing = as_told(tracing, told, roots)
    if through and (below := _named(tracing, told, recipe, launch)) is not None:
        return below
    plugin = plugin_of(index, (in_script(one, entry.commands).text for one in entry.commands[:1]), told.choices)
    tracing, more = to_training(tracing, roots, told) if plugin is None else (tracing.training(), roots)
    below, assumed = _supposed(tracing, told, scope, recipe, launch, through)
    if below is not None:
        return below
    tracing = _assuming(tracing, assumed, more)
    return _program(first, started, tracing, told, recipe, launch, tuple(assumed), plugin)


def _shown(index: Index, started: Iterable[Command]) -> Program | None:
    """The program that the documents start, when that trains."""
    shown = documented(index, started)
    below = find_program(index, shown.target, None, shown) if shown is not None else None
    return below if below is not None and below.entry.trains else None


def _roots(index: Index, told: Told) -> Iterator[Reached]:
    """What the settings name, and files of settings that run themselves."""
    for function in (*roots_of(index, told.choices), *_run_as_settings(index, told)):
        yield function, RECIPE_DISTANCE


def _assuming(tracing: Tracing, assumed: Mapping[Function, list[Function]], more: list[Reached]) -> Tracing:
    """With steps that are taken for those of the program, and what leads to them."""
    if not assumed:
        return tracing
    tops = [(top, ASSUMED_DISTANCE) for tops in assumed.values() for top in tops]
    extra = [*more, *tops, *((one, LAST_DISTANCE) for one in assumed)]
    return tracing._replace(entry=again(tracing.graph, tracing.entry, extra)).training()


def _program(
    first: Program,
    started: tuple[Command, ...],
    tracing: Tracing,
    told: Told,
    recipe: str | None,
    launch: Command | None,
    assumed: tuple[Function, ...],
    plugin: Plugin | None,
) -> Program:
    """What was first known of the program, with all that was found since."""
    index, entry = first.index, tracing.entry
    return Program(
        index,
        tracing.values,
        tracing.graph,
        entry,
        first.entries,
        _copies(index, entry, first.entries),
        tracing.table,
        tracing.handed,
        assumed=assumed,
        started=tuple(candidates(index, started, ())),
        commands=started,
        choices=told.choices,
        config_paths=tuple(dict.fromkeys(file_of(part.path) for part in told.parts)),
        held_configs=frozenset(part.path for part in told.parts if file_of(part.path) != part.path),
        recipe=recipe,
        told=recipe is not None or launch is not None,
        start=_start(first.graph, entry, told, launch),
        settings=told.settings,
        tables=tuple(dict.fromkeys(table for found in told.tables.values() for table in found)),
        plugin=plugin,
    )


def _supposed(
    tracing: Tracing, told: Told, scope: str | None, recipe: str | None, launch: Command | None, through: bool
) -> tuple[Program | None, dict[Function, list[Function]]]:
    """Of an entry that is not seen to train: the program that it starts, or the steps that are taken for its own."""
    index, entry = tracing.values.index, tracing.entry
    starts = through and only_program_of(index, entry.path) is not None
    if entry.trains:
        return _handed_on(index, entry, recipe, launch) if starts and _is_named_alone(tracing) else None, {}
    lacks_step = not is_for_other(entry.path)
    assumed = likeliest(tracing, told, scope) if lacks_step and not starts else {}
    if through and not assumed and (below := _handed_on(index, entry, recipe, launch)) is not None:
        return below, {}
    return None, likeliest(tracing, told, scope) if lacks_step and starts else assumed


def _is_named_alone(tracing: Tracing) -> bool:
    """No step is reached by calls of the entry, but through what settings name: a launcher composes them for another."""
    reached = tracing.entry.reach
    steps = [one for one in (*tracing.table, *tracing.handed) if one in reached.distance]
    return bool(steps) and all(_top(reached, one) not in reached.roots for one in steps)


def _top(reached: Reach, function: Function) -> Function:
    """What the way to a function begins with."""
    return next((caller for caller, _ in reversed(tuple(reached.way(function)))), function)


def _run_as_settings(index: Index, told: Told) -> Iterator[Function]:
    """The bodies of files of settings that make what a trainer is handed: callbacks=[ModelCheckpoint(save_top_k=-1)]"""
    files = (index.files.get(file_of(part.path)) for part in told.parts)
    yield from (one.body for one in files if one is not None and is_python(one.path) and one.body.source.holds(_HANDED))


_HANDED = re.compile(rb"\b[A-Z]\w*(?:Checkpoint|Monitor|Logger|Callback|Stopping)\(")


def _named(tracing: Tracing, told: Told, recipe: str | None, launch: Command | None) -> Program | None:
    """The program of the file that the settings name, where the entry's own calls do not lead to training."""
    index = tracing.graph.index
    named = named_program(index, told.settings) if tracing.is_aside else None
    return _below(index, tracing.entry, named.cls.path, recipe, launch) if named is not None else None


def _handed_on(index: Index, entry: Entry, recipe: str | None, launch: Command | None) -> Program | None:
    """The program that the entry starts as a process of its own, when it starts but one: itself, or a file that it calls."""
    called = sorted({function.path for function in entry.reach.distance} - {entry.path})
    path = only_program_of(index, entry.path)
    if path is None:
        others = {one for file in called[:MAX_CALLED] if (one := only_program_of(index, file)) is not None}
        path = others.pop() if len(others) == 1 else None
    return _below(index, entry, path, recipe, with_options_of_files(index, launch, path)) if path else None


def _below(index: Index, entry: Entry, path: str, recipe: str | None, launch: Command | None) -> Program | None:
    """The program of another file, when that trains."""
    found = find_program(index, path, recipe, launch, through=False) if path != entry.path else None
    return found if found is not None and found.entry.trains else None


def _start(graph: Graph, entry: Entry, told: Told, launch: Command | None) -> Start | None:
    """How the file that the command names comes to the program, where that is another one."""
    file = graph.index.files.get(launch.target) if launch is not None else None
    named = named_program(graph.index, told.settings) if file is not None and file.body is not entry.root else None
    if launch is None or file is None or named is None or named.cls.path != entry.path:
        return None
    roots = [file.body, *filter(None, [file.functions.get(launch.function)])]
    return start_of(launch.target, reach(graph, roots), named)


def _copies(index: Index, entry: Entry, found: Sequence[Entry]) -> frozenset[str]:
    """Files that are near copies of the entry."""
    together = groups(index, [entry.path, *(one.path for one in found[1:])])
    return frozenset(next(group for group in together if entry.path in group)) - {entry.path}
