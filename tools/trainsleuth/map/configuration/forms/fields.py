"""Settings that are fields: of dataclasses and plain classes, of tables, and constants at the top of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from trainsleuth.facts import Class, Event, Expr, FileFacts, Function, bindings
from trainsleuth.facts.reading.scopes import Binding

from ...loop.networks import is_dataset, is_network
from ...program import Program
from ...recipe.composition import HELD
from ...recipe.config_store import stored
from ..records import REQUIRED, Definition
from ..use.in_use import is_in_use
from .literals import flat, is_literal, is_table, text_of
from .options import parameters
from .own_attributes import own_attributes
from .own_options import offering
from .parsed import filled, is_of_framework, is_told_with
from .python_files import is_settings

MIN_ATTRIBUTES = 6  # literals that a constructor sets before its class counts as a table of settings
MIN_CONSTANTS = 4
MIN_NAMES = 2  # texts that are called what they say
_CLASS = re.compile(
    r"(?:^Args|Args|Arguments?|Config\w*|Options|Hparams|HParams|Hypers|Cfg|Settings|Configuration|Exp|Params|Hyperparameters)$"
)
_TABLE = re.compile(r"(?:^|[_.])(?:configs?|cfg|hparams|params|args|options?|opts?|defaults?|hp|conf|settings?|hyper\w*)$", re.I)  # fmt: skip
_NODE = re.compile(r"^(?:_C|__C|_CFG|cfg|_cfg|config|C|conf)\.[A-Za-z_][\w.]*$")
_MAKES = re.compile(r"config|cfg|default|hparams|opts?$|args$", re.I)
IS_SETTINGS = re.compile(
    r"(?:^|/)(?:config|configs|settings|hparams|hyperparams|options|constants|params|opts)\.py$", re.I
)
_FIELD = ("field", "Field", "MISSING")
_OPEN = ("None", "[]", "{}", "()", "")  # to be filled in later


def fields(program: Program, named: Iterable[Class] = ()) -> Iterator[Definition]:
    """Every field of the classes that its parser fills and of those that are `named`, then those in files of the
    program, its entry first.
    """
    parsed = filled(program)
    made = tuple(made_tables(program))
    ours = (*named, *made)
    kin = (one for cls in made for one in program.index.subclasses(program.index.lineage(cls)[-1]))
    names = {cls.name for cls in (*ours, *_in_store(program), *kin)}
    names |= {base.name for cls in made for base in program.index.lineage(cls)}
    offered = offering(program.index)
    yield from _of_lineages(program, (*parsed, *ours))
    files = sorted(program.entry.reach.files, key=lambda path: (path != program.entry.path, path))
    for path in files:
        file = program.index.files[path]
        if path != program.entry.path and _is_other_recipe(program, file):
            continue
        for cls in file.classes.values():
            if cls.name in names or cls in offered:  # told above or as options, or a namesake for another choice
                continue
            if is_settings_class(program, cls) and not is_told_with(program, cls, parsed):
                above = {name for base in program.index.lineage(cls)[1:] for name in _names(base)}
                yield from (one._replace(certain=one.name not in above) for one in of_class(cls))
        yield from _nodes(file.body)
        for function in file.functions.values():
            if program.is_reached(function) and function not in program.left_aside:
                if _MAKES.search(function.name):
                    yield from _nodes(function)
                if function is not file.body or not program.told or is_in_use(program, file):
                    yield from _tables(function)
        if path == program.entry.path or IS_SETTINGS.search(path):
            yield from _constants(file.body)


def made_tables(program: Program) -> Iterator[Class]:
    """Classes that are tables, class Small(Config): WIDTH = 4, of which the program makes one alone of its kin: Small()."""
    index, kin = program.index, dict[Class, set[Class]]()
    for called in program.reached_calls:
        for cls in (one for one in called.targets if isinstance(one, Class)):
            if any(map(_is_table, lineage := index.lineage(cls))) and is_settings_class(program, cls):
                kin.setdefault(lineage[-1], set()).add(cls)
    yield from (cls for several in kin.values() if len(several) == 1 for cls in several)


def _in_store(program: Program) -> Iterator[Class]:
    """Classes of the ConfigStore, with their bases, where the run takes some: what they set is among its settings."""
    stores = stored(program.index, program.entry.path).values()
    told = {(one.path, one.line) for one in program.settings}
    held = (one.path.partition(HELD) for one in stores)
    found = [cls for path, _, name in held if (cls := program.index.files[path].classes.get(name)) is not None]
    if any((cls.path, event.line) in told for cls in found for event in cls.body.events):
        yield from (base for cls in found for base in program.index.lineage(cls))


def _is_other_recipe(program: Program, file: FileFacts) -> bool:
    """Settings in Python that the program loads, but not for this run, whose recipe is written in Python too."""
    chosen = program.config_paths if program.told else ()
    return file.path not in chosen and any(one.endswith(".py") for one in chosen) and is_settings(file.path, file)


def is_settings_class(program: Program, cls: Class) -> bool:
    """A class that is there to hold settings: by its name, or by a constructor full of literals."""
    if is_network(program.index, cls) or is_dataset(program.index, cls) or is_names(cls):
        return False
    is_data = any(map(_is_data, program.index.lineage(cls)))
    if _CLASS.search(cls.name) and (
        is_data or not cls.methods or own_attributes(cls) or _defaults(cls) or _is_table(cls)
    ):
        return True
    told = [name for name, value in own_attributes(cls) if not name.startswith("_") and text_of(value) not in _OPEN]
    return len(told) >= MIN_ATTRIBUTES and "forward" not in cls.methods and _is_first(cls)


def _is_table(cls: Class) -> bool:
    """Its body holds hardly anything but literals, whatever methods work with them."""
    given = [event.value for event in cls.body.events if event.kind == "assign" and event.value is not None]
    literals = sum(is_literal(value) for value in given)
    return literals >= MIN_ATTRIBUTES and literals * 10 >= 7 * len(given)


def is_names(cls: Class) -> bool:
    """It only gives names to texts, which are values of nothing: class Fields: train = "train"."""
    told = [
        (target.text.lower(), event.value.text.lower())
        for event in cls.body.events
        if event.kind == "assign" and event.value is not None and event.value.kind == "string"
        for target in event.targets
    ]
    return not _is_data(cls) and len(told) >= MIN_NAMES and 2 * sum(name == text for name, text in told) > len(told)


def _is_data(cls: Class) -> bool:
    return any(one.last in ("dataclass", "define", "attrs", "s", "chz") for one in cls.decorators) or any(
        base.last in ("BaseModel", "NamedTuple", "TypedDict", "BaseSettings", "Struct") for base in cls.bases
    )


def _is_first(cls: Class) -> bool:
    """Its constructor does hardly anything but set literals."""
    init = cls.methods.get("__init__")
    return init is not None and len(own_attributes(cls)) * 10 >= 7 * len(init.events)


def _defaults(cls: Class) -> bool:
    init = cls.methods.get("__init__")
    return init is not None and sum(one.default is not None for one in init.parameters) >= MIN_CONSTANTS


def of_constructed(program: Program) -> Iterator[Definition]:
    """Fields of the classes whose objects are the recipe, those of their bases included, each once."""
    yield from _of_lineages(program, program.values.objects.made)


def of_framework(program: Program) -> Iterator[Definition]:
    """Fields of the classes that its parser fills, as far as a framework reads them: class Config(TrainingArguments)."""
    yield from _of_lineages(program, (cls for cls in filled(program) if is_of_framework(program, cls)))


def _of_lineages(program: Program, classes: Iterable[Class]) -> Iterator[Definition]:
    for cls in classes:
        known: set[str] = set()
        for base in program.index.lineage(cls):
            own = [one for one in of_class(base) if one.name not in known]
            known.update(one.name for one in own)
            yield from (one._replace(group=cls.name) for one in own)


def of_class(cls: Class) -> Iterator[Definition]:
    """What its body, its constructor and the constructor's signature set."""
    for event in cls.body.events:
        if event.kind == "assign" and (event.text or not _is_data(cls)) and "ClassVar" not in event.text:
            for target in event.targets:
                if target.kind == "path" and not target.text.startswith("_") and not _is_label(cls, target.text):
                    line = event.value.line if event.value is not None and event.value.kind != "call" else event.line
                    said = _about(event)
                    yield Definition(target.text, cls.path, line, _field_value(event), (target.text,), said, cls.name)
    for name, value in own_attributes(cls):
        yield Definition(name, cls.path, value.line, text_of(value), (), "", cls.name)
    init = cls.methods.get("__init__")
    if init is not None:
        yield from parameters(init, cls.name)


