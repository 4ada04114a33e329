"""What settings choose by name: classes and functions, through the table that really maps the names."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, External, Function, Index, Module
from trainsleuth.facts.reading.config import BUILDING_TAGS
from trainsleuth.repository import is_under

from ..naming.tables import NAME_KEYS, OF_ALL, Entry, Table
from .branches import Settled, is_not_chosen
from .composition import Part
from .recipes import CLASS_KEYS, Choice, Setting, settings

_SHORT_KEYS = ("class", "cls", "class_name")  # whose value may leave its package out
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_QUOTED = re.compile(rb"[\"'][A-Za-z_]\w*\.")  # where a dotted name in quotes begins
_TYPED = re.compile(rb"type(?<!\wtype)[\"']?\s*[=:]\s*[\"']([A-Za-z_]\w*)[\"']")


def choices(
    index: Index, known: Mapping[str, list[Table]], found: Iterable[Setting], loaded: Container[str]
) -> tuple[Choice, ...]:
    """Settings that name a class or a function of the project, or of a library by its full dotted name.

    Of tables that know a name those count that code of `loaded` files asks, and whose class stands in such a file:
    sibling programs have each their own.
    """
    tables = {name: _of_loaded(name, some, loaded) for name, some in known.items()}
    every = [choice for setting in found for choice in _chosen(index, tables, setting)]
    decided = {choice.table.kind for choice in every if choice.table is not None}
    every += [one for one in _by_default(known) if one.table is not None and one.table.kind not in decided]
    by_kind_first = sorted(every, key=lambda one: (not one.path, one.table is not None and bool(one.table.key)))
    asked: dict[str, set[str]] = {}  # the slots of a kind that a lookup of its own fills
    for choice in every:
        asked.setdefault(_slot(choice), set()).add(_lookup(choice))
    latest = {_place(choice, asked): choice for choice in by_kind_first}
    # a key that code reads beats the right kind, and what the command says the default of a class
    return tuple(choice for choice in every if latest[_place(choice, asked)] is choice)


def _place(choice: Choice, asked: Mapping[str, set[str]]) -> str:
    """Of a kind that lookups of different keys fill, each by its own, the slot of one of them."""
    slot = _slot(choice)
    return f"{slot} {_lookup(choice)}" if "" not in asked[slot] else slot


def _lookup(choice: Choice) -> str:
    """Where the code asks for it by its key, if that is one place."""
    keyed = choice.table is not None and choice.table.key and choice.table.key not in NAME_KEYS
    return f"{choice.sites[0][0].path}:{choice.sites[0][1]}" if keyed and len(choice.sites) == 1 else ""


def _of_loaded(name: str, tables: Sequence[Table], loaded: Container[str]) -> Sequence[Table]:
    asked = [one for one in tables if not _is_asked_elsewhere(one, loaded)]
    if not name:
        return asked
    entries = ((one, one.entries[name]) for one in asked)
    defined = [one for one, entry in entries if not isinstance(entry, Class | Function) or entry.path in loaded]
    return defined or asked or tables


def _is_asked_elsewhere(table: Table, loaded: Container[str]) -> bool:
    return table.site is not None and table.site[0].path not in loaded


def _by_default(known: Mapping[str, list[Table]]) -> Iterator[Choice]:
    """What code asks a registry for when no setting says anything else."""
    for name, found in known.items():
        for table in found:
            entry = table.entries.get(name)
            if table.default == name and table.site is not None and isinstance(entry, Class | Function):
                yield Choice(table.site[0].path, table.site[1], table.key, name, entry, table, (table.site,))


def named_in_code(index: Index, functions: Iterable[Function], decided: Mapping[str, str]) -> Iterator[Choice]:
    """Classes whose full dotted name stands in code: EasyDict(class_name="training.networks.Generator").

    Not in an arm that the `decided` settings do not choose, and not a constant that none of `functions` reads.
    """
    near = list(functions)
    for function in near:
        settled = Settled(decided, index, function)
        if not function.source.holds(_QUOTED):
            continue
        given = [one.default for one in function.parameters if one.default is not None]
        for event in function.events:
            if not is_not_chosen(event, settled) and not _is_unread(function, event, near):
                given += [one for one in (event.value, *event.targets) if one is not None]
        for part in (part for expr in given for part in expr.walk()):
            if part.kind == "string" and _DOTTED.fullmatch(part.text) and len(part.text) < 120:
                yield from _named(index, function, part)


def _is_unread(function: Function, event: Event, near: Iterable[Function]) -> bool:
    """_GENERIC = "models.generic.Net" at the top of a file."""
    value = event.value
    if function.name != MODULE_BODY or event.kind != "assign" or value is None or value.kind != "string":
        return False
    names = [re.compile(rb"\b%s\b" % re.escape(one.text.encode())) for one in event.targets if one.kind == "path"]
    others = [one for one in near if one.name != MODULE_BODY and one.path == function.path]
    return not any(one.source.holds(name) for name in names for one in others)


def _named(index: Index, function: Function, name: Expr) -> Iterator[Choice]:
    target = _near(index, function.path, name.text) or dotted(index, name.text)
    if isinstance(target, Class) or (isinstance(target, Function) and "." in name.text):
        yield Choice(function.path, name.line, f"code:{name.line}", name.text, target)
    elif isinstance(target, External) and target.name.startswith("torch.optim."):
        yield Choice(function.path, name.line, "code.optimizer", name.text, None)


def _slot(choice: Choice) -> str:
    """What can be chosen once: a kind of registry, or a key."""
    nested = choice.key.count(".") > 1 and choice.key.endswith(".type")  # one registry fills many slots of a tree
    kind = choice.table.kind if choice.table is not None and not nested else ""
    if choice.key.rpartition(".")[2].endswith(f"_{kind}"):
        return choice.key  # one of several: train_loader beside val_loader
    return choice.key if not kind or kind.startswith(OF_ALL) else kind


def _chosen(index: Index, known: Mapping[str, Sequence[Table]], setting: Setting) -> Iterator[Choice]:
    last = setting.key.rpartition(".")[2]
    if last in CLASS_KEYS and _DOTTED.fullmatch(setting.value):
        near = _near(index, setting.path, setting.value) if last in BUILDING_TAGS else None
        target = near or dotted(index, setting.value) or moved(index, setting.value)
        project = target if isinstance(target, Class | Function) else None
        project = project or (in_package(index, setting.value) if last in _SHORT_KEYS else None)
        project = project or (behind_folder(index, setting.value) if isinstance(target, External) else None)
        if project is not None or last in ("_target_", "class_path", "target", "_component_", *BUILDING_TAGS):
            yield Choice(setting.path, setting.line, setting.key, setting.value, project)
            return
    elif last == "_target_" and (own := _beside(index, setting)) is not None:
        yield Choice(setting.path, setting.line, setting.key, setting.value, own)
        return
    elif _DOTTED.fullmatch(setting.value) and not setting.path.endswith(".py"):
        # what a parser imports: loss_func: models.losses.absolute, or beside the file: path = "dataset_train.Dataset"
        target = dotted(index, setting.value)
        target = target if isinstance(target, Class | Function) else _near(index, setting.path, setting.value)
        if target is not None:
            yield Choice(setting.path, setting.line, setting.key, setting.value, target)
            return
    holding = known.get(setting.value, ()) if setting.value else ()
    found = (table for table in holding if table.answers(setting.key))
    answering = sorted(found, key=lambda table: (not table.key, _apart(table.entries[setting.value], setting.path)))
    if not answering and last == "type" and len(registered := [t for t in holding if t.kind and not t.key]) == 1:
        answering = registered  # the only registry that knows the name
    if answering:
        entry = answering[0].entries[setting.value]
        project = entry if isinstance(entry, Class | Function) else None
        yield Choice(setting.path, setting.line, setting.key, setting.value, project, answering[0], _sites(answering))
        return
    if setting.value.isidentifier():
        answering = [table for table in known.get("", ()) if table.library and _may_hold(table, setting)]
        for table in answering[:1]:
            value = f"{table.library}.{setting.value}"
            yield Choice(setting.path, setting.line, setting.key, value, None, table, _sites(answering))


def _beside(index: Index, setting: Setting) -> Class | Function | None:
    """What settings in Python define themselves: model = L(build_model)() below def build_model()."""
    file = index.files.get(setting.path)
    return (file.classes.get(setting.value) or file.functions.get(setting.value)) if file is not None else None


def _near(index: Index, path: str, name: str) -> Class | Function | None:
    """What a dotted name means beside a file of settings or code, or above it: of a script that lies there."""
    module = index.names.module(path, name.rpartition(".")[0])
    found = index.names.member(module, name.rpartition(".")[2]) if module is not None and module.path else None
    return found if isinstance(found, Class | Function) else None


def _apart(entry: Entry, path: str) -> int:
    """Orders by the folders that a class shares with a file of settings, most first: sibling programs have each their own."""
    return -len(os.path.commonpath((entry.path, path))) if isinstance(entry, Class | Function) else 0


def _may_hold(table: Table, setting: Setting) -> bool:
    """A library's module may hold the name; of a key that says only `type`, the section has to speak of the module."""
    if not table.answers(setting.key):
        return False
    section, _, last = setting.key.rpartition(".")
    subject = table.library.rpartition(".")[2].removesuffix("s").lower()
    if last not in ("type", "name"):
        return True
    return setting.value[:1].isupper() and (subject in ("nn", "functional") or subject in section.lower())


