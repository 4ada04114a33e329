"""The map of a training repository: its ten components with file and line, within a budget.

from trainsleuth.map import map_repository

print(map_repository("path/to/project").text)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from trainsleuth.facts import Index, keep_facts, no_collection
from trainsleuth.history import head_of
from trainsleuth.kept import answered
from trainsleuth.repository import Repository, RepositoryError, is_notebook
from trainsleuth.secrets import hide, hide_all

from .build import find_program, read_index
from .drawing.diagram import draw_diagram
from .drawing.layout import MIN_BUDGET
from .drawing.sheet import draw
from .expansion import EXPANDABLE, NO_PAGES, Asker, Expansion, Pages, Plan, check_parts, drawn, pages_of, plan
from .launching.appended import with_appended
from .launching.launch import SHELL, Command
from .launching.misspelled import as_they_are, script_in_folder
from .launching.option_files import with_files_of_options
from .launching.override_files import with_options_of_files
from .launching.scripts import given_command
from .parts import Anatomy, parts_of
from .program import Program
from .recipe.recipe_modules import importers_of
from .records import COMPONENTS, Map, Part, Place

__all__ = [
    "COMPONENTS",
    "EXPANDABLE",
    "MIN_BUDGET",
    "Anatomy",
    "Expansion",
    "Map",
    "Part",
    "Place",
    "diagram",
    "draw",
    "expand_component",
    "map_repository",
    "read_anatomy",
]

PAGES_BUDGET = 6000  # of the parts that questions are answered from: kept, so the same whatever budget asked first


def map_repository(
    root: str | os.PathLike[str], scope: str | None = None, recipe: str | None = None, budget: int = 2000
) -> Map:
    """Map the repository at `root`; nothing in it is run.

    `scope` is a folder or file, from the root, that holds the one program of interest, or the shell script that starts it;
    `recipe` is a configuration file (YAML, JSON, TOML, INI, Python) that chooses among registered parts, the command that
    launches the program, or the shell script that holds this command. The text never exceeds `budget` tokens
    (characters / 4).
    Raises RepositoryError when `root`, `scope` or `recipe` do not exist or lie outside, ValueError for a
    budget below MIN_BUDGET.
    """
    _check_budget(budget)
    repository = Repository(root)

    def drawn() -> Map:
        with no_collection():
            anatomy, _ = _anatomy(repository, scope, recipe, budget)
            made = draw(anatomy, budget)
            return replace(made, text=hide(made.text))

    return answered(repository, ("map", scope, recipe, budget, head_of(repository.root)), Map, drawn)


def read_anatomy(
    root: str | os.PathLike[str], scope: str | None = None, recipe: str | None = None, budget: int = 2000
) -> Anatomy:
    """All that a map is drawn from, with as many places as `budget` could ever show. Raises as `map_repository`."""
    _check_budget(budget)
    with no_collection():
        return _anatomy(Repository(root), scope, recipe, budget)[0]


def expand_component(
    root: str | os.PathLike[str], what: str, scope: str | None = None, recipe: str | None = None, budget: int = 1500
) -> Expansion:
    """Everything about parts of EXPANDABLE, one name or several with commas between them: a component with every
    place, its function, callers and values, the configuration as it is ("config"), the path of one batch ("batch"),
    the run on one sheet ("run"), the answer to a question in plain words ("ask QUESTION"), what holds some words
    ("find WORDS"), statements that match ("lines REGEX in PATH"), or a function or a text ("open PATH:LINE", "open NAME",
    "open PATH:FIRST-LAST"). Several share one budget and say nothing twice.
    Nothing is run.

    Whoever asks for one part asks for the next: all are worked out together, with what questions need, which costs
    little more than to trace the program, and kept.

    `scope`, `recipe` and the errors are those of `map_repository`; UnknownPartError (a ValueError) for a part that does not exist.
    """
    wanted = check_parts(what)
    if any(one in EXPANDABLE for one in wanted) or budget < LEAST:
        _check_budget(budget)
    repository = Repository(root)

    def pages() -> Pages:
        with no_collection():
            return pages_of(_anatomy(repository, scope, recipe, PAGES_BUDGET)[0])

    def planned() -> Plan:
        with no_collection():
            found = _found(repository, scope, recipe)
            anatomy = _parts(found, 4 * budget)
            answered(repository, to_ask, Pages, lambda: pages_of(_parts(found, PAGES_BUDGET)))
            return plan(anatomy, found.own_launch)

    to_ask = ("pages", scope, recipe)
    made = None
    if any(one in EXPANDABLE for one in wanted):
        made = answered(repository, ("plan", scope, recipe, budget), Plan, planned)
    known = answered(repository, to_ask, Pages, pages) if any(one not in EXPANDABLE for one in wanted) else NO_PAGES
    shown = drawn(made or Plan(known.entry, known.names, {}, known.skipped), Asker(known, repository), wanted, budget)
    return replace(shown, text=hide(shown.text), items=tuple(hide_all(shown.items)))


def diagram(root: str | os.PathLike[str], scope: str | None = None, recipe: str | None = None) -> str:
    """The data flow of a program as a Mermaid flowchart; the arguments and errors are those of `map_repository`."""
    repository = Repository(root)

    def drawn() -> str:
        with no_collection():
            return hide(draw_diagram(_anatomy(repository, scope, recipe, 2000)[0]))

    return answered(repository, ("diagram", scope, recipe), str, drawn)


LEAST = 60  # tokens of an answer


def _check_budget(budget: int) -> None:
    if budget < MIN_BUDGET:
        raise ValueError(
            f"budget {budget} is too small: a component needs at least {MIN_BUDGET} tokens, an answer (ask, find, lines, "
            f"open) {LEAST}"
        )


@dataclass(frozen=True)
class _Found:
    """A program, the scope and recipe by which it was found, and the command that starts it."""

    index: Index
    program: Program | None
    scope: str | None
    recipe: str | None
    launch: Command | None
    said: tuple[str, ...] = ()  # of files that the command names otherwise than they are called

    @property
    def own_launch(self) -> Command | None:
        """The command as the program itself gets it, where a launcher reads its options from a file."""
        entry = self.program.entry.path if self.program is not None else ""
        return _as_started(self.index, self.launch, entry)


def _found(repository: Repository, scope: str | None, recipe: str | None) -> _Found:
    scope, recipe = (_behind_links(repository, given) for given in (scope, recipe))
    recipe, said = _as_it_is(repository, recipe)
    if recipe is not None and is_notebook(recipe):  # it makes its settings itself
        scope, recipe = scope or recipe, None
    word = "recipe"
    if recipe is None and scope is not None and scope.endswith(SHELL):  # what it starts is the scope
        scope, recipe, word = None, scope, "scope"
    index = read_index(repository, [*(scope or "").split(), *(recipe or "").split()])
    where = _existing(repository, scope, "scope", index.files)
    launch = given_command(index, recipe, where) if recipe is not None else None
    if launch is not None:
        recipe, where = None, where or launch.target or None
    chosen = _existing(repository, recipe, word, index.configs)
    if chosen is not None and (importers := importers_of(index, chosen)):
        index = replace(index, beside=dict.fromkeys(importers, chosen.rpartition("/")[0]))
    started = launch.target if launch is not None else ""
    own = _as_started(index, launch, started)
    program = find_program(index, where, chosen, own)
    keep_facts(index)
    return _Found(index, program, where, chosen, launch, said)


def _as_started(index: Index, launch: Command | None, target: str) -> Command | None:
    """The command with the options that the program `target` gets by a launcher, and by files that it names."""
    launch = with_appended(index, with_options_of_files(index, launch, target))
    return with_files_of_options(index, launch)


def _as_it_is(repository: Repository, recipe: str | None) -> tuple[str | None, tuple[str, ...]]:
    """A command with the files that it means, and what is to be said of them."""
    if recipe is None or " " in recipe.strip():
        return as_they_are(repository, recipe) if recipe is not None else (None, ())
    return script_in_folder(repository, recipe), ()


def _behind_links(repository: Repository, given: str | None) -> str | None:
    """A path or a command, with what each link in it leads to in its place."""
    return given and _WORD.sub(lambda word: repository.behind_links(word[0]), given)


_WORD = re.compile(r"(?:[\w./-]|\+\+)+")


def _anatomy(
    repository: Repository, scope: str | None, recipe: str | None, budget: int
) -> tuple[Anatomy, Command | None]:
    found = _found(repository, scope, recipe)
    return _parts(found, budget), found.launch


def _parts(found: _Found, budget: int) -> Anatomy:
    anatomy = parts_of(found.index, found.program, found.scope, found.recipe, budget, found.own_launch)
    return replace(anatomy, unresolved=(*found.said, *anatomy.unresolved))


def _existing(repository: Repository, given: str | None, word: str, known: Mapping[str, object]) -> str | None:
    """A path from the root that holds files of ours. Raises RepositoryError otherwise."""
    if given is None:
        return None
    path = repository.relative(given)
    if path == ".":
        return None
    if path in known or (word == "scope" and any(one.startswith(path + "/") for one in known)):
        return path
    what = (
        "no Python file"
        if word == "scope" and not given.endswith(SHELL)
        else "no configuration file (YAML, JSON, TOML, INI, Python) and no shell script that starts a program"
    )
    raise RepositoryError(f"{word} {given!r}: {what} of {repository.root} is there; give a path from its root")
