"""One program of a repository: what the components are asked to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from trainsleuth.facts import Class, Event, Expr, External, Function, Index, Module, Site

from .calling.annotations import named_types
from .calling.binding import bound_call, bound_names, names_given
from .calling.class_methods import made_through
from .calling.edges import GUESS, PART
from .calling.fired import FIRE, fired
from .calling.graph import Graph
from .calling.optional_imports import resolve
from .calling.values import Values
from .launching.launch import Command
from .launching.plugins import Plugin
from .launching.starting import Start
from .loop.frameworks import Handover
from .loop.steps import Sign
from .loop.training import Training
from .naming.named_classes import named_classes
from .naming.named_records import Record, records_in
from .naming.tables import OF_ALL, Table
from .programs.entries import Entry
from .programs.running import is_guarded
from .programs.sidelines import ASIDE, NEVER
from .recipe.branches import Settled, asked_key, calls_of, is_not_chosen
from .recipe.config_objects import default_of
from .recipe.keys import key_of
from .recipe.recipes import Choice, Setting
from .recipe.tabled_functions import FunctionTable, function_tables, left_aside
from .records import Place

HAND_OVERS = ("run_stage", "spawn", "partial", "start_processes", "notebook_launcher", "Process", "main")
FAR = 30
SLOPE = 0.15  # how fast code away from the frame of the program loses weight
REACHED = 0.35  # weights at or above this belong to functions that the entry is seen to reach


_MAKES = re.compile(r"(?:find|create|get|build|make|init|instantiate|construct)(?:_|$)")


class Called(NamedTuple):
    """One call in code that the program reaches, with what it may call."""

    function: Function
    event: Event
    call: Expr
    targets: tuple[Class | Function | External, ...]
    weight: float


@dataclass(frozen=True, eq=False)
class Program:
    """`signs` and `handed` are of the whole repository; `weight` says what of it belongs to this program."""

    index: Index
    values: Values
    graph: Graph
    entry: Entry
    entries: tuple[Entry, ...]
    siblings: frozenset[str]  # near copies of the entry
    signs: Mapping[Function, list[Sign]]
    handed: Mapping[Function, list[Handover]]
    assumed: tuple[Function, ...] = ()  # training steps taken for its own although no way to them was read
    started: tuple[str, ...] = ()  # every file of the repository that may be started
    commands: tuple[Command, ...] = ()  # all that texts of the repository start
    choices: tuple[Choice, ...] = ()
    config_paths: tuple[str, ...] = ()
    held_configs: frozenset[str] = frozenset()  # those that Python files hold under a name, as of a `Part`
    recipe: str | None = None
    told: bool = False  # the caller names the recipe or the launch command
    settings: tuple[Setting, ...] = ()
    start: Start | None = None  # by a launcher, which finds it by a name in the recipe
    tables: tuple[Table, ...] = ()  # tables of the repository from which a name picks classes
    plugin: Plugin | None = None  # what a library's own command runs
    _weights: dict[Function, float] = field(default_factory=dict)
    _names: dict[tuple[Function, str], str] = field(default_factory=dict)
    _guarded: dict[str, frozenset[int]] = field(default_factory=dict)
    _callers: dict[Function, tuple[tuple[Function, int], ...]] = field(default_factory=dict)
    idle: dict[tuple[Function, int, int], str] = field(default_factory=dict)  # what standing.off has found

    def weight(self, function: Function) -> float:
        """How much `function` belongs to this program: 1 at the entry, below REACHED when it was not reached."""
        if function not in self._weights:
            self._weights[function] = self._weigh(function)
        return self._weights[function]

    @cached_property
    def training(self) -> Training:
        """How it trains: the step, the way to it, the loops, the framework."""
        return Training(
            self.index, self.values, self.graph, self.entry, self.signs, self.handed, self.choices, self.plugin
        )

    def _weigh(self, function: Function) -> float:
        if function in self.entry.reach.distance:
            aside = self.training.from_spine.get(function, FAR)
            return max(REACHED, 1 / (1 + SLOPE * aside))
        if function.path in self.siblings:
            return 0.03
        if NEVER.search(function.path):
            return 0.01
        if function.path in self.entry.reach.files:
            return 0.3
        return 0.05 if ASIDE.search(function.path) else 0.2

    def calls(self, *last_names: str) -> Iterator[tuple[Site, float]]:
        """Calls by their last name, with the weight of where they stand; not those of tests."""
        for site in self.index.calls(*last_names):
            weight = self.weight(site.function)
            if weight > 0.02:
                yield site, weight

    @cached_property
    def reached_calls(self) -> tuple[Called, ...]:
        """Every call in reached code that the settings let run, nearest functions first, in source order."""
        return tuple(
            Called(function, event, call, self.graph.targets(function, call), weight)
            for function, weight in self.functions()
            for event in function.events
            if event.calls
            and not is_not_chosen(event, settled := Settled(self.values.known.settings, self.index, function))
            for call in calls_of(event, settled)
        )

    @cached_property
    def called(self) -> frozenset[Function]:
        """Functions that calls lead to, from the entry and from what is known to run."""
        reached = self.entry.reach
        return self._led_to(one for one in reached.distance if one not in reached.parents)

    @cached_property
    def run(self) -> frozenset[Function]:
        """The same with the way to the training step."""
        return self._led_to([*self.called, *self.training.spine])

    def _led_to(self, first: Iterable[Function]) -> frozenset[Function]:
        found = set(first)
        queue = list(found)
        while queue:
            for edge in self.graph.edges(queue.pop()):
                is_call = edge.cost not in (GUESS, PART) and edge.target in self.entry.reach.distance
                if is_call and edge.target not in found:
                    found.add(edge.target)
                    queue.append(edge.target)
        return frozenset(found)

    @cached_property
    def chosen(self) -> frozenset[Class | Function]:
        """What settings choose by name."""
        return frozenset(one.target for one in self.choices if one.target is not None)

    @cached_property
    def named_records(self) -> Mapping[str, Record]:
        """What code that it reaches says of names."""
        return records_in(self.entry.reach.distance)

    @cached_property
    def made_at(self) -> Mapping[Class, list[tuple[Function, int]]]:
        """Classes of the project that reached calls make: where."""
        found: dict[Class, list[tuple[Function, int]]] = {}
        for called in self.reached_calls:
            settled = Settled(self.values.known.settings, self.index, called.function)
            if is_not_chosen(called.event, settled) or called.call not in tuple(calls_of(called.event, settled)):
                continue
            for target in called.targets:
                made = target if isinstance(target, Class) else None
                if isinstance(target, Function):
                    made = made_through(self.index, called.function, called.call, target)
                if made is not None:
                    found.setdefault(made, []).append((called.function, called.call.line))
        return found

    @cached_property
    def constructed(self) -> frozenset[Class]:
        """Classes that reached calls make, those of the recipe's objects, what may stand in their fields, and all bases."""
        found: set[Class] = set()
        left = [*self.made_at, *self.values.objects.made]
        while left:
            for cls in self.index.lineage(left.pop()):
                if cls not in found:
                    found.add(cls)
                    held = (default_of(event.value) for event in cls.body.events if event.value is not None)
                    named = (self.index.resolve(cls.body, one.text) for one in held if one is not None)
                    types = (one for event in cls.body.events for one in named_types(self.index, cls.body, event.text))
                    left += [one for one in chain(named, types) if isinstance(one, Class)]
        return frozenset(found)

    @cached_property
    def function_tables(self) -> tuple[FunctionTable, ...]:
        """Tables of functions that make settings, of the files that it loads."""
        return tuple(function_tables(self.index, self.entry.reach.files))

    @cached_property
    def left_aside(self) -> frozenset[Function]:
        """Functions of these tables, where its settings are what one of them makes."""
        return left_aside(self.function_tables, self.settings)

    @cached_property
    def named_at(self) -> Mapping[Class, list[tuple[Function, int]]]:
        """Classes of the project that reached code names and does not call there: where."""
        files = (self.index.files[path] for path in self.entry.reach.files)
        bodies = (cls.body for file in files for cls in file.classes.values())
        return named_classes(self.index, dict.fromkeys((*self.entry.reach.distance, *bodies)))

    @cached_property
    def project_calls(self) -> Mapping[tuple[str, int], list[Called]]:
        """Reached calls of the project's own code, by path and line."""
        found: dict[tuple[str, int], list[Called]] = {}
        for called in self.reached_calls:
            if any(isinstance(target, Class | Function) for target in called.targets):
                found.setdefault((called.function.path, called.call.line), []).append(called)
        return found

    @cached_property
    def bound_calls(self) -> tuple[tuple[Called, tuple[str, ...]], ...]:
        """Reached calls whose result a statement binds, with the last names that it is bound to."""
        return tuple(
            (called, tuple(bound_names(called.event)))
            for called in self.reached_calls
            if called.event.kind == "assign" and called.call is bound_call(called.event)
        )

    @cached_property
    def handed_names(self) -> tuple[tuple[Function, Event, float], ...]:
        """Reached statements that take a thing over under its name: self.optimizer = config.optimizer."""
        return tuple(
            (function, event, weight)
            for function, weight in self.functions()
            for event in function.events
            if event.kind == "assign" and event.value is not None and event.value.kind == "path"
            if "." in event.value.text and event.value.last in bound_names(event)
        )

    @cached_property
    def spoken(self) -> Mapping[str, list[tuple[Function, int]]]:
        """The names in reached code, of what is defined, called, bound, given and offered as an option: where."""
        found: dict[str, list[tuple[Function, int]]] = {}
        for function, _ in self.functions():
            found.setdefault(function.name, []).append((function, function.line))
            if function.name == "__init__" and (owner := self.index.class_of(function)) is not None:
                found.setdefault(owner.name, []).insert(0, (function, owner.line))
            for event in function.events:
                for name, line in chain(((one, event.line) for one in bound_names(event)), names_given(event.calls)):
                    found.setdefault(name, []).append((function, line))
        return found

    @cached_property
    def asked(self) -> Mapping[str, list[tuple[Function, int]]]:
        """The last names of what reached code tests: where."""
        found: dict[str, list[tuple[Function, int]]] = {}
        for function, _ in self.functions():
            for event in function.events:
                if event.kind == "if" and event.value is not None:
                    for name in dict.fromkeys(part.last for part in event.value.walk() if part.kind == "path"):
                        found.setdefault(name, []).append((function, event.line))
        return found

    @cached_property
    def _lookups(self) -> Mapping[str, list[tuple[Function, int]]]:
        """Calls that find or make what a setting names, find(cfg.system_type): where, by the last word of the key."""
        found: dict[str, list[tuple[Function, int]]] = {}
        for called in self.reached_calls:
            makes = _MAKES.match(called.call.last) and called.call.arguments
            key = key_of(called.call.arguments[0]) if makes else None
            if key:
                found.setdefault(key.rpartition(".")[2], []).append((called.function, called.call.line))
        return found

    def chosen_at(self, choice: Choice) -> Iterator[Place]:
        """Where the code looks a choice up in its table; in one of classes of every kind, where it asks by the key."""
        of_all = choice.table is not None and choice.table.kind.startswith(OF_ALL)
        for function, line in self._lookups.get(choice.key.rpartition(".")[2], ()) if of_all else choice.sites:
            if self.is_reached(function):
                yield self.at(function, line, "looked up", 0.85)

    def functions(self) -> Iterator[tuple[Function, float]]:
        """Functions that the entry is seen to reach, nearest first."""
        for function in self.entry.reach.distance:
            yield function, self.weight(function)

    def full_name(self, function: Function, dotted: str) -> str:
        """The external name that `dotted` means in `function`, or ""."""
        key = (function, dotted)
        if key not in self._names:
            symbol = resolve(self.index, function, dotted)
            self._names[key] = symbol.name if isinstance(symbol, External) else ""
        return self._names[key]

    def resolved(self, site: Site) -> Class | Function | External | Module | None:
        symbol = resolve(self.index, site.function, site.call.callee) if site.call.callee else None
        return symbol if isinstance(symbol, Class | Function | External | Module) else None

    def first_line(self, path: str) -> int:
        """The first line of a configuration file that says something; of Python, something of this run."""
        of_run = [one.line for one in self.settings if one.path == path] if path.endswith(".py") else []
        table = self.index.configs[path] if not of_run and path in self.index.configs else {}
        return min(of_run or (value.line for value in table.values()), default=1)

    def callers(self, target: Function) -> Iterator[tuple[Function, int]]:
        """(caller, line) of every reached call of `target` by its name, and of every place that hands it on."""
        if target not in self._callers:
            found = tuple(self._called_by(target))
            runs = any(not self.never_runs(function.path, line) for function, line in found)
            self._callers[target] = found if runs else (*found, *self._fired(target))
        yield from self._callers[target]

    def _called_by(self, target: Function) -> Iterator[tuple[Function, int]]:
        called: set[Function] = set()
        for site in self.index.calls(target.name):
            if self.is_reached(site.function) and self._may_call(site.function, target):
                called.add(site.function)
                yield site.function, site.call.line
        for one in called:  # if args.many: launch(main, args) else: main(args)
            calls = (call for event in one.events for call in event.calls)
            yield from (
                (one, part.line) for call in calls for part in _handed(call, target) if self._is(one, part, target)
            )
        for site in self.index.calls(*HAND_OVERS):
            if site.function not in called and self.is_reached(site.function) and self._may_call(site.function, target):
                yield from ((site.function, part.line) for part in _handed(site.call, target))

    def _fired(self, target: Function) -> Iterator[tuple[Function, int]]:
        """Where python-fire is handed an object whose method it is, unless the command names another."""
        for site in self.index.calls(FIRE) if target not in self.values.known.unasked else ():
            if self.is_reached(site.function):
                ran = (one for _, one in fired(self.values, site.function, site.call))
                yield from ((site.function, site.call.line) for one in ran if one is target)

    def _is(self, function: Function, name: Expr, target: Function) -> bool:
        return target in self.values.callables(function, name)

    def sites_of(self, target: Function) -> Iterator[Site]:
        """Reached calls that may run `target`."""
        for site in self.values.calls.of(target):
            if self.is_reached(site.function) and self._may_call(site.function, target):
                yield site

    def _may_call(self, caller: Function, target: Function) -> bool:
        return any(edge.target is target and edge.cost < PART for edge in self.graph.edges(caller))

    def is_loaded(self, path: str) -> bool:
        """A file of which the entry is seen to reach some code, or that is no code."""
        return path not in self.index.files or path in self.entry.reach.files

    def is_reached(self, function: Function) -> bool:
        return function in self.entry.reach.distance

    def subcommand(self, function: Function, name: str) -> str | None:
        """The word of the launch command that a local name is worth where code compares it with those of subcommands."""
        return self.values.known.settings.get(asked_key(function, name))

    def never_runs(self, path: str, line: int) -> bool:
        """Under the guard of a file that this program only imports."""
        if path not in self._guarded:
            started = any(root.path == path for root in self.entry.reach.roots)
            file = None if started else self.index.files.get(path)
            self._guarded[path] = frozenset(e.line for e in file.body.events if is_guarded(e)) if file else frozenset()
        return line in self._guarded[path]

    def at_target(self, target: Class | Function, role: str, score: float) -> Place:
        return Place(target.path, target.line, role, score)

    def at(self, function: Function, line: int, role: str, score: float) -> Place:
        """A place in the code of `function`."""
        return Place(function.path, line, role, score)


def _handed(call: Expr, target: Function) -> Iterator[Expr]:
    """Where a call is given a function by its name."""
    for argument in call.arguments:
        yield from (part for part in argument.walk() if part.kind == "path" and part.last == target.name)
