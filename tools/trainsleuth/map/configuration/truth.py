"""All keys of a program, from definitions, files, the launch command and code."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from trainsleuth.facts import Expr, Function

from ..launch import Command
from ..program import Program
from ..recipes import refers_to
from .fields import fields
from .handed import arguments
from .lists import together
from .options import options
from .overrides import launch_of, of_code, of_command
from .reads import Reads, subscripts
from .records import ORDER, Definition, Key, Layer, Use
from .sections import sections
from .taken import Taken

MAX_HOPS = 3  # from reference to reference
MAX_READS = 6
_NOT_KEYS = re.compile(r"^(?:defaults(?:\.\d.*)?$|hydra\.|_base_|_BASE_$|default_scope$)")
_IS_PLACE = re.compile(r"dir|path|file|folder|root|scp|dump|data|ckpt|checkpoint|resume|pretrain|load|init", re.I)
_IS_CLASS = re.compile(r"^(?!(?:None|True|False)$)[A-Z]\w*[a-z]\w*(?:\(\))?$")
_NAME = re.compile(r"^[A-Za-z_][\w.]*$")


class Truth:
    """The keys of one program in the order of their definition; `find` looks one up as code names it.

    `keys` knows who reads each, which costs a walk over all code; `find` and `effective` do not need that.
    """

    def __init__(self, program: Program, gathered: Gathered) -> None:
        self.program = program
        self._gathered = gathered
        self._plain = tuple(gathered.key(name) for name in gathered.layers)

    @cached_property
    def open(self) -> frozenset[str]:
        """Keys of which it is not known whether the command sets them: no command is known, and somebody has to."""
        if not self.program.recipe or launch_of(self.program, None) is not None:
            return frozenset()
        given = " ".join(command.text for command in self.program.entry.commands)
        return frozenset(
            key.name
            for key in self._plain
            if key.name in self._gathered.flags.values()
            and all(layer.how == "default" for layer in key.layers)
            and (_IS_PLACE.search(key.name) or f"--{key.name}" in given or f"--{key.name.replace('_', '-')}" in given)
        )

    @property
    def plain_keys(self) -> tuple[Key, ...]:
        """The keys, without who reads them."""
        return self._plain

    @cached_property
    def reads(self) -> Reads:
        return Reads(self.program.index)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        taken = Taken(self.program, self.reads)
        return tuple(self._used(key, taken) for key in self._plain)

    def _used(self, key: Key, taken: Taken) -> Key:
        constant = key.name in self._gathered.constants
        places = {(layer.path, layer.line) for layer in key.layers}
        reads = tuple(use for use in _uses(taken, key.name, constant) if use not in places)
        uses, taker = taken.by(key.name, bool(reads), constant)
        return replace(key, reads=reads[:MAX_READS], uses=uses, taker=taker)

    @cached_property
    def _by_last(self) -> Mapping[str, list[Key]]:
        table: dict[str, list[Key]] = {}
        for key in self._plain:
            table.setdefault(key.name.rpartition(".")[2], []).append(key)
        return table

    def find(self, dotted: str, path: str = "", hops: int = MAX_HOPS) -> Key | None:
        """The key that `args.lr`, `cfg.optim.lr` or `lr` means in the file at `path`.

        None when there is none, or when several are meant that are not worth the same.
        """
        words = dotted.split(".")
        found = self._by_last.get(words[-1], [])
        for cut in range(len(words)):
            exact = [key for key in found if key.name == ".".join(words[cut:])]
            if len(exact) == 1:
                return None if self._is_doubtful(exact[0], found) else exact[0]
        if len(words) > 2:
            found = [key for key in found if key.name.endswith("." + ".".join(words[-2:]))] or found
        here = [key for key in found if any(layer.path == path for layer in key.layers)]
        found = here if len(here) == 1 else found
        same = {self.end(key.value, hops - 1) for key in found} if len(found) > 1 else ()
        return found[0] if len(found) == 1 or len(same) == 1 else None

    def _is_doubtful(self, key: Key, alike: Iterable[Key]) -> bool:
        """The default of a class that some section may fill, and a section does set a key of that name."""
        return (
            key.name in self._gathered.fields
            and all(layer.how == "default" for layer in key.layers)
            and any(one is not key and any(layer.how != "default" for layer in one.layers) for one in alike)
        )

    def end(self, value: str, hops: int = MAX_HOPS) -> str:
        """What a chain of references ends in."""
        referred = refers_to(value)
        key = self.find(referred, hops=hops) if referred and hops > 0 else None
        return self.end(key.value, hops - 1) if key is not None and key.value else value

    def last(self, key: Key, hops: int = MAX_HOPS) -> Key:
        """The key that a chain of references begun by `key` ends in."""
        referred = refers_to(key.value)
        found = self.find(referred, hops=hops) if referred and hops > 0 else None
        return self.last(found, hops - 1) if found is not None and found.source is not None else key

    def effective(self, value: str, hops: int = MAX_HOPS) -> str:
        """A value with what it refers to: "args.lr" is "args.lr = 0.1"; itself when it refers to nothing."""
        if dotted := refers_to(value):
            pass
        elif _NAME.match(value) and value not in ("None", "True", "False", "null", "true", "false"):
            dotted = value
        else:
            return value
        key = self.find(dotted)
        if key is None or not key.value or key.value == value or not hops:
            return value
        return f"{value} = {self.effective(key.value, hops - 1)}"


@dataclass
class Gathered:
    """What is known of every key while it is put together."""

    layers: dict[str, list[Layer]]
    constants: set[str]
    about: dict[str, str]
    flags: dict[str, str]
    negated: dict[str, str]
    fields: set[str] = field(
        default_factory=set
    )  # of classes and tables of which it is not known which section fills them

    def key(self, name: str) -> Key:
        ordered = tuple(sorted(self.layers[name], key=lambda layer: ORDER.index(layer.how)))
        return Key(name, ordered, (), "unknown", "", self.about.get(name, ""))


def gathered_for(program: Program, launch: Command | None) -> Gathered:
    """All that definitions, files, the command and code say of each key, in whatever branch the code stands."""
    known = sections(program)
    defined = list(_unique([*options(program), *_that_count(program, known), *arguments(program)]))
    gathered = Gathered({}, set(), {}, {}, {})
    groups: dict[str, set[str]] = {}
    for one in defined:
        groups.setdefault(one.name, set()).add(one.group)
    for one in defined:
        for name in _names(one, groups, known):
            _define(gathered, one, name)
            if one.group not in ("", "node", "constant", *known):
                gathered.fields.add(name)
    layers = gathered.layers
    meant = _of_files(program, layers, set(chain.from_iterable(known.values())))
    gathered.flags.update({flag: flag for flag, name in gathered.flags.items() if flag != name and flag in layers})
    _without_sections(layers)
    given = of_command(program, launch, gathered.flags, gathered.negated)
    command = [(meant.get(name, name), layer) for name, layer in given]
    _without_copies(gathered, defined, {name for name, _ in command})
    places = {(one.path, one.line) for one in defined}
    for name, layer in (*of_code(program, layers), *command):
        if layer.how == "code" and (layer.path, layer.line) in places:
            continue
        layers.setdefault(_same(name, layers), []).append(layer)
    return gathered


def _without_sections(layers: dict[str, list[Layer]]) -> None:
    """A field that is worth a class of settings is no key of its own where its section is known."""
    above = {".".join(words[:end]) for words in (name.split(".") for name in layers) for end in range(1, len(words))}
    for name in above & layers.keys():
        if all(layer.how == "default" and _IS_CLASS.match(layer.value) for layer in layers[name]):
            del layers[name]


def _define(gathered: Gathered, one: Definition, name: str) -> None:
    gathered.layers.setdefault(name, []).append(Layer("default", one.path, one.line, one.value, one.certain))
    for flag in one.flags:
        gathered.flags.setdefault(flag, name)  # an option before the field of a class that it fills
    gathered.negated.update(dict.fromkeys(one.negated, name))
    if one.about:
        gathered.about[name] = one.about
    if one.group == "constant":
        gathered.constants.add(name)


def _without_copies(gathered: Gathered, defined: Iterable[Definition], given: Container[str]) -> None:
    """A field that is called like an option of the command line gets what the command gives: no key of its own."""
    plain = {one.name for one in defined if not one.group and one.name in given}
    for one in defined:
        if one.group and one.name in plain:
            gathered.layers.pop(f"{one.group}.{one.name}", None)


def _that_count(program: Program, known: Mapping[str, tuple[str, ...]]) -> Iterator[Definition]:
    """Fields; with a recipe that chooses, not those of classes that it did not choose."""
    chosen = set(chain.from_iterable(known.values())) & {
        section for section, _, last in (choice.key.rpartition(".") for choice in program.choices) if last != "_target_"
    }
    for one in fields(program):
        if not chosen or not program.told or one.group in ("", "node", "constant") or one.group in known:
            yield one


def _uses(taken: Taken, name: str, constant: bool) -> Iterator[Use]:
    """Reads in code that the program reaches, the nearest first."""
    distance = taken.program.entry.reach.distance
    found = [read for read in taken.reads.of(name, constant) if read.function in distance]
    near = sorted(found, key=lambda read: (distance[read.function], read.function.path, read.line))
    if constant:
        near = [read for read in near if _sees(read.function, taken.program)]
    yield from dict.fromkeys(Use(read.function.path, read.line) for read in near)


def _sees(function: Function, program: Program) -> bool:
    return function.path == program.entry.path


def _of_files(program: Program, layers: dict[str, list[Layer]], known: Container[str]) -> Mapping[str, str]:
    """Adds what files set. A name that only one definition has is that one, unless it stands in another section.

    Gives back under which name each key of the files is found.
    """
    meant: dict[str, str] = {}
    lasts: dict[str, list[str]] = {}
    for name in layers:
        lasts.setdefault(name.rpartition(".")[2], []).append(name)
    given = list(together(program.settings))
    keys = [setting.key for setting in given]
    built = tuple(f"{choice.key.rpartition('.')[0]}." for choice in program.choices if "." in choice.key)
    for setting in given:
        if _NOT_KEYS.match(setting.key):
            continue
        last = setting.key.rpartition(".")[2]
        name = setting.key
        if name not in layers and not name.startswith(built):
            alike = {key for key in keys if key.rpartition(".")[2] == last}
            if len(lasts.get(last, ())) == 1 and len(alike) == 1 and lasts[last][0].rpartition(".")[0] not in known:
                name = lasts[last][0]
        meant[setting.key] = name
        layers.setdefault(name, []).append(Layer("file", setting.path, setting.line, setting.value))
    return meant


def _same(name: str, layers: Mapping[str, object]) -> str:
    """The key that a command or code means by `name`: itself, or the only one that ends in it."""
    if name in layers:
        return name
    name = name.replace("/", ".")
    ends = [one for one in layers if one.endswith(f".{name}")]
    return ends[0] if len(ends) == 1 else name


def _names(one: Definition, groups: Mapping[str, set[str]], known: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Its own name behind each of its sections; with its class before it when another definition has the same."""
    if one.group in known:
        yield from (f"{section}.{one.name}" for section in known[one.group])
    elif one.group in ("", "node", "constant") or len(groups[one.name]) == 1:
        yield one.name
    else:
        yield f"{one.group}.{one.name}"


def _unique(found: Iterable[Definition]) -> Iterator[Definition]:
    seen: set[tuple[str, str, int]] = set()
    for one in found:
        if (mark := (one.name, one.path, one.line)) not in seen:
            seen.add(mark)
            yield one


def reads_in(expr: Expr) -> Iterator[str]:
    """Dotted names in an expression that may be keys."""
    for part in expr.walk():
        if part.kind == "path":
            yield part.text
        elif part.kind == "index" and len(part.parts) == 2 and part.parts[1].kind == "string":
            yield subscripts(part)
