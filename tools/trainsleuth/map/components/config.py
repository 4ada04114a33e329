"""Where the settings come from: parsers, dataclasses, files, recipes, overrides, in the order they apply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePosixPath

from trainsleuth.facts import Class, Expr, External, Function

from ..calling.annotations import named_types
from ..configuration.forms.fields import IS_SETTINGS, fields, made_tables
from ..launching.command_words import words_behind
from ..launching.launch import SHELL
from ..launching.scripts import assigned_for
from ..loop.networks import is_dataset
from ..naming.named_modules import given_files
from ..program import Program
from ..programs.running import executed
from ..recipe.config_objects import is_config
from ..recipe.config_store import stored_at
from ..recipe.parsed_classes import parsed_classes
from ..records import Place
from ..signs.derived_settings import derived
from ..signs.exported import exported_places
from ..signs.file_sections import TELLING, file_sections
from ..signs.hyperparameters import hyperparameters, of_tables
from ..signs.library_defaults import library_defaults
from ..signs.option_places import flags_of, given_to
from ..signs.preset_records import preset_records

_PARSERS = {
    "argparse.ArgumentParser": ("parser", 1.0),
    "ArgumentParser": ("parser", 0.9),
    "HfArgumentParser": ("parser", 1.0),
    "TrlParser": ("parser", 1.0),
    "tyro.cli": ("parser", 1.0),
    "fire.Fire": ("parser", 1.0),
    "typer.run": ("parser", 1.0),
    "jsonargparse.CLI": ("parser", 1.0),
    "jsonargparse.auto_cli": ("parser", 1.0),
    "simple_parsing.parse": ("parser", 0.95),
    "configargparse.ArgumentParser": ("parser", 1.0),
    "absl.app.run": ("parser", 0.7),
    "hydra.initialize": ("hydra", 0.8),
    "hydra.compose": ("hydra", 0.9),
    "OmegaConf.load": ("file", 0.95),
    "OmegaConf.merge": ("override", 0.9),
    "OmegaConf.from_cli": ("override", 0.9),
    "OmegaConf.structured": ("file", 0.8),
    "yaml.safe_load": ("file", 0.9),
    "yaml.load": ("file", 0.9),
    "json.load": ("file", 0.75),
    "json.loads": ("file", 0.75),
    "toml.load": ("file", 0.9),
    "tomllib.load": ("file", 0.9),
    "mmcv.Config.fromfile": ("file", 1.0),
    "mmengine.config.Config.fromfile": ("file", 1.0),
    "gin.parse_config_file": ("file", 1.0),
    "gin.parse_config_files_and_bindings": ("file", 1.0),
    "Config.fromfile": ("file", 0.9),
    "sacred.Experiment": ("experiment", 0.9),
    "LightningCLI": ("parser", 1.0),
    "TrainingArguments": ("arguments", 0.95),
    "Seq2SeqTrainingArguments": ("arguments", 0.95),
    "SFTConfig": ("arguments", 0.9),
}
_READER = re.compile(
    r"^(?!(?:get|make|setup|build|create)_\w+_from_(?:config|cfg|args|opts?|hparams)$)(?:get|parse|load|read|make|setup|build|create|update|merge)_?\w*(?:arg(?:ument)?s?|config\w*|cfg|opts?|options|hparams|hyperparams|parser|flags|hyper_?params|json|yaml|defaults)$|\w+_defaults$|^(?:from_args|AttrDict|HParams|ConfigParser|parse_args_into_dataclasses)$",
    re.I,
)
_ADDS = re.compile(r"^add_\w*(?:config|cfg|args|arguments|options|defaults)$")  # to the settings that it is handed
_OF_CLI = ("add_arguments_to_parser",)  # which a command line of a library calls
_OPTIONS = re.compile(
    r"^(?:get|parse|load|make)_(?:\w+_)?(?:args|config|cfg|options|hparams)(?:_from_\w+)?$"
)  # of a library
MIN_TABLE = 4  # settings
LEAST_CONSTANTS = 6  # of a file that is configured by them
MAX_TOLD = 3  # files whose sections are shown
_LITERALS = ("number", "string", "constant", "unary", "binary", "choice", "tuple", "list")
_CLASS = re.compile(r"(?:Args|Arguments|Config|Options|Hparams|HParams|Cfg|Settings|Configuration)$")


def places(program: Program) -> Iterator[Place]:
    for function, weight in program.functions():
        if _is_data(program, function) and not _options(function):
            continue
        weight *= 0.3 if _DATA_FOLDER.search(function.path) else 1.0
        if _READER.search(function.name) and not function.self_name:
            yield program.at(function, function.line, "reader", 0.8 * weight**0.5)
        elif function.name in _OF_CLI:
            yield program.at(function, function.line, "parser", 0.72 * weight**0.5)
        elif _ADDS.search(function.name) and not function.self_name:
            yield program.at(function, function.line, "reader", 0.66 * weight**0.5)
        yield from _read(program, function, weight)
        yield from _clicked(program, function, weight)
        for decorator in function.decorators:
            if decorator.last in ("hydra_main", "main") and program.full_name(
                function, (decorator.callee or decorator.text)
            ).startswith(("hydra", "dora")):
                yield program.at(function, decorator.line, "hydra", 1.0 * weight)
            elif _CONFIGURES.search(decorator.callee or decorator.text):
                yield program.at(function, decorator.line, "configured", 0.9 * weight)
    yield from exported_places(program)
    for path, line in stored_at(program.index, program.held_configs):
        yield Place(path, line, "stored", 0.66)
    yield from _classes(program)
    yield from _taken(program)
    yield from _tables(program)
    yield from _keywords(program)
    yield from _constants(program)
    yield from _experiment(program)
    for rank, (function, line, role) in enumerate(islice(derived(program), MOST_DERIVED)):
        score = 0.62 if role == "merged" else 0.48 - 0.01 * rank
        yield program.at(function, line, role, score * program.weight(function) ** 0.4)
    for init, event in hyperparameters(program):
        yield program.at(init, event.line, "hyperparameter", 0.64)
    for body, event in of_tables(program):
        yield program.at(body, event.line, "hyperparameter", 0.82)
    yield from _given_by_lines(program)
    named = _named(program)
    yield from preset_records(program)
    first = _first_of_hydra(program) if len(program.config_paths) > MAX_TOLD else frozenset()
    choosing = {one.path for one in program.choices if isinstance(one.target, Class)} if first else set()
    for rank, path in enumerate(program.config_paths):
        score = 1.0 if path == program.recipe else 0.97 if path in named | first else 0.9 - 0.03 * min(rank, 15)
        score = max(score, 0.86 - 0.01 * min(rank, 15)) if path in choosing else score
        yield Place(path, program.first_line(path), "file", score)
        if rank < MAX_TOLD or path in named | first or path == program.recipe:
            yield from file_sections(program, path, 0.62 * score)
    for choice in program.choices:
        if choice.path in named and choice.target is not None:
            yield Place(choice.path, choice.line, "chooses", 0.7)


def _given_by_lines(program: Program) -> Iterator[Place]:
    """Lines of the launch script, or of the README's command, that give an option."""
    written = [one for one in program.settings if one.path.endswith((*SHELL, ".md", ".rst"))]
    given = given_to(program) if written else frozenset()  # those of its launcher are none
    lines = dict.fromkeys((one.path, one.line) for one in written if one.key in given)
    for command in program.entry.commands[:1] if given else ():
        if command.script:
            lines.update(dict.fromkeys((command.script, line) for line in assigned_for(program.index, command)))
    for rank, (path, line) in enumerate(islice(lines, MAX_LINES)):
        yield Place(path, line, "given", 0.62 - 0.02 * rank)