def _sites(answering: Iterable[Table]) -> tuple[tuple[Function, int], ...]:
    return tuple(table.site for table in answering if table.site is not None)


def dotted(index: Index, name: str) -> Class | Function | External | Module | None:
    """The project's class or function of a full dotted name; External when the project has no such module."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = index.names.module("", ".".join(parts[:cut]))
        if module is None or not module.path:
            continue
        found = index.names.member(module, parts[cut])
        for part in parts[cut + 1 :]:
            found = found.methods.get(part) if isinstance(found, Class) else None
        return found if isinstance(found, Class | Function | Module) else None
    return External(name)


def moved(index: Index, name: str) -> Class | Function | None:
    """The only class of that name in the project's package, or a method of it, where the package does not say it itself."""
    package, _, rest = name.partition(".")
    module = index.names.module("", package)
    if dotted(index, name) is not None or module is None or not module.folder:
        return None
    above, _, last = rest.rpartition(".")
    found = _in_folder(index, module.folder, last)
    if found:
        return found[0] if len(found) == 1 else None
    found = _in_folder(index, module.folder, above.rpartition(".")[2]) if above else []
    return index.method(found[0], last) if len(found) == 1 else None


def _in_folder(index: Index, folder: str, name: str) -> list[Class]:
    return [cls for cls in index.classes() if cls.qualname == name and is_under(cls.path, folder)]