def _is_label(cls: Class, name: str) -> bool:
    """The name under which transformers registers a class of configurations, which chooses nothing."""
    return name == "model_type" and any(base.last.endswith("Config") for base in cls.bases)


def _names(cls: Class) -> Iterator[str]:
    yield from (target.text for event in cls.body.events if event.kind == "assign" for target in event.targets)
    yield from (name for name, _ in own_attributes(cls))


def _about(event: Event) -> str:
    """The help of field(metadata={"help": ...})."""
    given = event.value.keyword("metadata") if event.value is not None and event.value.kind == "call" else None
    pairs = given.parts if given is not None and given.kind == "dict" else ()
    found = [one.parts[1].text for one in pairs if one.kind == "pair" and one.parts[0].text == "help"]
    return found[0] if found else ""


def _field_value(event: Event) -> str:
    value = event.value
    if value is None:
        return REQUIRED
    if value.kind == "call" and value.last in _FIELD:
        default = value.argument(0, "default", "default_factory")
        if default is not None and default.kind == "lambda" and default.parts:
            default = default.parts[0]
        if default is not None and default.text in _FACTORIES and value.keyword("default_factory") is not None:
            return _FACTORIES[default.text]
        return _told(default) if default is not None else REQUIRED
    return _told(value)


_FACTORIES = {"dict": "{}", "list": "[]", "set": "set()", "tuple": "()"}  # field(default_factory=dict)