MAX_LINES = 12
MOST_DERIVED = 10  # settings that code works out


def _named(program: Program) -> frozenset[str]:
    """Of many files of a composed configuration those that the command names, and the last, which names them all."""
    text = program.entry.commands[0].text if program.told and program.entry.commands else ""
    words = {word.rpartition("/")[2] for word in re.split(r"[=\s,]+", text)}
    paths = program.config_paths if len(program.config_paths) > MAX_TOLD else ()
    named = {path for path in paths if PurePosixPath(path).stem in words}
    return frozenset((*named, paths[-1])) if named else frozenset()


def _first_of_hydra(program: Program) -> frozenset[str]:
    """The file that the decorator of a main names, of which all others are parts."""
    decorators = (one for function in program.entry.reach.roots for one in function.decorators)
    near = (one for function in program.training.spine[:MAX_FRAME] for one in function.decorators)
    names = [name for one in (*decorators, *near) if (name := one.keyword("config_name")) is not None]
    stems = {PurePosixPath(one.text).stem for one in names if one.kind == "string"}
    fits = [path for path in program.config_paths if PurePosixPath(path).stem in stems]
    return frozenset(sorted(fits, key=lambda one: one.count("/"))[:1])


_CONFIGURES = re.compile(r"hydra|pyrallis|argbind|draccus|tyro|gin\.|(?:^|[_.])config(?:_|$)")
_DATA_FOLDER = re.compile(r"(?:^|/)(?:data|datasets?)/", re.I)


