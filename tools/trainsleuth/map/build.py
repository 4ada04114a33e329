"""From an index to the map of one program: entries, reach, recipe, parts, text."""

from __future__ import annotations

from dataclasses import replace

from trainsleuth.facts import Function, Index, build_index
from trainsleuth.facts.source import read_source
from trainsleuth.repository import Repository

from .config_files import of_program
from .entries import NEVER, candidates, entries
from .frameworks import Handover, handovers
from .graph import Graph
from .launch import Command, commands, usage
from .program import Program
from .reach import reach
from .recipes import RECIPE_DISTANCE, choices, configured, kinds_of, not_chosen, roots_of, settings
from .siblings import groups
from .steps import signs
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
    return replace(index, files={**index.files, **extra})


def _worth_reading(repository: Repository) -> list[str]:
    """Top folders and files but those of tests and copied libraries: no program is trained from there."""
    tops = {path.partition("/")[0] for path in repository.files}
    return sorted(top for top in tops if not NEVER.search(f"{top}/"))


def _handed(index: Index, values: Values) -> dict[Function, list[Handover]]:
    found: dict[Function, list[Handover]] = {}
    for handover in handovers(index, values):
        found.setdefault(handover.site.function, []).append(handover)
    return found


def find_program(index: Index, scope: str | None, recipe: str | None) -> Program | None:
    """The program that the scope names, or the likeliest training program; None when there is no code at all."""
    values = Values(index)
    graph = Graph(index, values)
    table = signs(index, values)
    handed = _handed(index, values)
    started = commands(index)
    for path in (path for path in index.files if path.lower().endswith((".md", ".rst"))):
        started += (Command(path, 1, "", path),)
    found = entries(index, graph, started, table, handed, scope)
    if not found:
        return None
    entry = found[0]
    paths = of_program(index, entry.reach, entry.commands, recipe)
    given = tuple(settings(index, paths))
    chosen = choices(index, values, given)
    if chosen:
        values = Values(index, not_chosen(index, chosen), kinds_of(index, chosen), configured(given, chosen))
        graph = Graph(index, values)
        table, handed = signs(index, values), _handed(index, values)
        seen = reach(graph, entry.reach.roots)
        extra = [(function, RECIPE_DISTANCE) for function in roots_of(index, chosen) if function not in seen.distance]
        entry = replace(entry, reach=reach(graph, entry.reach.roots, extra) if extra else seen)
    alike = next(group for group in groups(index, [entry.path, *(e.path for e in found[1:])]) if entry.path in group)
    return Program(
        index,
        values,
        graph,
        entry,
        tuple(found),
        frozenset(alike) - {entry.path},
        table,
        handed,
        started=tuple(candidates(index, started, ())),
        choices=chosen,
        config_paths=paths,
        recipe=recipe,
        settings=given,
    )
