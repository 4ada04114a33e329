"""What is told of a program before its way is traced: its settings, the classes that they choose, what they decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from trainsleuth.facts import Class, Function
from trainsleuth.facts.naming.names import Module

from ..calling.knowledge import Knowledge
from ..calling.optional_imports import left_out
from ..calling.values import Values
from ..configuration import defaults, keys_of_flags, offered
from ..configuration.forms.experiments import (
    added_settings,
    experiment_choices,
    experiment_configs,
    experiment_settings,
)
from ..configuration.forms.nested_classes import nested_settings
from ..configuration.forms.recipe_classes import chosen_settings, class_settings, recipe_class
from ..configuration.values.absent import absent
from ..configuration.values.left_empty import left_empty
from ..launching.command_words import words_behind
from ..launching.launch import Command, folder_of, that_counts
from ..launching.scripts import settings_in
from ..launching.subcommand import compared, parsed, plain_words, unasked
from ..naming.asked_by_constants import asked_by_constants
from ..naming.asked_by_library import asked_by_library
from ..naming.asked_in_chosen import asked_in_chosen
from ..naming.backends import for_other_libraries, of_the_program, of_torch
from ..naming.entry_points import by_entry_point
from ..naming.listed_registries import listed_in_files
from ..naming.named_choice import weighed, words_of
from ..naming.named_modules import named_modules, sure
from ..naming.named_outright import asked_in_code, named_outright
from ..naming.registered_beside import registered_beside
from ..naming.registered_labels import by_labels
from ..naming.registries import tables
from ..naming.tabled_modules import tabled_modules
from ..naming.tables import Table
from ..program import Program
from ..programs.entries import Entry
from .annotation_files import annotation_files
from .branches import known_settings
from .choices import choices, named_in_code
from .chosen import (
    called,
    configured,
    functions_looked_up,
    kinds_of,
    looked_up,
    not_chosen,
    picked,
    sections_with_classes,
    slots,
    tagged,
)
from .composition import Part, file_of
from .config_files import of_program, with_bases
from .defaulted_sections import over_defaults
from .given_parameters import with_parameters
from .given_sections import with_sections
from .handed_objects import handed_objects
from .hydra_main import removed_by
from .joined_files import joined_files
from .launch_objects import launch_preset
from .named_sections import passed_over, unnamed
from .presets import Preset, built_through, named_preset
from .recipes import CLASS_KEYS, Choice, Setting, settings
from .referenced_files import referenced_files
from .references import given_by_name, references
from .tabled_functions import picked_functions
from .tabled_sections import picked_sections
from .templated_files import templated_files
from .worked_out import with_worked_out

NAMED_DISTANCE = 8  # from the entry: further away, a class that is named by a string is none of its choices


class Told(NamedTuple):
    """`parts` are the files of the configuration, `settings` their values, `decided` those that decide branches: none
    where the caller names neither a recipe nor a command. `tables` are by the names in them, `words` those that the
    values and the command consist of, `weights` what these and parts of the recipe's name weigh when they tell code apart,
    `modules` what imports by a setting load, `unasked` what starts other subcommands than the one of the command.
    """

    parts: tuple[Part, ...]
    settings: tuple[Setting, ...]
    choices: tuple[Choice, ...]
    preset: Preset
    tables: Mapping[str, list[Table]]
    loaded: frozenset[str]
    decided: Mapping[str, str]
    modules: Mapping[tuple[str, int], tuple[Module, ...]]
    words: frozenset[str]
    weights: Mapping[str, float]
    passed: frozenset[Class]
    unasked: frozenset[Function]

    @property
    def is_telling(self) -> bool:
        """The program has to be traced anew by it."""
        return bool(
            self.decided or self.modules or self.unasked or any(choice.target is not None for choice in self.choices)
        )

    def held(self, before: Values) -> Values:
        """What names hold in the program that the settings choose."""
        index, chosen = before.index, self.choices
        left = not_chosen(index, chosen, chain.from_iterable(self.tables.values())) | self.passed
        left |= left_out(index, self.loaded & index.files.keys(), self.decided)
        built = (before.objects.built_by(one) for one in left if isinstance(one, Class))
        known = Knowledge(
            excluded=left | {one for one in built if isinstance(one, Class)},
            kinds={**slots(self.settings, chosen), **kinds_of(index, chosen), **tagged(self.settings, chosen)},
            configured=configured(self.settings, chosen),
            looked_up=looked_up(index, chosen),
            functions=functions_looked_up(chosen),
            called=called(chosen),
            loaded=self.loaded,
            modules=self.modules,
            narrowed=frozenset(one.target for one in chosen if isinstance(one.target, Class)),
            settings=self.decided,
            picked=picked(chosen),
            given=given_by_name(chosen),
            unasked=self.unasked,
        )
        return Values(index, known, self.preset.objects, before.detours)


def told_of(program: Program, recipe: str | None, launch: Command | None) -> Told:
    """`program` is known as far as its entry alone leads; `recipe` and `launch` are the caller's."""
    index, entry = program.index, program.entry
    is_told = recipe is not None or launch is not None
    read = _read(program, recipe, launch)
    weak, given = read.weak, read.given
    behind = words_behind(read.text)
    known = of_torch(index, tables(index, program.values))
    modules = named_modules(index, (*weak, *given, *read.commanded), entry.reach.distance, behind)
    named = [path for paths in sure(modules).values() for path in paths]
    loaded = program.graph.imports(read.started) | program.graph.imports(frozenset(named))
    asked = plain_words(behind)
    without = absent(index, entry.reach.distance, read.in_files).decided() if is_told else {}
    without = {**without, **compared(entry.reach.distance, asked), **parsed(entry.reach.distance, asked)}
    without = {_SAYS_IT_TRAINS: "true", **without} if entry.trains else without
    without = {**left_empty(program, entry.reach.distance), **without} if launch is not None else without
    decided = _deciding(without, weak, (*given, *read.commanded)) if is_told else {}
    chosen, passed = _chosen(program, read, known, loaded, named, decided)
    preset = named_preset(program.values, launch)
    if preset.objects is None:
        preset = read.constructed
    chosen = (*chosen, *built_through(program.values, chosen), *preset.choices, *experiment_choices(read.experiment))
    if more := (*preset.settings, *nested_settings(index, chosen), *chosen_settings(index, chosen)):
        given = (*given, *more)
        modules = named_modules(index, (*weak, *given, *read.commanded), entry.reach.distance, behind)
    loaded |= program.graph.imports(_named_in_full(chosen) - loaded)
    words = words_of((*(setting.value for setting in (*weak, *given)), read.text))
    if is_told:
        asked_of = (one.target for one in asked_by_library(index, loaded))
        reached = {*entry.reach.distance, *(one for one in asked_of if isinstance(one, Function))}
        decided = with_sections(program.graph, reached, _deciding(without, weak, (*given, *read.commanded)))
        decided = with_parameters(program.graph, reached, with_worked_out(index, reached, decided))
        modules = named_modules(index, (*weak, *given, *read.commanded), entry.reach.distance, behind, decided)
        loaded |= program.graph.imports(frozenset(path for paths in sure(modules).values() for path in paths))
    return Told(
        read.parts,
        given,
        chosen,
        preset,
        known,
        loaded,
        decided,
        modules,
        words,
        weighed(words, recipe, " ".join(behind)),
        frozenset((*passed.values(), *for_other_libraries(index))),
        unasked(program.values, entry.reach.distance, asked),
    )