def _is_data(program: Program, function: Function) -> bool:
    """Inside of a data set, what is read is data."""
    owner = program.index.class_of(function)
    return owner is not None and is_dataset(program.index, owner)


def _options(function: Function) -> list[Expr]:
    return [call for event in function.events for call in event.calls if call.last == "add_argument"]


_TELLING = re.compile(
    r"^(?:(?:base_)?lr|learning_rate|(?:mini)?_?batch_?size|(?:num_|n_|max_)?(?:epochs?|steps|iters?)|model|arch|dataset|optimizer|optim|loss|method|"
    r"algo|seed)$",
    re.I,
)
MAX_TELLING = 5  # of many options those that a reader asks for first
MAX_GIVEN = 5  # options of the command whose lines are told


def _clicked(program: Program, function: Function, weight: float) -> Iterator[Place]:
    """Options that decorators give a command: the first, the last, one in between, and those of the caller's command."""
    options = [
        one for one in function.decorators if one.last in ("option", "argument") and "click" in (one.callee or "")
    ]
    if not options:
        return
    for share, rank in ((0.5, 0), (0.4, len(options) // 2), (0.45, -1)):
        yield program.at(function, options[rank].line, "option", share * weight)
    yield from _of_the_command(program, function, weight, options)


def _of_the_command(program: Program, function: Function, weight: float, options: Iterable[Expr]) -> Iterator[Place]:
    names = given_to(program)
    given = (one for one in options if not names.isdisjoint(flags_of(one)))
    for rank, one in enumerate(islice(given, MAX_GIVEN)):
        yield program.at(function, one.line, "option of the command", (0.64 - 0.02 * rank) * weight**0.4)


_SAVES = re.compile(
    r"^(?:save|dump|write|log)_(?:configs?|cfg|args|opts?|options|hparams|hyper_?params?|settings)(?:_(?:file|to_\w+|as_\w+))?$"
)
_WRITES = ("OmegaConf.save", "yaml.dump", "yaml.safe_dump", "json.dump")
_HOLDS = re.compile(r"(?:^|[._])(?:config|configs|cfg|args|opt|opts|hparams|options|settings)$")


def _is_saved(call: Expr) -> bool:
    """The settings of the run are written down: OmegaConf.save(config, path)."""
    if _SAVES.match(call.last):
        return True
    first = next(iter(call.arguments), None)
    return call.callee in _WRITES and first is not None and any(_HOLDS.search(one.text) for one in first.walk())


def _read(program: Program, function: Function, weight: float) -> Iterator[Place]:
    options = _options(function)
    if options and function.name != "<module>":
        yield program.at(function, function.line, "options", 0.7 * weight**0.4)
        if (owner := program.index.class_of(function)) is not None:
            yield program.at_target(owner, "options", 0.68 * weight**0.4)
    if options:
        yield program.at(function, options[0].line, "first option", 0.8 * weight**0.4)
        yield from _of_the_command(program, function, weight, options)
        if len(options) > 8:
            telling = (call for call in options if any(map(_TELLING.match, flags_of(call))))
            for rank, call in enumerate(islice(telling, MAX_TELLING)):
                yield program.at(function, call.line, "option", (0.55 - 0.02 * rank) * weight**0.4)
            yield program.at(function, options[len(options) // 2].line, "option", 0.4 * weight**0.4)
            yield program.at(function, options[-1].line, "last option", 0.45 * weight**0.4)
    flags = [call for event in function.events for call in event.calls if call.last.startswith("DEFINE_")]
    if flags:
        yield program.at(function, flags[0].line, "first option", 0.9 * weight**0.4)
    for event in function.events:
        for call in event.calls:
            role, score = _role(program, function, call)
            if role:
                yield program.at(function, call.line, role, score * weight**0.4)
            elif _is_saved(call):
                yield program.at(function, call.line, "saved", 0.6 * weight**0.4)
            if role == "parser":
                for cls in parsed_classes(program.index, function, call):
                    yield program.at_target(cls, "parsed", 0.95 * weight**0.4)
            if call.last in ("Fire", "cli", "run", "CLI", "auto_cli") and role == "parser":
                for part in call.parts[1:]:
                    target = program.index.resolve(function, part.text) if part.kind == "path" else None
                    if isinstance(target, Function):
                        yield program.at(target, target.line, "options", 0.95)
            if role == "executed file":
                for body in executed(program.index, function, call):
                    yield program.at(body, body.events[0].line if body.events else 1, "executed file", 0.95)


def _role(program: Program, function: Function, call: Expr) -> tuple[str, float]:
    last = call.last
    if last in ("parse_args", "parse_known_args", "parse_args_into_dataclasses", "parse_args_and_arch"):
        return "parsed", 0.9
    if last == "exec" and "open" in str(call.parts[1:]):
        return "executed file", 1.0
    for target in program.graph.targets(function, call):
        if isinstance(target, External):
            for name, found in _PARSERS.items():
                if target.name == name or target.name.endswith("." + name):
                    return found
            if _OPTIONS.match(last):
                return "reader call", 0.8
        elif isinstance(target, Function) and _READER.search(last):
            return "reader call", 0.8
        elif isinstance(target, Class) and _is_parser(program, target):
            return "parser", 1.0
        elif isinstance(target, Class) and any(one.endswith("CLI") for one in program.index.external_bases(target)):
            return "parser", 0.8
        elif isinstance(target, Class) and (_CLASS.search(target.name) or _READER.search(last)):
            return "built", 0.75
    return ("reader call", 0.7) if last == "from_args" else ("", 0.0)


def _is_parser(program: Program, cls: Class) -> bool:
    """A class of the project that derives from a library's parser."""
    return any(base.endswith("ArgumentParser") for base in program.index.external_bases(cls))


def _tables(program: Program) -> Iterator[Place]:
    """Where a table of settings begins: a class, nodes of a tree, a dictionary."""
    groups: dict[tuple[str, str], list[int]] = {}
    for one in fields(program):
        if one.group != "constant":
            groups.setdefault((one.path, one.group), []).append(one.line)
    for (path, group), lines in groups.items():
        if len(lines) >= MIN_TABLE:
            file = program.index.files[path]
            cls = file.classes.get(group)
            near = max(program.weight(cls.body if cls is not None else file.body), min(0.9, 0.4 + len(lines) / 100))
            yield Place(path, cls.line if cls is not None else min(lines), "table", 0.84 * near)


def _classes(program: Program) -> Iterator[Place]:
    for path in program.entry.reach.files:
        for cls in program.index.files[path].classes.values():
            marked = any(decorator.last in ("dataclass", "define", "attrs") for decorator in cls.decorators)
            if _CLASS.search(cls.name) and (marked or not cls.methods):
                yield program.at(cls.body, cls.line, "class", 0.85 * max(0.4, program.weight(cls.body)))
            elif cls.name == "Args" or (marked and path == program.entry.path):
                yield program.at(cls.body, cls.line, "class", 0.8)


def _taken(program: Program) -> Iterator[Place]:
    """The class of the configuration that the frame of the program is handed, and those that the settings choose."""
    top = program.values.objects.top
    if top is not None:
        yield program.at_target(top, "class", 0.88)
    for made in made_tables(program):
        yield from (program.at_target(base, "class", 0.9) for base in program.index.lineage(made))
    for choice in program.choices:
        if isinstance(choice.target, Class) and is_config(choice.target):
            yield program.at_target(choice.target, "class", 0.8)
        elif isinstance(choice.target, Class) and any(map(is_config, program.index.lineage(choice.target))):
            yield program.at_target(choice.target, "recipe", 0.95)
        elif choice.key in ("preset", "experiment", "_target_"):
            yield Place(choice.path, choice.line, "recipe", 0.95)
    for function in program.training.spine[:MAX_FRAME]:
        for parameter in function.parameters:
            found = named_types(program.index, function, parameter.annotation) if parameter.annotation else ()
            for cls in found:
                if isinstance(cls, Class) and is_config(cls):
                    yield program.at_target(cls, "class", 0.9)
                    yield from (program.at(function, one.line, "configured", 0.85) for one in function.decorators)


MAX_FRAME = 8  # functions


def _experiment(program: Program) -> Iterator[Place]:
    """The file that the command hands to the program and that it imports: train.py -f experiments/small.py."""
    text = program.entry.commands[0].text if program.told and program.entry.commands else ""
    for module in given_files(program.index, words_behind(text)):
        file = program.index.files[module.path]
        if module.path in program.entry.reach.files:
            last = max((cls.line for cls in file.classes.values()), default=0)  # behind what it is made of
            yield Place(module.path, last or next((event.line for event in file.body.events), 1), "recipe", 0.95)


def _keywords(program: Program) -> Iterator[Place]:
    """Settings as keywords of one call at the start: Trainer(model, lr=..., steps=..., ...)."""
    root = program.entry.root
    for event in root.events:
        for call in event.calls:
            given = [part for part in call.parts[1:] if part.kind == "keyword" and part.parts[0].kind in _LITERALS]
            if len(given) >= 3:
                yield program.at(root, call.line, "arguments", 0.7)
                for target in program.graph.targets(root, call):
                    if isinstance(target, Class) and (made := program.index.method(target, "__init__")) is not None:
                        yield program.at(made, made.line, "defaults", 0.65)
            yield from library_defaults(program, call)


def _constants(program: Program) -> Iterator[Place]:
    """Settings as plain assignments at the top of the entry file, and of a file of settings that it imports."""
    yield from _assigned(program, program.entry.root, 1.0)
    loaded = (path for path in program.entry.reach.files if IS_SETTINGS.search(path) and path != program.entry.path)
    near = sorted(loaded, key=lambda path: (-program.weight(program.index.files[path].body), path))
    for path in near[:MAX_TOLD]:
        yield from _assigned(program, program.index.files[path].body, 0.95)


def _assigned(program: Program, root: Function, share: float) -> Iterator[Place]:
    names = [
        event
        for event in root.events
        if event.kind == "assign"
        and event.value is not None
        and event.value.kind in _LITERALS
        and not event.block.loops
        and all(
            target.kind == "path" and "." not in target.text and not target.text.startswith("_")
            for target in event.targets
        )
    ]
    if len(names) >= LEAST_CONSTANTS:
        yield program.at(root, names[0].line, "first constant", 0.85 * share)
        for part in (0.33, 0.66):
            yield program.at(root, names[int(len(names) * part)].line, "constant", 0.7 * share)
        yield program.at(root, names[-1].line, "last constant", 0.4 * share)
        for event in names:
            if any(TELLING.match(target.text) or _RATE.match(target.text) for target in event.targets):
                yield program.at(root, event.line, "constant", 0.68 * share)

    elif names and program.training.step is not None and program.training.step.path == root.path:
        yield program.at(root, names[0].line, "constant", 0.4)


_RATE = re.compile(r"\w+_(?:lr|learning_rate|batch_size|epochs)$", re.I)  # of one of several stages
