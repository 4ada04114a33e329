"""From an index to the map of one program: entries, reach, recipe, parts, text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from trainsleuth.facts import Class, Function, Index, build_index
from trainsleuth.facts.names import Module
from trainsleuth.facts.source import read_source
from trainsleuth.repository import Repository, is_under

from .branches import known_settings
from .bridges import Bridges
from .config_files import of_program
from .configuration import defaults, python_configs
from .configuration.experiments import experiment_choices, experiment_configs, experiment_settings
from .entries import NEVER, Entry, candidates, entries, trainings
from .frameworks import Handover, handovers
from .graph import GUESS, Graph
from .hydra_main import removed_by
from .launch import Command, commands, names_recipe, that_counts, usage
from .library import ways_in
from .named_choice import words_of
from .named_modules import named_modules
from .named_outright import asked_in_code, named_outright
from .presets import Preset, built_through, named_preset
from .program import Program
from .reach import reach
from .recipes import (
    RECIPE_DISTANCE,
    Choice,
    Setting,
    choices,
    configured,
    kinds_of,
    looked_up,
    named_in_code,
    not_chosen,
    offered,
    roots_of,
    settings,
    slots,
    tagged,
)
from .registries import tables
from .scripts import settings_in
from .siblings import groups
from .steps import Sign, signs
from .tables import Table
from .values import Values


def read_index(repository: Repository) -> Index:
    """All facts, and the Python blocks of the READMEs as sources of their own: the way a library is used."""
    index = build_index(repository, _worth_reading(repository))
    extra = {}
    for path in repository.files:
        name = path.rpartition("/")[2].lower()
        if name in ("readme.md", "readme.rst") and path.count("/") < 2:
            text = repository.read(path)
            if text is not None and "import " in text:
                facts = read_source(path, usage(path, text))
                if facts.imports:
                    extra[path] = facts
    settings_files = dict(python_configs(index.files))
    return replace(index, files={**index.files, **extra}, configs={**index.configs, **settings_files})


def _worth_reading(repository: Repository) -> list[str]:
    """Top folders and files but those of tests and copied libraries: no program is trained from there."""
    tops = {path.partition("/")[0] for path in repository.files}
    return sorted(top for top in tops if top in repository.scripts or not NEVER.search(f"{top}/"))


MANY_PROGRAMS = 6  # each hands other objects to the code that they share
NAMED_DISTANCE = 8  # from the entry: further away, a class that is named by a string is none of its choices
MADE_DISTANCE = 3  # from the entry: what is made there is what the program works with
ASSUMED_DISTANCE = 8  # of a training step that the entry is not seen to reach


Reached = tuple[Function, int]  # at a distance from the entry


def _again(graph: Graph, entry: Entry, extra: list[Reached]) -> Entry:
    """The entry with what else is known to run, as far as its own calls do not lead there."""
    seen = reach(graph, entry.reach.roots)
    more = [(function, cost) for function, cost in extra if function not in seen.distance]
    return replace(entry, reach=reach(graph, entry.reach.roots, more) if more else seen)


def _unreached(
    table: Mapping[Function, list[Sign]], handed: Mapping[Function, list[Handover]], loaded: Collection[str]
) -> Iterator[Function]:
    """Training steps and hand-overs of `loaded` files: what no entry is seen to reach is chosen by a name."""
    steps = [function for function, found in table.items() if any(sign.role == "backward" for sign in found)]
    for function in (*steps, *handed):
        if not NEVER.search(function.path) and function.path in loaded:
            yield function


def _assumed(
    index: Index,
    table: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
    scope: str | None,
    loaded: Collection[str],
) -> Iterator[Function]:
    """Training steps taken for those of the program: of the scope when it is a folder, else of what is imported."""
    if scope is None or scope in index.files:
        yield from _unreached(table, handed, loaded) if scope is not None else _unreached(table, handed, index.files)
    else:
        yield from _unreached(table, handed, [path for path in index.files if is_under(path, scope)])


def _bridged(
    graph: Graph,
    entry: Entry,
    table: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
) -> tuple[Entry, dict[str, Class]]:
    """The entry with what its unresolved calls must lead to, when it is not seen to train, and what objects are."""
    known = graph.imports(frozenset(root.path for root in entry.reach.roots))
    goals = {one: 1 if one in handed else 2 for one in _unreached(table, handed, known)}
    found, held = Bridges(graph, goals, graph.words).over(entry)
    return replace(found, trains=any(trainings(found.reach, table, handed))), held


def _unmade(index: Index, graph: Graph, entry: Entry, table: Mapping[Function, list[Sign]]) -> Iterator[Function]:
    """Constructors of objects on the way to the training step that nobody was seen to make."""
    for step, found in table.items():
        if step in entry.reach.distance and any(sign.role == "backward" for sign in found):
            for _, edge in entry.reach.way(step):
                owner = index.class_of(edge.target) if edge.cost >= GUESS else None
                made = index.method(owner, "__init__") if owner is not None else None
                if made is not None and made not in entry.reach.distance:
                    yield made


def _near(entry: Entry) -> Iterator[Function]:
    for function, distance in entry.reach.distance.items():
        if distance <= NAMED_DISTANCE or function.path == entry.path:
            yield function


def _made(graph: Graph, entry: Entry) -> Iterator[Class]:
    """Classes that the program makes near its entry."""
    for function, distance in entry.reach.distance.items():
        if distance <= MADE_DISTANCE:
            for event in function.events:
                for call in event.calls:
                    yield from (one for one in graph.targets(function, call) if isinstance(one, Class))


def _handed(index: Index, values: Values) -> dict[Function, list[Handover]]:
    found: dict[Function, list[Handover]] = {}
    for handover in handovers(index, values):
        found.setdefault(handover.site.function, []).append(handover)
    return found


def _chosen_values(
    before: Values,
    chosen: tuple[Choice, ...],
    given: tuple[Setting, ...],
    loaded: frozenset[str],
    modules: Mapping[tuple[str, int], Module],
    known: Iterable[Table],
    preset: Preset,
    decided: Mapping[str, str],
) -> Values:
    """What names hold in the program that the settings choose."""
    index = before.index
    left = not_chosen(index, chosen, known)
    built = (before.objects.built_by(one) for one in left if isinstance(one, Class))
    return Values(
        index,
        left | {one for one in built if isinstance(one, Class)},
        {**slots(chosen), **kinds_of(index, chosen), **tagged(given, chosen)},
        configured(given, chosen),
        looked_up(chosen),
        loaded,
        modules,
        before.detours,
        preset.objects,
        frozenset(one.target for one in chosen if isinstance(one.target, Class)),
        decided,
    )


def _started_by(entry: Entry, recipe: str | None, launch: Command | None) -> Entry:
    """Its commands with those first that the caller gave, then those that name the recipe."""
    ours = [one for one in entry.commands if recipe is not None and names_recipe(one, recipe)]
    others = [one for one in entry.commands if one not in ours]
    return replace(entry, commands=(*([launch] if launch is not None else ()), *ours, *others))


class Tracing(NamedTuple):
    """What is known of a program on the way to its training step."""

    values: Values
    graph: Graph
    table: Mapping[Function, list[Sign]]
    handed: Mapping[Function, list[Handover]]
    entry: Entry

    def reaching(self, extra: list[Reached]) -> Tracing:
        """With what else is known to run."""
        entry = _again(self.graph, self.entry, extra)
        return self._replace(entry=replace(entry, trains=any(trainings(entry.reach, self.table, self.handed))))


def _as_chosen(before: Tracing, values: Values, graph: Graph, roots: list[Reached], is_decided: bool) -> Tracing:
    """Traced anew by what the settings choose."""
    table, handed = signs(values.index, values), _handed(values.index, values)
    tracing = Tracing(values, graph, table, handed, before.entry).reaching(roots)
    if not is_decided:
        return tracing
    graph.keep_made(tracing.entry.reach.distance)
    return tracing.reaching(roots)


def _to_training(
    tracing: Tracing, roots: list[Reached], known: Mapping[str, list[Table]], chosen: tuple[Choice, ...]
) -> tuple[Tracing, list[Reached]]:
    """Over what reading did not resolve, when the entry's own calls do not lead to training; and all that was added."""
    index, more = tracing.values.index, list(roots)
    alone = replace(tracing.entry, reach=reach(tracing.graph, tracing.entry.reach.roots))
    if not any(trainings(alone.reach, tracing.table, tracing.handed)):
        bridged, held = _bridged(tracing.graph, alone, tracing.table, tracing.handed)
        if bridged.trains:
            values = tracing.values.knowing(held) if held else tracing.values
            graph = tracing.graph.again(values) if held else tracing.graph
            tracing = Tracing(values, graph, signs(index, values), _handed(index, values), tracing.entry)
            tracing = tracing.reaching(more)
    if not tracing.entry.trains:
        more += [(one, ASSUMED_DISTANCE) for one in offered(index, tracing.entry.reach.distance, known, chosen)]
        tracing = tracing.reaching(more)
    unmade = [(one, RECIPE_DISTANCE) for one in _unmade(index, tracing.graph, tracing.entry, tracing.table)]
    if unmade:
        more += unmade
        tracing = tracing.reaching(more)
    return tracing, more