def _told(value: Expr) -> str:
    if value.kind == "call" and value.last == "II" and value.arguments:
        return f"${{{value.arguments[0].text}}}"  # omegaconf's name for a reference
    return text_of(value)


def _nodes(body: Function) -> Iterator[Definition]:
    """_C.SOLVER.BASE_LR = 0.01"""
    for event in body.events:
        if event.block.branches:
            continue  # it holds only sometimes: an override, not a definition
        for target in event.targets:
            if event.kind == "assign" and target.kind == "path" and _NODE.match(target.text):
                if event.value is not None and is_literal(event.value):
                    name = target.text.partition(".")[2]
                    yield Definition(name, body.path, event.line, text_of(event.value), (), "", "node")


def _tables(function: Function) -> Iterator[Definition]:
    """config = dict(lr=0.1, ...)"""
    for event in function.events:
        if event.kind != "assign" or event.value is None or not is_table(event.value):
            continue
        for target in event.targets:
            if target.kind == "path" and _TABLE.search(target.text):
                for key, value in ((key, _handed(function, one)) for key, one in flat(event.value, "")):
                    yield Definition(key, function.path, value.line, text_of(value), (), "", target.text)


def _handed(function: Function, value: Expr) -> Expr:
    """Of a name that is a parameter the default: def options(lr=0.1): return Namespace(lr=lr)."""
    parameter = (
        function.parameter(value.text) if value.kind == "path" and value.text not in bindings(function) else None
    )
    return parameter.default if parameter is not None and parameter.default is not None else value


def _constants(body: Function) -> Iterator[Definition]:
    """Names that are set once to a literal, whatever happens: not counters, not results."""
    found = [
        Definition(name, body.path, event.line, text_of(event.value), (name,), "", "constant")
        for name, bound in bindings(body).items()
        if "." not in name and not name.startswith("__") and _is_constant(body, bound)
        and (event := body.events[bound[0].position]).value is not None
    ]  # fmt: skip
    if len(found) >= MIN_CONSTANTS:
        yield from found


def _is_constant(body: Function, bound: Sequence[Binding]) -> bool:
    first = body.events[bound[0].position]
    if bound[0].kind != "assign" or bound[0].items or first.value is None or not is_literal(first.value):
        return False
    if first.block.branches or first.block.loops:
        return False
    return not any(one.kind != "augment" or body.events[one.position].block.loops for one in bound[1:])