_SAYS_IT_TRAINS = "isTrain"  # of the many that follow pix2pix: an attribute that the options of training set


class _Settings(NamedTuple):
    """What is written of a program: `weak` are the defaults of its code and what the command gives its options, with
    those of the caller's command alone in `commanded`; `in_files` what files set, `given` all that somebody set.
    `started` are the files that it begins with, `text` is the caller's command.
    """

    parts: tuple[Part, ...]
    constructed: Preset
    experiment: tuple[Function, ...]
    weak: tuple[Setting, ...]
    commanded: tuple[Setting, ...]
    in_files: tuple[Setting, ...]
    given: tuple[Setting, ...]
    started: frozenset[str]
    text: str


def _read(program: Program, recipe: str | None, launch: Command | None) -> _Settings:
    index, entry = program.index, program.entry
    parts = of_program(program.graph, entry.reach, entry.commands, recipe)
    is_told = recipe is not None or launch is not None
    itself = is_told and all(part.path == entry.path or (recipe is None and _is_data(part, launch)) for part in parts)
    constructed = launch_preset(program) if itself else Preset()
    if constructed.objects is not None:
        parts = ()  # the variables of a script that makes its settings are none, nor is the data that code reads
    files = (file_of(part.path) for part in parts)
    started = (*(root.path for root in entry.reach.roots), *(path for path in files if path in index.files))
    text = launch.text if launch is not None else ""
    experiment = experiment_configs(index, entry.reach.files, text)
    offers = tuple(offered(program))
    weak = tuple(defaults(program, offers, launch))
    in_files = tuple(settings(index, parts, removed_by(that_counts(entry.commands, recipe))))
    asked = tuple({one.key.replace("-", "_"): one for one in weak}.values())  # the command's own come last
    in_files = tuple(over_defaults(picked_sections(in_files, asked, entry.reach.distance), asked))
    said = " ".join((recipe or "", text, *(command.text for command in entry.commands)))
    about = {path for path in annotation_files(in_files) if path.rpartition("/")[2] not in said}
    parts = tuple(part for part in parts if part.path not in about)
    in_files = tuple(one for one in in_files if one.path not in about)
    if constructed.objects is None and (below := referenced_files(index, parts, in_files)):
        parts = (*parts, *below)
        in_files = (*in_files, *settings(index, below))
    if recipe is None and constructed.objects is None:
        known = {part.path for part in parts}
        own, home = {one.key: one.value for one in asked}, folder_of(launch) if launch is not None else "."
        folders = tuple(dict.fromkeys((home, ".", entry.path.rpartition("/")[0])))
        joined = dict(joined_files(index, entry.reach, own, folders))
        named = (*joined, *templated_files(index, entry.reach, (*asked, *in_files)))
        tabled = map(Part, tabled_modules(index, entry.reach.distance, own))
        more = (*(part for one in named for part in with_bases(index, one)), *tabled)
        made = tuple(part for part in dict.fromkeys(more) if part.path not in known)
        parts = (*parts, *made)
        in_files = (*in_files, *picked_sections(settings(index, made), asked, entry.reach.distance, joined))
    options = {one.key.rpartition(".")[2]: one.value for one in (*asked, *in_files)}
    made_by = picked_functions(index, program.function_tables, entry.reach.distance, options)
    keys = keys_of_flags(offers)
    in_files = (*in_files, *(one for one in made_by if one.key not in keys.values()))  # code hands on the option
    in_files = (*in_files, *handed_objects(index, entry.reach.distance, {one.key: one.value for one in asked}))
    in_class = class_settings(index, recipe_class(index, words_behind(text), entry.path))
    written = (one._replace(key=keys.get(one.key, one.key)) for one in settings_in(index, launch, entry.commands))
    added = added_settings(index, entry.reach.files, text)
    given = (*experiment_settings(experiment), *added, *in_class, *in_files, *written)
    commanded = tuple(one for one in weak if launch is not None and not one.path)
    return _Settings(parts, constructed, experiment, weak, commanded, in_files, given, frozenset(started), text)


