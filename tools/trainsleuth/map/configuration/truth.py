"""All keys of a program, and the one that code means by a name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from trainsleuth.facts import Class, Expr, Function
from trainsleuth.repository import is_python

from ..program import Program
from ..recipe.recipes import refers_to
from .forms.owners import Owners
from .gathered import Gathered
from .records import Key, Layer, Use
from .use.missed import missed
from .use.reads import Read, Reads, option_names, subscripts
from .use.switched_off import left_out, sections_off
from .use.taken import Taken, is_handed_out
from .values.left_to_caller import left_to_caller
from .values.overrides import launch_of
from .values.set_options import SetAt, options_set

MAX_HOPS = 3  # from reference to reference
MAX_READS = 6
_IS_PLACE = re.compile(r"dir|path|file|folder|root|scp|dump|data|ckpt|checkpoint|resume|pretrain|load|init", re.I)
_METHODS = frozenset(name for kind in (str, list, dict) for name in dir(kind) if name[0] != "_")
_NAME = re.compile(r"^[A-Za-z_][\w.]*$")
_END = re.compile(r"(?<=[a-z])(?:_(?:config|conf|cfg|args|params|kwargs|opts?)|Config|Args|Params)$")


class Truth:
    """The keys of one program in the order of their definition; `find` looks one up as code names it.

    `keys` knows who reads each, which costs a walk over all code; `find` and `effective` do not need that.
    """

    def __init__(self, program: Program, gathered: Gathered) -> None:
        self.program = program
        self._gathered = gathered
        self._plain = tuple(gathered.key(name) for name in gathered.layers)
        self.unchosen: Mapping[str, str] | None = None  # files that settings keep from being imported; asked for once
        self.attributes: dict[tuple[Class, str, int], tuple[tuple[Function, int] | None, tuple[Key, ...]]] = {}
        # of attribute_values.py: what sets the attribute of a class, and by which keys
        self.only_called: dict[Function, bool] = {}
        self.mostly_read: dict[str, bool] = {}  # files of settings of which code reads most; of unseen.py
        self.set_outside: dict[str, bool] = {}  # attributes that code sets of something that is not self

    @cached_property
    def open(self) -> frozenset[str]:
        """Keys of which it is not known whether the command sets them: it hands on what its script is given, or no
        command is known and somebody has to.
        """
        if (launch := launch_of(self.program, None)) is not None:
            return left_to_caller(launch.text)
        if not self.program.recipe:
            return frozenset()
        given = " ".join(command.text for command in self.program.entry.commands)
        return frozenset(
            key.name
            for key in self._plain
            if key.name in self._gathered.flags.values()
            and all(layer.how == "default" for layer in key.layers)
            and (_IS_PLACE.search(key.name) or f"--{key.name}" in given or f"--{key.name.replace('_', '-')}" in given)
        )

    @cached_property
    def set_further_down(self) -> frozenset[str]:
        """What the keys that something sets, and the sections that they stand in, are called from a section on:
        corrector.clip, corrector and clip of step.corrector.clip.
        """
        given = (key.name.split(".") for key in self._plain if any(layer.how != "default" for layer in key.layers))
        return frozenset(
            ".".join(words[first:end])
            for words in given
            for first in range(1, len(words))
            for end in range(first + 1, len(words) + 1)
        )

    def by_default(self) -> Truth:
        """The same where nobody sets what is open."""
        other = Truth(self.program, self._gathered)
        other.open = frozenset()
        return other

    @property
    def plain_keys(self) -> tuple[Key, ...]:
        """The keys, without who reads them."""
        return self._plain

    @cached_property
    def switched_off(self) -> tuple[tuple[str, str], ...]:
        """Sections that are off, each with the key that says so."""
        return tuple(sections_off(self))

    @cached_property
    def left_out(self) -> frozenset[str]:
        """Keys that what their section builds takes and does not look at."""
        return left_out(self)

    def is_placed(self, key: Key) -> bool:
        """It is known which section has it: not the field of a class that nothing is seen to fill."""
        return key.name not in self._gathered.fields

    def is_absent(self, key: Key) -> bool:
        """Code asks the recipe for it, which does not have it: the value is what counts without."""
        return key.name in self._gathered.absent

    @cached_property
    def offered(self) -> frozenset[str]:
        """Names of keys that are options of a command line, or fields of a class that one may fill."""
        return frozenset(self._gathered.flags.values())

    @cached_property
    def owners(self) -> Owners:
        """Whose fields the keys are."""
        return Owners(self.program, self._plain)

    @cached_property
    def reads(self) -> Reads:
        return Reads(self.program.index, self._gathered.recipes)

    @cached_property
    def options_set(self) -> SetAt:
        """Where code sets an option itself, by the name of the option."""
        return options_set(self.program)

    @cached_property
    def option_names(self) -> frozenset[tuple[str, str]]:
        """(file, name) of what holds the options of a parser there."""
        return option_names(self.program.index)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        taken = Taken(self.program, self.reads, bool(self._gathered.recipes))
        return tuple(self._used(key, taken) for key in self._plain)

    @cached_property
    def is_handed_out(self) -> bool:
        """Another library gets all settings at once, and may read any."""
        return is_handed_out(self.program)

    def _used(self, key: Key, taken: Taken) -> Key:
        constant = key.name in self._gathered.constants
        places = {(layer.path, layer.line) for layer in key.layers}
        near = _uses(taken, key.name, constant)
        instead = missed(self, key, near)
        uses_of = dict.fromkeys(Use(read.function.path, read.line) for read in near if instead is None)
        reads = tuple(use for use in uses_of if use not in places)
        uses, taker = taken.by(key.name, bool(reads), constant)
        return replace(key, reads=reads[:MAX_READS], uses=uses, taker=taker, instead=instead)

    @cached_property
    def _by_last(self) -> Mapping[str, list[Key]]:
        table: dict[str, list[Key]] = {}
        for key in self._plain:
            table.setdefault(key.name.rpartition(".")[2], []).append(key)
        return table

    @cached_property
    def by_section(self) -> Mapping[str, list[Key]]:
        """The keys right below each prefix, which ends in no dot."""
        table: dict[str, list[Key]] = {}
        for key in self._plain:
            table.setdefault(key.name.rpartition(".")[0], []).append(key)
        return table

    @cached_property
    def _sections(self) -> frozenset[str]:
        """At the top."""
        return frozenset(key.name.partition(".")[0] for key in self._plain if "." in key.name)

    def named(self, last: str) -> Sequence[Key]:
        """The keys whose last name it is, without who reads them."""
        return self._by_last.get(last, ())

    def find(self, dotted: str, path: str = "", hops: int = MAX_HOPS) -> Key | None:
        """The key that `args.lr`, `cfg.optim.lr` or `lr` means in the file at `path`.

        None when there is none, or when several are meant that are not worth the same.
        """
        words = dotted.split(".")
        found = self._by_last.get(words[-1], [])
        within = [key for key in found if len(words) > 1 and _section(key.name) == _END.sub("", words[-2])]
        for cut in range(len(words)):
            if cut and cut == len(words) - 1 and len(within) == 1:  # launcher_conf.nodes is no option --nodes
                return within[0]
            exact = [key for key in found if key.name == ".".join(words[cut:])]
            if len(exact) == 1:
                return self._that_is_set(found, hops) if self._is_doubtful(exact[0], found) else exact[0]
        if len(words) > 1 and words[-1] in self._sections and not within:  # cfg.graph is no data.input.graph
            return None
        if len(words) > 2:
            found = [key for key in found if key.name.endswith("." + ".".join(words[-2:]))] or found
        found = [key for key in found if key in within] or found
        here = [key for key in found if any(layer.path == path for layer in key.layers)]
        found = here if len(here) == 1 else found
        same = {self.end(key.value, hops - 1) for key in found} if len(found) > 1 else ()
        return found[0] if len(found) == 1 or len(same) == 1 else self._that_is_set(found, hops)

    def _that_is_set(self, alike: Sequence[Key], hops: int) -> Key | None:
        """The one that somebody set, before defaults of classes and tables that nothing is known to fill."""
        given = [key for key in alike if any(layer.how != "default" for layer in key.layers)]
        if not given or not all(key in given or key.name in self._gathered.fields for key in alike):
            return None
        return given[0] if len({self.end(key.value, hops - 1) for key in given}) == 1 else None

    def _is_doubtful(self, key: Key, alike: Sequence[Key]) -> bool:
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

    def worth(self, layer: Layer) -> str:
        """A value with what it refers to. A bare word in a file of settings or a command is a text, not a name; in a
        file in Python it is one where something at the top is called so: "mean" is no norm.mean."""
        if layer.how in ("file", "command") and _NAME.match(layer.value):
            if not is_python(layer.path) or all(key.name != layer.value for key in self.named(layer.value)):
                return layer.value
        return self.effective(layer.value)

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


def _section(name: str) -> str:
    """What holds a key: "train" of process.0.train.lr."""
    above = [part for part in name.split(".")[:-1] if not part.isdigit()]
    return _END.sub("", above[-1]) if above else ""


def _uses(taken: Taken, name: str, constant: bool) -> list[Read]:
    """Reads in code that the program reaches, the nearest first."""
    distance = taken.program.entry.reach.distance
    found = [read for read in taken.reads.of(name, constant) if read.function in distance]
    if not found and not constant:  # who names its section runs in another program only
        found = [read for read in taken.reads.of_kin(name) if read.function in distance]
    near = sorted(found, key=lambda read: (distance[read.function], read.function.path, read.line))
    return [read for read in near if _sees(read.function, taken.program)] if constant else near


def _sees(function: Function, program: Program) -> bool:
    return function.path == program.entry.path


def reads_in(expr: Expr) -> Iterator[str]:
    """Dotted names in an expression that may be keys: not the method of args.hub_id.split("/")."""
    methods = {id(part.parts[0]) for part in expr.walk() if part.kind == "call" and part.last in _METHODS}
    for part in expr.walk():
        if part.kind == "path" and id(part) not in methods:
            yield part.text
        elif part.kind == "index" and len(part.parts) == 2 and part.parts[1].kind == "string":
            yield subscripts(part)
