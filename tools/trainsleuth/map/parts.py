"""The parts of a program with their status, and what the header says about the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from trainsleuth.facts import Class, Index, other_library
from trainsleuth.repository import is_python, is_source

from .components import places_of
from .components.evaluation import DRAW, HELD_OUT, NO_GRADIENTS
from .configuration import Truth, truth_of
from .configuration.forms.literals import plain
from .configuration.use.picked_in_code import picked_in_code
from .configuration.use.unread import unread
from .drawing.source_text import lines_of as lines_of
from .drawing.source_text import source_lines as source_lines
from .drawing.wording import clean as clean
from .launching.launch import Command, that_counts
from .launching.misspelled import settings_as_they_are
from .launching.usage import usage
from .loop.features import FEATURES, features
from .loop.own_runners import overrides_loop
from .loop.traps import traps
from .naming.namespaces import is_of_something_else
from .naming.tables import Table
from .program import Program
from .programs.absent_submodules import absent_submodules
from .programs.siblings import groups
from .programs.sidelines import NEVER
from .programs.standing import chosen_first
from .programs.supposed import is_supposed, supposed_last
from .programs.uncalled import uncalled
from .programs.unreached import trained_elsewhere
from .recipe.choices import moved, selecting
from .recipe.config_files import is_of_saved_model
from .recipe.hydra_main import not_found
from .records import COMPONENTS, FILLING, Part, Place
from .signs.arguments import argument_places
from .signs.bound import bound_places, section_places, setting_places
from .signs.definitions import definitions
from .signs.filling import beside, within
from .signs.mentions import mentions
from .signs.option_places import option_places
from .signs.plugin_places import plugin_places
from .signs.shared import with_shared

MAX_PROGRAMS = 14
MAX_ALIKE = 2  # near copies of a program that are named beside it
MIN_PLACES = 24


@dataclass(frozen=True)
class Anatomy:
    """All that is known of one program, before anything is cut to a budget."""

    index: Index
    program: Program | None
    framework: str
    trains: bool
    parts: Mapping[str, Part]
    features: Mapping[str, Part]
    programs: tuple[str, ...]
    recipes: tuple[str, ...]
    traps: tuple[str, ...]
    unresolved: tuple[str, ...]
    recipe: str | None
    truth: Truth | None = None
    scope: str | None = None  # the file or folder that was asked for
    is_readable: bool = True  # not the code of another library

    def by_lines(self) -> Anatomy:
        """The places of a notebook by their lines among all its cells, as its functions count them."""
        parts, features = (
            {name: replace(part, places=tuple(map(self._by_line, part.places))) for name, part in each.items()}
            for each in (self.parts, self.features)
        )
        return replace(self, parts=parts, features=features)

    def _by_line(self, place: Place) -> Place:
        file = self.index.files.get(place.path)
        if place.cell is None or file is None:
            return place
        first = next((first for first, number in file.cells if number == place.cell), 1)
        return place._replace(line=first + place.line - 1, cell=None)


def parts_of(
    index: Index,
    program: Program | None,
    scope: str | None,
    recipe: str | None,
    budget: int,
    launch: Command | None = None,
) -> Anatomy:
    """All parts, with as many places as `budget` tokens could ever show."""
    limit = max(MIN_PLACES, budget // 20)
    library = other_library(index)
    if library or program is None:
        return _nothing(index, program, library)
    trains = program.entry.trains
    parts = {name: _part(program, name, trains) for name in COMPONENTS}
    truth = truth_of(program, launch)
    parts = with_shared(program, truth, parts)
    is_told = recipe is not None or launch is not None
    parts = {name: chosen_first(program, truth, part, limit, is_told) for name, part in parts.items()}
    found = features(program, truth) if trains else {name: Part("absent", "nothing is trained") for name in FEATURES}
    return Anatomy(
        index,
        program,
        _framework_name(program),
        trains,
        {name: _with_text(index, part, limit) for name, part in parts.items()},
        {name: _with_text(index, part, limit) for name, part in found.items()},
        tuple(_programs(program)) if scope is None else (),
        tuple(_recipes(program)) if recipe is None else (),
        tuple(traps(program)) if trains else (),
        (
            *_of_command(program, scope, launch),
            *absent_submodules(program),
            *dict.fromkeys(_unresolved(program, truth)),
        ),
        recipe,
        truth,
        scope,
    )


def _nothing(index: Index, program: Program | None, library: str) -> Anatomy:
    """No Python at all, or code of another library: said, and no part is claimed."""
    part = Part("absent", f"{library} code; this map reads PyTorch" if library else "no Python program was found")
    if not library and any(is_source(one.path) for one in index.repository.skipped):
        part = Part("unresolved", "no program was found in what could be read")
    return Anatomy(
        index,
        program,
        library or "none",
        False,
        dict.fromkeys(COMPONENTS, part),
        dict.fromkeys(FEATURES, part),
        (),
        (),
        (),
        tuple(_left_out(index)) if part.status == "unresolved" else (),
        None,
        is_readable=not library,
    )


def _framework_name(program: Program) -> str:
    if program.training.framework is not None:
        return program.training.framework.name
    accelerate = any(program.is_reached(site.function) for site, _ in program.calls("Accelerator"))
    return "PyTorch with accelerate" if accelerate else "PyTorch"


_ALWAYS_THERE = ("data", "model", "loss", "optimizer_scheduler", "training_loop")
_MAY_LACK = ("checkpointing", "evaluation")  # what the objects of many libraries offer and few programs ask for
_TRAINING_ONLY = ("loss", "optimizer_scheduler", "training_loop", "logging")


def _part(program: Program, name: str, trains: bool) -> Part:
    if not trains and name in _TRAINING_ONLY:
        return _untrained(program)
    places = tuple(_followed(program, name, _running(program, name)))
    framework = program.training.framework
    if framework is not None and name == "training_loop" and not overrides_loop(program):
        return Part("elsewhere", f"inside {framework.name}; these are the hand-over and the hooks", places)
    if places and program.assumed and name in _TRAINING_ONLY:
        said = uncalled(program.index, program.assumed) or "how it is reached was not read"
        return Part("unresolved", f"taken for that of this program; {said}", places)
    strong = (place for place in places if place.role not in FILLING)
    own = tuple(place for place in strong if name != "evaluation" or _is_own(program, place))
    if places and trains and not own:
        if program.plugin is not None:  # the library evaluates
            return Part("elsewhere", f"inside {program.plugin.framework.name}; the repository defines no hook for it")
        return Part("elsewhere", "only in programs of their own: this one is not seen to evaluate", places)
    if places and name in _MAY_LACK and is_supposed(program, own):
        return Part("unresolved", "only methods of that name are there: no call is seen to lead to them", places)
    if places:
        return Part("found", "", places)
    if framework is not None and name in framework.holds:
        return Part("elsewhere", f"inside {framework.name}; the repository defines no hook for it")
    if trains and name in _ALWAYS_THERE:
        return Part("unresolved", "it must be there, but nothing that the entry is seen to reach looks like it")
    return Part("absent", "no sign of it in the files that the entry reaches")


def _untrained(program: Program) -> Part:
    other = trained_elsewhere(program)
    if other is None:
        return Part("absent", "nothing here trains: no backward() and no call of a trainer in any program")
    place = f"{other.path}:{other.line}"
    if other not in program.signs and other not in program.handed:
        step = "is a step for a trainer of a library, and no call of one is seen"
        return Part("unresolved", f"this program is not seen to train; {place} {step}")
    return Part("unresolved", f"this program is not seen to train; {place} does, which it is not seen to reach")


def _is_own(program: Program, place: Place) -> bool:
    """Of the program itself, and more than a name that is bound to something or gradients that are off."""
    return place.role not in _SAY_LITTLE and program.is_loaded(place.path)


_SAY_LITTLE = ("bound", "mention", "program", "option", HELD_OUT, NO_GRADIENTS, DRAW)


def _running(program: Program, name: str) -> Iterator[Place]:
    """Places of one component, without what runs only when another program is started."""
    strong = False
    by_name = chain(bound_places(program, name), section_places(program, name), setting_places(program, name))
    own = chain(places_of(name)(program), plugin_places(program, name), argument_places(program, name))
    by_name = chain(by_name, option_places(program, name))
    for place in chain(own, by_name):
        if place.path and (name == "evaluation" or not program.never_runs(place.path, place.line)):
            strong = True
            yield place  # a choice of the command line has no file
    yield from mentions(program, name) if strong else ()


def _followed(program: Program, name: str, places: Iterator[Place]) -> Iterator[Place]:
    """The best places, with the definitions of what they call, and what fills the room that is left."""
    found = list(_best(supposed_last(program, places)))
    filling = chain(beside(program, name, found), within(program, name, found))
    runs = (place for place in filling if not program.never_runs(place.path, place.line))
    yield from _best(chain(found, definitions(program, name, found), runs))


def _best(places: Iterator[Place]) -> Iterator[Place]:
    """Each line once, with its strongest role, best first."""
    kept: dict[tuple[str, int], Place] = {}
    for place in places:
        key = (place.path, place.line)
        if key not in kept or kept[key].score < place.score:
            kept[key] = place
    yield from sorted(kept.values(), key=lambda p: (-p.score, p.path, p.line))


def _with_text(index: Index, part: Part, limit: int) -> Part:
    texts: dict[str, list[str]] = {}
    return replace(part, places=tuple(_read(index, place, texts) for place in part.places[:limit]))


def _read(index: Index, place: Place, texts: dict[str, list[str]]) -> Place:
    """The place with its line of source; one of a notebook with its cell."""
    if place.path not in texts:
        texts[place.path] = source_lines(index, place.path)
    lines = texts[place.path]
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    file = index.files.get(place.path)
    cell = file.cell(place.line) if file is not None and file.cells else None
    if cell is not None:
        return place._replace(text=clean(text), line=cell[1], cell=cell[0])
    return place._replace(text=clean(text))


def _programs(program: Program) -> Iterator[str]:
    """Training programs besides the one that is mapped, near copies in one line."""
    judged = {entry.path: entry.trains for entry in program.entries}
    direct = {function.path for function, found in program.signs.items() if any(s.role == "backward" for s in found)}
    direct |= {function.path for function in program.handed}
    every = [*judged, *(path for path in program.started if path not in judged and not NEVER.search(path))]
    training = [
        path for path in every if is_python(path) and _may_train(program, path, judged.get(path, path in direct))
    ]
    together = groups(program.index, training)
    if len(training) < 2:
        return
    for group in together[:MAX_PROGRAMS]:
        yield group[0] + (f" (of the same shape: {_counted(group[1:])})" if len(group) > 1 else "")
    if len(together) > MAX_PROGRAMS:
        yield f"{len(together) - MAX_PROGRAMS} more"


def _may_train(program: Program, path: str, reaches: bool) -> bool:
    """It is seen to reach training, or is called after it; not what is called after another deed."""
    name = path.rpartition("/")[2]
    is_named = _NAMED.search(name) is not None and _OF_DATA.search(name) is None
    return path == program.entry.path or (not _OTHER_DEED.match(name) and (reaches or is_named))


_NAMED = re.compile(r"(?:^|[_-])(?:pre-?)?train(?:ing)?(?:[_.-]|$)|fine-?tun", re.I)
_OF_DATA = re.compile(
    r"(?:^|[_-])(?:data\w*|eval\w*|infer\w*|test|create|make|prepare|split|utils?|helpers?|logs?|plot)(?:[_.-]|$)", re.I
)
_OTHER_DEED = re.compile(
    r"(?:eval|predict|test|infer|demo|generat|sampl|export|convert|visuali[sz]|interactive|submit)", re.I
)


def _counted(paths: list[str]) -> str:
    more = f" and {len(paths) - MAX_ALIKE} more" if len(paths) > MAX_ALIKE else ""
    return ", ".join(paths[:MAX_ALIKE]) + more


def _recipes(program: Program) -> Iterator[str]:
    """Configuration files that choose among the classes of the project, besides those that are read anyway."""
    known: dict[str, list[Table]] = {}
    for table in program.tables:
        for name in table.entries:
            known.setdefault(name, []).append(table)
    found = [path for path in selecting(program.index, known) if path not in program.config_paths]
    yield from (path for path in found if program.entry.trains and not is_of_saved_model(program.index, path))


OF_COMMAND = "the command "  # what is said of it begins so
OF_CONFIGURATION = "the configuration "
MAX_LOST = 3


def _of_command(program: Program, scope: str | None, launch: Command | None) -> Iterator[str]:
    """What it names and nobody found."""
    if launch is not None and not launch.target and scope is None:
        yield f"{OF_COMMAND}starts no program that is found from the root: {program.entry.path} is taken, name another one with --scope"
    for one in unread(program):
        yield f"{OF_COMMAND}says {one}, and no configuration so called is seen to be read: values are defaults"
    command = that_counts(program.entry.commands, program.recipe)
    yield from settings_as_they_are(program.config_paths, command.text) if command is not None else ()
    for path, option in not_found(program.index, program.entry.reach, command, program.recipe)[:MAX_LOST]:
        yield f"{OF_CONFIGURATION}builds on {option}, named in {path} and not found: what it sets is not told"


def _is_worth_a_number(program: Program, table: Table) -> bool:
    """Nothing is picked by the text of a number, where none is called so: eval(config["weight_decay"])"""
    last = table.key.rpartition(".")[2]
    values = [one.value for one in program.settings if last and one.key.rpartition(".")[2] == last]
    return bool(values) and all(isinstance(plain(one), float) and one not in table.entries for one in values)


def _unresolved(program: Program, truth: Truth) -> Iterator[str]:
    looked_up = {site for choice in program.choices for site in choice.sites}
    chosen = [choice for choice in program.choices if choice.target is not None]
    for table in program.tables:
        if table.site is None or table.site in looked_up or len(table.entries) < 2:
            continue
        entries = set(table.entries.values())
        if any(one.key == table.key or (_ends(one.key, table.key) and one.target in entries) for one in chosen):
            continue
        function, line = table.site
        if (
            program.is_reached(function)
            and program.entry.trains
            and not is_of_something_else(function, line)
            and not _is_worth_a_number(program, table)
            and any(isinstance(o, Class) for o in table.entries.values())
            and not any(picked_in_code(truth, key) for key in truth.named(table.key.rpartition(".")[2]))
        ):
            yield f"{function.path}:{line} picks one of {len(table.entries)}{_by(table.key)}; no value of it was read"
    for choice in program.choices:
        if not isinstance(choice.target, Class) or choice.table is not None:
            continue  # a package may hand on a method when it is asked
        if moved(program.index, choice.value) is choice.target:
            at = f"{choice.target.path}:{choice.target.line}"
            yield f"{choice.path}:{choice.line} names {choice.value}, which is not there; {at} is taken for it"
    yield from _other_examples(program)
    yield from _left_out(program.index)


def _ends(key: str, last: str) -> bool:
    """network_g.type is a "type"."""
    return key.rpartition(".")[2] == last


def _other_examples(program: Program) -> Iterator[str]:
    """Of a README that is the program: its other blocks of code that train, which are programs of their own."""
    path = program.entry.path
    lines = () if is_python(path) else usage(program.index.repository.read(path) or "")[1]
    if lines:
        yield f"{path} has other examples that train, left out: line {', '.join(map(str, lines[:MAX_LOST]))}"


def _left_out(index: Index) -> Iterator[str]:
    yield from (f"{one.path}: {one.reason}" for one in index.repository.skipped[:3])


def _by(key: str) -> str:
    return f" by {key!r}" if key else ""