def _named_in_full(chosen: Iterable[Choice]) -> frozenset[str]:
    """Files of classes that settings name with their modules, which importing the name loads: target: engine.Trainer"""
    return frozenset(one.target.path for one in chosen if isinstance(one.target, Class) and "." in one.value)


def _is_data(part: Part, launch: Command | None) -> bool:
    """A table that some code reads by its name, and that the command does not name: statistics of a data set."""
    return part.path.endswith(".json") and launch is not None and part.path.rpartition("/")[2] not in launch.text


def _chosen(
    program: Program,
    read: _Settings,
    known: Mapping[str, list[Table]],
    loaded: frozenset[str],
    named: Iterable[str],
    decided: Mapping[str, str],
) -> tuple[tuple[Choice, ...], Mapping[str, Class]]:
    """What the settings choose, and the sections that no setting in force names, each with its class."""
    index, entry = program.index, program.entry
    left = passed_over([(one.key, one.value) for one in (*read.weak, *read.given)], CLASS_KEYS)
    said = {one.key for one in (*read.commanded, *read.given)}  # a default chooses nothing beside it
    weak = [one for one in read.weak if not (one.path and one.key in said)]
    naming = [one for one in (*weak, *read.given) if not one.key.startswith(left)]
    chosen = tuple(of_the_program(choices(index, known, naming, loaded), known, entry.path, loaded))
    chosen = (*chosen, *named_in_code(index, (*_near(entry), *(index.files[path].body for path in named)), decided))
    chosen = (*chosen, *asked_by_constants(index, _near(entry), known, decided, chosen))
    worded = {one.key.rpartition(".")[2] for one in naming}  # what code falls back on where nobody says it
    in_code = [one for one in asked_in_code(index, _near(entry), chosen) if "_" not in one.key or one.key not in worded]
    chosen = (*chosen, *named_outright(index, (*naming, *in_code), chosen, loaded, known))
    chosen = (*chosen, *by_entry_point(index, naming, loaded), *registered_beside(index, program.values, naming))
    chosen = (*chosen, *listed_in_files(index, naming), *asked_by_library(index, loaded))
    in_force = {one.key: one for one in naming}.values()
    chosen = (*chosen, *by_labels(index, (*read.commanded, *read.given)))
    chosen = tuple(asked_in_chosen(chosen, known, frozenset(named)))
    passed = unnamed(index, dict(sections_with_classes(chosen)), (one.value for one in in_force))
    chosen = tuple(one for one in chosen if one.key.partition(".")[0] not in passed)
    return (*chosen, *references(index, in_force)), passed


def _deciding(without: Mapping[str, str], weak: Iterable[Setting], given: Iterable[Setting]) -> dict[str, str]:
    """Settings that decide, and what code takes for those that the recipe does not have. What a variable of the shell is
    to give, of which nothing is known, decides nothing.
    """
    known = {**without, **known_settings(weak, given)}
    return {name: value for name, value in known.items() if _UNKNOWN.fullmatch(value) is None}


_UNKNOWN = re.compile(r"\$\{?[A-Za-z_]\w*\}?")


def _near(entry: Entry) -> Iterator[Function]:
    for function, distance in entry.reach.distance.items():
        if distance <= NAMED_DISTANCE or function.path == entry.path:
            yield function