def behind_folder(index: Index, name: str) -> Class | Function | None:
    """The only thing that a full dotted name means in a folder of the project: models.Net of app/models/__init__.py, where the
    program lies in app/.
    """
    module, _, last = name.rpartition(".")
    found = []
    for path in index.names.ending(module):
        home = index.names.module("", path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        member = index.names.member(home, last) if home is not None and home.path else None
        found += [member] if isinstance(member, Class | Function) and member not in found else []
    return found[0] if len(found) == 1 else None


def in_package(index: Index, name: str) -> Class | None:
    """The only class that a name means behind that of a package, which the code puts before it: "pointnet.Net"."""
    module, _, last = name.rpartition(".")
    found = [cls for path in index.names.ending(module) if (cls := index.files[path].classes.get(last)) is not None]
    return found[0] if len(found) == 1 else None


def selecting(index: Index, known: Mapping[str, list[Table]], limit: int = 400) -> list[str]:
    """Configuration files that choose classes of the project: each is a recipe to give."""

    def is_some(setting: Setting) -> bool:
        return any(choice.target is not None for choice in _chosen(index, known, setting))

    @cache
    def is_type(name: str) -> bool:
        return is_some(Setting("", 1, "type", name))

    paths = sorted(index.configs)[:limit]
    return [
        path
        for path in paths
        if any(map(is_type, _typed(index, path))) or any(map(is_some, settings(index, [Part(path)])))
    ]


def _typed(index: Index, path: str) -> Iterator[str]:
    """The types that settings in Python name, told by their text alone: there may be hundreds of such files."""
    if path in index.files:
        yield from (name.decode() for name in index.files[path].body.source.found(_TYPED))