def find_program(index: Index, scope: str | None, recipe: str | None, launch: Command | None = None) -> Program | None:
    """The program that the scope names, or the likeliest training program; None when there is no code at all.

    `launch` is the command that starts it, when the caller knows it.
    """
    values = Values(index)
    graph = Graph(index, values)
    table = signs(index, values)
    handed = _handed(index, values)
    started = commands(index)
    for path in (path for path in index.files if path.lower().endswith((".md", ".rst"))):
        started += (Command(path, 1, "", path),)
    found = entries(index, graph, started, table, handed, scope) or ways_in(index, graph, table, handed)
    if not found:
        return None
    entry = _started_by(found[0], recipe, launch)
    parts = of_program(index, entry.reach, entry.commands, recipe)
    given = tuple(settings(index, parts, removed_by(that_counts(entry.commands, recipe))))
    loaded = graph.imports(frozenset(root.path for root in entry.reach.roots))
    experiment = experiment_configs(index, loaded, launch.text if launch is not None else "")
    given = (*experiment_settings(experiment), *given, *settings_in(index, launch))
    known = tables(index, values)
    first = Program(index, values, graph, entry, tuple(found), frozenset(), table, handed)
    weak = tuple(defaults(first, launch))
    chosen = choices(index, known, (*weak, *given))
    chosen = (*chosen, *named_in_code(index, _near(entry)))
    chosen = (*chosen, *named_outright(index, (*weak, *given, *asked_in_code(_near(entry))), chosen, loaded, known))
    preset = named_preset(values, launch)
    chosen = (*chosen, *built_through(values, chosen), *preset.choices, *experiment_choices(experiment))
    given = (*given, *preset.settings)
    commanded = [one for one in weak if launch is not None and not one.path]  # of the caller's command
    decided = known_settings(weak, (*given, *commanded)) if recipe is not None or launch is not None else {}
    roots = [(function, RECIPE_DISTANCE) for function in roots_of(index, chosen)]
    words = words_of((*(setting.value for setting in (*weak, *given)), launch.text if launch is not None else ""))
    modules = named_modules(index, (*weak, *given))
    tracing = Tracing(values, graph, table, handed, entry)
    if (
        decided
        or scope is not None
        or modules
        or len(found) > MANY_PROGRAMS
        or any(choice.target is not None for choice in chosen)
    ):
        every = chain.from_iterable(known.values())
        values = _chosen_values(values, chosen, given, loaded, modules, every, preset, decided)
        graph = Graph(index, values, decided, frozenset((*_made(graph, entry), *preset.classes)), words)
        tracing = _as_chosen(tracing, values, graph, roots, bool(decided))
    tracing, more = _to_training(tracing, roots, known, chosen)
    entry = tracing.entry
    assumed = () if entry.trains else tuple(_assumed(index, tracing.table, tracing.handed, scope, loaded))
    if assumed:
        more += [(one, ASSUMED_DISTANCE) for one in assumed]
        entry = replace(_again(tracing.graph, entry, more), trains=True)
    alike = next(group for group in groups(index, [entry.path, *(e.path for e in found[1:])]) if entry.path in group)
    return Program(
        index,
        tracing.values,
        tracing.graph,
        entry,
        tuple(found),
        frozenset(alike) - {entry.path},
        tracing.table,
        tracing.handed,
        started=tuple(candidates(index, started, ())),
        assumed=assumed,
        choices=chosen,
        config_paths=tuple(dict.fromkeys(part.path for part in parts)),
        recipe=recipe,
        told=recipe is not None or launch is not None,
        settings=given,
        tables=tuple(dict.fromkeys(table for found in known.values() for table in found)),
    )
