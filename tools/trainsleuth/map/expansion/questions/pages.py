"""What is known of a program, statement by statement, for questions to come: plain data that is kept with its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Branch, Class, Event, Function

from ...calling.edges import GUESS
from ...configuration import Key, Truth
from ...configuration.records import Layer
from ...configuration.use.switched_off import is_switched_off
from ...configuration.use.unseen import is_unseen
from ...configuration.use.untaken import untaken_by
from ...drawing.statements import is_class_body
from ...drawing.wording import clean
from ...parts import Anatomy
from ...program import Program
from ...programs.standing import off
from ...records import Part
from ..blocks.choosing import is_open
from ..blocks.headings import heading
from ..run_sheet.tails import Tails
from ..run_sheet.topics import TAGS
from ..run_sheet.under import defined_under, undecided
from ..settings.built_by import all_built
from ..settings.config import short_names, worth
from ..settings.idle import is_idle
from ..settings.pipelines import pipelines
from ..settings.sections import entry_of, is_set
from ..settings.settings import is_of_others
from ..settings.strangers import is_of_strangers
from ..settings.values import values_in

WIDTH = 70  # characters of one value


class Setting(NamedTuple):
    """One key with the value that counts; `place` is path:line of what sets it, "" for the given command."""

    name: str
    value: str
    place: str
    is_set: bool  # by a file or a command; else it is a default
    before: str  # what it was before somebody set it; "" when nothing was known
    may_become: str  # what code makes of it, and when
    reads: tuple[str, ...]  # path:line of code that reads it, the nearest first
    given_to: str  # what takes the section that holds it
    is_unread: bool
    is_others: bool  # a default in code that this program does not run
    worth: float  # how much a reader wants to know it
    about: str  # the help text of an option
    line: str = ""  # of a list, or of a class that is built: all of it in one line
    is_off: bool = False  # its section is switched off, or the code that reads it
    entry: str = ""  # of a value in an entry of a list, what tells the entry
    is_left_out: bool = False  # the recipe does not have what code asks it for: the value is what counts then
    instead: str = ""  # nothing reads it; the place that is meant reads something else


class Note(NamedTuple):
    """What is known of one statement beyond its text."""

    line: int
    off: str  # the setting that keeps it from running
    values: tuple[tuple[str, str], ...]  # names in it, with value and place
    under: str = ""  # the innermost test that it stands under of which the settings do not say what comes of it


@dataclass(frozen=True, eq=False)
class Page:
    """One function, class or module body. Lines count from 1; `notes` are empty for code that is not reached."""

    path: str
    name: str  # qualified; a class ends in nothing, a module body is ""
    line: int
    end_line: int
    is_class: bool
    is_reached: bool
    is_abstract: bool
    is_chosen: bool  # of a class that the recipe names, or of one that it builds on
    weight: float  # how much it belongs to the program, see Program.weight
    heading: str
    off: str
    begins: tuple[int, ...]  # lines on which statements begin
    notes: tuple[Note, ...]
    calls: tuple[tuple[int, str, int], ...] = ()  # line of a statement, and path and first line of what it calls


class Role(NamedTuple):
    """A line that belongs to a part of the map, which is surer of it the nearer `score` is to 1."""

    part: str
    path: str
    line: int
    score: float


@dataclass(frozen=True)
class Pages:
    """`names` are short names of files that set much; `pages` are those of files that it loads, the nearest first."""

    entry: str
    recipe: str
    names: Mapping[str, str]
    settings: tuple[Setting, ...]
    pages: tuple[Page, ...]
    skipped: Mapping[str, str]
    roles: tuple[Role, ...] = ()


NO_PAGES = Pages("", "", {}, (), (), {})
MAX_ROLES = 50  # of a part; no budget shows fewer places of one


def pages_of(anatomy: Anatomy) -> Pages:
    """Empty for a repository that holds no program of this library."""
    program, truth = anatomy.program, anatomy.truth
    if program is None or truth is None:
        return NO_PAGES
    files, names, placed = program.index.files, short_names(truth), anatomy.by_lines()
    chosen = _chosen(program)
    tails = Tails({*program.entry.reach.files, *program.config_paths}, names)
    loaded = sorted(program.entry.reach.files, key=lambda path: (-program.weight(files[path].body), path))
    return Pages(
        program.entry.path,
        program.recipe or "",
        names,
        tuple(chain(_lists(truth, tails), _built(truth, tails), (_setting(truth, key) for key in truth.keys))),
        tuple(page for path in loaded for page in _pages(program, truth, path, chosen)),
        {one.path: one.reason for one in program.index.repository.skipped},
        tuple(_roles({**placed.parts, **placed.features})),
    )


def _roles(parts: Mapping[str, Part]) -> Iterator[Role]:
    for name, part in parts.items():
        for place in part.places[:MAX_ROLES]:
            yield Role(name, place.path, place.line, place.score)


def _setting(truth: Truth, key: Key) -> Setting:
    source = key.source
    last = source or (key.layers[-1] if key.layers else Layer("default", "", 0, ""))
    before = [one for one in key.layers if one is not last and one.certain and one.value != last.value]
    later = [one for one in key.layers if not one.certain and one is not last]
    changed = later[-1] if later else None
    when = f" when {clean(changed.when, 60)}" if changed is not None and changed.when else ""
    return Setting(
        key.name,
        clean(truth.worth(last), WIDTH),
        f"{last.path}:{last.line}" if last.path else "",
        is_set(key),
        clean(before[-1].value, 40) if before else "",
        f"{clean(changed.value, 40)} {changed.path}:{changed.line}{when}" if changed is not None else "",
        tuple(f"{use.path}:{use.line}" for use in key.reads[:MAX_READS] if key.name.rpartition(".")[2] not in TAGS),
        key.taker if key.uses == "given" else "",
        key.uses == "unread" or is_unseen(truth, key),
        is_of_others(truth, key) or is_of_strangers(truth, key),
        worth(key),
        clean(key.about, 100),
        is_off=is_switched_off(truth, key) or is_idle(truth, key),
        entry=entry_of(truth, key),
        is_left_out=truth.is_absent(key),
        instead=f"{key.instead[0].path}:{key.instead[0].line}" if key.instead is not None else "",
    )


MAX_READS = 3
LINE_WIDTH = 340  # characters of a list


def _lists(truth: Truth, tails: Tails) -> Iterator[Setting]:
    for one in pipelines(truth):
        line = one.line(truth, tails.of, LINE_WIDTH)
        yield _as_one(one.name, " ".join(one.names), line, any(map(is_set, one.items)))


def _built(truth: Truth, tails: Tails) -> Iterator[Setting]:
    for choice, line in all_built(truth, tails):
        yield _as_one(choice.key, choice.value, line, True)


def _as_one(name: str, value: str, line: str, is_given: bool) -> Setting:
    return Setting(name, value, "", is_given, "", "", (), "", False, False, 0.0, "", line)


def _chosen(program: Program) -> frozenset[str]:
    """path:name of the classes that the recipe names, and of those that they build on."""
    found = (choice.target for choice in program.choices if isinstance(choice.target, Class))
    return frozenset(f"{cls.path}:{cls.qualname}" for one in found for cls in program.index.lineage(one))


def _pages(program: Program, truth: Truth, path: str, chosen: frozenset[str]) -> Iterator[Page]:
    file = program.index.files[path]
    for function in dict.fromkeys((file.body, *file.functions.values())):
        is_class = is_class_body(file, function)
        reached = program.is_reached(function) or is_class or function is file.body
        plain = function.name == MODULE_BODY
        yield Page(
            path,
            "" if plain else function.qualname.removesuffix(".<class>"),
            function.line,
            file.lines if plain else function.end_line,
            is_class,
            reached,
            reached and is_open(function),
            f"{path}:{function.owner}" in chosen,
            0.0
            if is_class and file.classes.get(function.qualname.removesuffix(".<class>")) in truth.owners.strangers
            else program.weight(function) * (SUPPOSED if reached and is_supposed_to_run(program, function) else 1.0),
            heading(program, truth, function) if reached else "",
            off(program, truth, function, function.line) if reached and not is_class and not plain else "",
            tuple(dict.fromkeys(event.line for event in function.events)) if reached else (),
            tuple(_notes(program, truth, function)) if reached else (),
            tuple(dict.fromkeys(_calls(program, function))) if reached else (),
        )


SUPPOSED = 0.3  # of the weight, for a method that runs only if somebody who was not read asks an object for it


def is_supposed_to_run(program: Program, function: Function) -> bool:
    """No call was read that leads to it, where no framework may call it."""
    return program.training.framework is None and function.name != MODULE_BODY and function not in program.run


def _calls(program: Program, function: Function) -> Iterator[tuple[int, str, int]]:
    for edge in program.graph.edges(function):
        if edge.position >= 0 and edge.cost <= GUESS:
            yield function.events[edge.position].line, edge.target.path, edge.target.line


def _notes(program: Program, truth: Truth, function: Function) -> Iterator[Note]:
    """Of statements of which there is something to say."""
    arms: dict[tuple[Branch, ...], tuple[str, str]] = {}
    seen: set[int] = set()
    whole = defined_under(program, truth, function)
    for event in function.events:
        if event.line in seen:
            continue
        seen.add(event.line)
        if (branches := event.block.branches) not in arms:
            arms[branches] = untaken_by(truth, function, branches), undecided(truth, function, branches) or whole
        said, under = arms[branches]
        values = () if said else tuple(_values(program, truth, function, event))
        if said or values or under:
            yield Note(event.line, said, values, "" if said else under)


def _values(program: Program, truth: Truth, function: Function, event: Event) -> Iterator[tuple[str, str]]:
    for name, value in values_in(program, truth, function, event, event.line):
        yield clean(name, WIDTH), clean(value, 2 * WIDTH)
