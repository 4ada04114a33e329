"""The project index: every file's facts, and the questions that cross files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trainsleuth.repository import Repository

from .naming.classes import Classes
from .naming.names import Names, Symbol
from .naming.sites import Site, Sites, is_test
from .reading.config import Configs, ConfigValue
from .reading.scopes import Binding, bindings
from .reading.scoping import Name, Scoping
from .reading.texts import Texts
from .records import Class, Expr, FileFacts, Function
from .running.reached import Reached
from .tensors.altered import altered, set_by_name
from .tensors.ingredients import Walking
from .tensors.losses import CalledAt
from .tensors.values import Values
from .tracing.callers import Caller, Callers
from .tracing.flow import Flow
from .tracing.following import Circles
from .tracing.frames import Frames
from .tracing.holders import Holders
from .tracing.members import Members
from .tracing.needs import Needs
from .tracing.objects import Objects
from .training.effects import Effects
from .training.freezing import switching_names
from .words import words


@dataclass(frozen=True, eq=False)
class Index:
    """All facts of a project. Build it with `build_index`; then ask."""

    repository: Repository
    files: Mapping[str, FileFacts]
    configs: Mapping[str, Mapping[str, ConfigValue]]
    beside: Mapping[str, str] = field(default_factory=dict)  # file -> a folder that it also imports from

    @cached_property
    def names(self) -> Names:
        return Names(self.files, self.beside, self.repository.links)

    @cached_property
    def sites(self) -> Sites:
        return Sites(self.files, self.names)

    @cached_property
    def hierarchy(self) -> Classes:
        return Classes(self.files, self.names)

    def resolve(self, function: Function, dotted: str) -> Symbol | None:
        """What a dotted name means inside `function`; see `Names.resolve`."""
        return self.names.resolve(function, dotted)

    def functions(self) -> tuple[Function, ...]:
        """Every function, method, class body and module body, by path and in source order."""
        return self.sites.functions

    def functions_holding(self, *patterns: re.Pattern[bytes]) -> Iterator[Function]:
        """Of `functions()`, those in whose text one of `patterns` is found; a file without any is searched once.

        A pattern that begins with letters, or with alternatives that do, is found several times as fast as one that
        begins with a boundary.
        """
        for file, held in self._texts.holding(*patterns):
            yield from (one for one in file.functions.values() if any(map(one.source.holds, held)))

    def files_holding(self, *patterns: re.Pattern[bytes]) -> Iterator[FileFacts]:
        """Files in whose text one of `patterns` is found, in their order. Those without its words are not even asked."""
        return (file for file, _ in self._texts.holding(*patterns))

    def is_held(self, *patterns: re.Pattern[bytes]) -> bool:
        """One of `patterns` is found in some file."""
        return any(True for _ in self.files_holding(*patterns))

    @cached_property
    def _texts(self) -> Texts:
        return Texts(self.files.values())

    def calls(self, *last_names: str) -> Iterator[Site]:
        """Every call whose last name is one of `last_names`: "step" gives opt.step(), self.opt.step()."""
        return self.sites.calls(*last_names)

    def part(self, path: str) -> str:
        """The part of the project that a file belongs to; see `Sites.part`."""
        return self.sites.part(path)

    def classes(self) -> tuple[Class, ...]:
        """Every class of the project, inner ones included."""
        return self.hierarchy.every

    def class_of(self, function: Function) -> Class | None:
        """The class that a method is written in."""
        return self.files[function.path].classes.get(function.owner) if function.owner else None

    def lineage(self, cls: Class) -> tuple[Class, ...]:
        """`cls` and its project base classes, nearest first."""
        return self.hierarchy.lineage(cls)

    def subclasses(self, cls: Class) -> tuple[Class, ...]:
        """Project classes below `cls`, at any depth."""
        return self.hierarchy.subclasses(cls)

    def external_bases(self, cls: Class) -> tuple[str, ...]:
        """Full names of the base classes outside the project, of the lineage; "?" for an unknown one."""
        return self.hierarchy.external_bases(cls)

    def method(self, cls: Class, name: str) -> Function | None:
        """The method that an instance of `cls` has under `name`, if the project defines it."""
        return self.hierarchy.method(cls, name)

    @cached_property
    def _functions_named(self) -> dict[str, list[Function]]:
        table: dict[str, list[Function]] = {}
        for function in self.functions():
            table.setdefault(function.name, []).append(function)
        for cls in self.classes():
            if (init := self.method(cls, "__init__")) is not None:
                table.setdefault(cls.name, []).append(init)
        return table

    def functions_by_name(self) -> Mapping[str, list[Function]]:
        return self._functions_named

    def functions_named(self, name: str) -> tuple[Function, ...]:
        """Wide: every function or method of that name, and the constructor of every class of that name."""
        return tuple(self._functions_named.get(name, ()))

    @cached_property
    def _global_bindings(self) -> dict[tuple[str, str], list[tuple[Function, Binding]]]:
        table: dict[tuple[str, str], list[tuple[Function, Binding]]] = {}
        for function in self.functions_holding(*_GLOBAL):
            for event in function.events:
                for name in event.text.split() if event.kind == "global" else ():
                    found = [(function, binding) for binding in bindings(function).get(name, ())]
                    table.setdefault((function.path, name), []).extend(found)
        return table

    def global_bindings(self, path: str, name: str) -> tuple[tuple[Function, Binding], ...]:
        """Bindings of a module's variable from functions that call it global."""
        return tuple(self._global_bindings.get((path, name), ()))

    @cached_property
    def _set_from_outside(self) -> dict[str, list[tuple[Function, int]]]:
        table: dict[str, list[tuple[Function, int]]] = {}
        files = (file for file in self.files.values() if not file.is_plain)
        for function in (function for file in files for function in file.functions.values()):
            for path, found in bindings(function).items() if _may_set(function) else ():
                head, dot, name = path.rpartition(".")
                if not dot or head == function.self_name or found[0].kind != "assign":
                    continue
                if head.rpartition(".")[2].lower().strip("_") not in _SETTINGS:
                    table.setdefault(name, []).append((function, function.events[found[0].position].line))
        for function in self.functions_holding(*_BY_NAME):
            for name, line in set_by_name(function):
                table.setdefault(name, []).append((function, line))
        return table

    def set_from_outside(self, attribute: str) -> tuple[tuple[Function, int], ...]:
        """Places that assign `x.attribute` where x is not self and not named like a table of settings."""
        return tuple(self._set_from_outside.get(attribute, ()))

    @cached_property
    def altered(self) -> dict[tuple[str, int], str]:
        """Containers of layers that are changed after they were made at (file, line), and where they are."""
        return altered(self)

    @cached_property
    def called_at(self) -> CalledAt:
        """For `loss_calls`."""
        return CalledAt(self)

    @cached_property
    def switching_names(self) -> frozenset[str]:
        """Wide: last names of functions that freeze or thaw by themselves."""
        return switching_names(self)

    @cached_property
    def reached(self) -> Reached:
        """`index.reached.why_not(path, function)`: why no program comes to a place."""
        return Reached(self)

    @cached_property
    def circles(self) -> Circles:
        return Circles()

    @cached_property
    def frames(self) -> Frames:
        return Frames(self)

    @cached_property
    def needs(self) -> Needs:
        return Needs(self)

    @cached_property
    def flow(self) -> Flow:
        """`index.flow.origins(path, spot)`: one step back from a name."""
        return Flow(self)

    @cached_property
    def objects(self) -> Objects:
        """`index.objects.of(expr, spot)`: which things an expression may stand for."""
        return Objects(self)

    @cached_property
    def members(self) -> Members:
        """`index.members.of(expr, spot)`: what a collection holds."""
        return Members(self)

    @cached_property
    def walking(self) -> Walking:
        """For `ingredients`."""
        return Walking(self)

    @cached_property
    def values(self) -> Values:
        """`index.values.of(expr, spot)`: range and gradient of the tensor that an expression gives."""
        return Values(self)

    @cached_property
    def effects(self) -> Effects:
        """`index.effects.of(function)`: what calling it does to optimizers, losses and modes, at any
        depth.
        """
        return Effects(self)

    @cached_property
    def calling(self) -> Callers:
        """`index.calling.targets(call, spot)`, `index.calling.contexts(function)`: who calls whom."""
        return Callers(self)

    def configured(self, key: str) -> Iterator[ConfigValue]:
        """What configuration files give to `key`, or to keys that end in it behind a dot: lr and optimizer.lr."""
        last = key.rpartition(".")[2]
        for path in self.configs.holding(last) if isinstance(self.configs, Configs) else self.configs:
            yield from (value for one, value in self.configs[path].items() if one == key or one.endswith(f".{key}"))

    def callers(self, function: Function) -> tuple[Caller, ...]:
        """Every call outside tests that surely runs `function`."""
        return self.calling.of(function)

    @cached_property
    def _holders(self) -> Holders:
        return Holders(self)

    @property
    def scoping(self) -> Scoping:
        """Which variable a name means, by spelling alone."""
        return self._holders.scoping

    def names_that_run(self, function: Function) -> tuple[Name, ...]:
        """Wide: names of calls that may run `function`; "" for calls of what has no name is not among them."""
        return self._holders.runs(function)

    @property
    def functions_calling(self) -> Mapping[Name, list[Function]]:
        """By a name: the functions outside tests that call by it."""
        return self._holders.callers

    def may_run(self, call: Expr, function: Function) -> bool:
        """Wide: a call in `function` may run a function of the project."""
        return self._holders.may_run(call, function)

    def aliases(self, *names: str) -> frozenset[str]:
        """Wide: every last name that what is called so may go by."""
        return self._holders.aliases(names)

    def names_of_objects(self, *names: str) -> frozenset[str]:
        """Wide: every last name that an object of a class that is called so may go by, and of what gives one."""
        return self._holders.of_objects(names)

    def calls_holding(self, names: Iterable[str]) -> tuple[Site, ...]:
        """Wide: every call of a function with one of these names, or of an object of a class with one."""
        return self._holders.calls(names)


_BY_NAME = re.compile(rb"setattr\("), re.compile(rb"\._modules\[")
_GLOBAL = re.compile(rb"global\b"), re.compile(rb"nonlocal\b")
_SETTINGS = words(
    """
    args arg opt opts options config configs cfg conf hparams hp flags params param c a self
    """
)


def _may_set(function: Function) -> bool:
    """It is no test, and assigns to more than names and attributes of self."""
    if is_test(function.path):
        return False
    for event in function.events:
        for target in event.targets if event.kind == "assign" else ():
            if target.kind != "path" or ("." in target.text and target.text.rpartition(".")[0] != function.self_name):
                return True
    return False
