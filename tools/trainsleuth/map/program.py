"""One program of a repository: what the components are asked to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from trainsleuth.facts import Class, Event, Expr, External, Function, Index, Loop, Module, Site

from .batch_path import Stage, trace_back
from .entries import ASIDE, NEVER, Entry
from .frameworks import Framework, Handover
from .graph import PART, Graph
from .networks import is_loss_class, is_network
from .reach import reach
from .recipes import RECIPE_DISTANCE, Choice, Setting, roots_of
from .records import Place
from .steps import Sign
from .values import Values

HAND_OVERS = ("run_stage", "spawn", "partial", "start_processes", "notebook_launcher", "Process", "main")
FAR = 30
REACHED = 0.35  # weights at or above this belong to functions that the entry is seen to reach


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
    choices: tuple[Choice, ...] = ()
    config_paths: tuple[str, ...] = ()
    recipe: str | None = None
    settings: tuple[Setting, ...] = ()
    _weights: dict[Function, float] = field(default_factory=dict)
    _names: dict[tuple[Function, str], str] = field(default_factory=dict)

    def weight(self, function: Function) -> float:
        """How much `function` belongs to this program: 1 at the entry, below REACHED when it was not reached."""
        if function not in self._weights:
            self._weights[function] = self._weigh(function)
        return self._weights[function]

    def _weigh(self, function: Function) -> float:
        if function in self.entry.reach.distance:
            aside = self.from_spine.get(function, FAR)
            return max(REACHED, 1 / (1 + 0.09 * aside))
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
        """Every call in reached code, nearest functions first, in source order."""
        return tuple(
            Called(function, event, call, self.graph.targets(function, call), weight)
            for function, weight in self.functions()
            for event in function.events
            for call in event.calls
        )

    @cached_property
    def run_classes(self) -> Mapping[Class, int]:
        """Networks that the training step runs, with how many calls away from it."""
        found: dict[Class, int] = {}
        for stage in self.stages:
            if stage.role == "forward":
                for call in stage.event.calls:
                    if call.line == stage.line:
                        for cls in self._run_by(stage.function, call):
                            found.setdefault(cls, stage.hops)
        return found

    def _run_by(self, function: Function, call: Expr) -> Iterator[Class]:
        held = self.values.of(function, call.parts[0]) if call.parts[0].kind == "path" else ()
        through = self.values.of(function, call.receiver) if not held and call.receiver is not None else ()
        for one in (*held, *through):
            if isinstance(one, Class) and is_network(self.index, one) and not is_loss_class(self.index, one):
                yield one

    def chosen_at(self, choice: Choice) -> Iterator[Place]:
        """Where the code looks a choice up in its table."""
        for function, line in choice.sites:
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
            symbol = self.index.resolve(function, dotted)
            self._names[key] = symbol.name if isinstance(symbol, External) else ""
        return self._names[key]

    def called_name(self, site: Site) -> str:
        """The external name of what a call calls, or ""."""
        return self.full_name(site.function, site.call.callee) if site.call.callee else ""

    def resolved(self, site: Site) -> Class | Function | External | Module | None:
        symbol = self.index.resolve(site.function, site.call.callee) if site.call.callee else None
        return symbol if isinstance(symbol, Class | Function | External | Module) else None

    def first_line(self, path: str) -> int:
        """The first line of a configuration file that says something."""
        return min((value.line for value in self.index.configs[path].values()), default=1)

    def callers(self, target: Function) -> Iterator[tuple[Function, int]]:
        """(caller, line) of every reached call of `target` by its name, and of every place that hands it on."""
        called: set[Function] = set()
        for site in self.index.calls(target.name):
            if self.is_reached(site.function) and self._may_call(site.function, target):
                called.add(site.function)
                yield site.function, site.call.line
        for site in self.index.calls(*HAND_OVERS):
            if site.function not in called and self.is_reached(site.function) and self._may_call(site.function, target):
                for part in site.call.walk():
                    if part.kind == "path" and part.last == target.name:
                        yield site.function, part.line

    def _may_call(self, caller: Function, target: Function) -> bool:
        return any(edge.target is target and edge.cost < PART for edge in self.graph.edges(caller))

    def is_reached(self, function: Function) -> bool:
        return function in self.entry.reach.distance

    @cached_property
    def spine(self) -> tuple[Function, ...]:
        """The functions from the entry down to the training step (or the hand-over): the frame of the program."""
        goals = [*self.steppers[:2], *([self.handed_over] if self.handed_over is not None else [])]
        way = [caller for goal in goals for caller, _ in self.entry.reach.way(goal)]
        return tuple(dict.fromkeys((*self.entry.reach.roots, *way, *goals)))

    @cached_property
    def from_spine(self) -> Mapping[Function, int]:
        """Distance of every function from the spine; what a recipe chose is near it."""
        chosen = [(function, RECIPE_DISTANCE) for function in roots_of(self.index, self.choices)]
        return reach(self.graph, self.spine, chosen).distance

    @cached_property
    def framework(self) -> Framework | None:
        """The framework that the program hands its loop to, when no loop of its own is nearer."""
        own = min((self.entry.reach.distance[f] for f in self.steppers), default=None)
        reached = self.entry.reach.distance
        handed = [(reached[f], h) for f, hs in self.handed.items() if f in reached for h in hs]
        if not handed:
            return None
        near, handover = min(handed, key=lambda pair: pair[0])
        manual = all(
            s.site.call.last == "manual_backward" for f in self.steppers for s in self.signs[f] if s.role == "backward"
        )
        return handover.framework if own is None or near <= own or manual else None

    @cached_property
    def steppers(self) -> tuple[Function, ...]:
        """Reached functions that call backward, the one that is the training step first."""
        found = [
            f for f, signs in self.signs.items() if self.is_reached(f) and any(s.role == "backward" for s in signs)
        ]
        return tuple(sorted(found, key=self._step_rank))

    def _step_rank(self, function: Function) -> tuple[float, str, int]:
        roles = {sign.role for sign in self.signs[function]}
        looped = any(sign.site.event.block.loops for sign in self.signs[function] if sign.role == "backward")
        bonus = 3 * ("optimizer step" in roles) + 2 * ("zero_grad" in roles) + 2 * looped
        return self.entry.reach.distance[function] - bonus, function.path, function.line

    @cached_property
    def step(self) -> Function | None:
        """The function in which the loss goes backward."""
        return self.steppers[0] if self.steppers else None

    def calls_down_to(self, function: Function) -> Iterator[tuple[Function, int, Function]]:
        """Calls from the outermost loop down to `function`, inner first: (where, line, what is called)."""
        way = [(caller, edge) for caller, edge in self.entry.reach.way(function) if edge.position >= 0]
        looped = [rank for rank, (caller, edge) in enumerate(way) if caller.events[edge.position].block.loops]
        for caller, edge in way[: looped[-1] + 1] if looped else ():
            yield caller, caller.events[edge.position].line, edge.target

    def loops_down_to(self, function: Function) -> Iterator[tuple[Function, Loop, int]]:
        """Loops on the way from the entry to `function`, inner first: (where, loop, line of the call in it)."""
        for caller, edge in self.entry.reach.way(function):
            if edge.position < 0:
                continue
            event = caller.events[edge.position]
            for number in reversed(event.block.loops):
                yield caller, caller.loops[number], event.line

    @cached_property
    def loop_lines(self) -> Mapping[Function, frozenset[int]]:
        """Lines of the loops that training runs in, by the function they stand in."""
        found: dict[Function, set[int]] = {}
        for function in self.steppers[:6]:
            found.setdefault(function, set()).update(loop.line for loop in function.loops)
            for caller, loop, _ in self.loops_down_to(function):
                found.setdefault(caller, set()).add(loop.line)
        return {function: frozenset(lines) for function, lines in found.items()}

    @cached_property
    def hooked_classes(self) -> tuple[Class, ...]:
        """Project classes that the framework runs: reached ones first, never those of tests."""
        framework = self.framework
        if framework is None:
            return ()
        given = self._handed_classes()
        if given:
            return given
        found = []
        for cls in self.index.classes():
            bases = self.index.external_bases(cls)
            if any(base.partition(".")[0] in framework.packages for base in bases):
                weight = max((self.weight(method) for method in cls.methods.values()), default=self.weight(cls.body))
                found.append((weight, cls))
        found.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].line))
        near = [cls for weight, cls in found if weight >= REACHED] or [cls for weight, cls in found if weight > 0.1]
        return tuple(near[:6])

    def _handed_classes(self) -> tuple[Class, ...]:
        """Classes of what is handed to the framework, with their bases: trainer.fit(model, data)."""
        found: dict[Class, None] = {}
        for function, handovers in self.handed.items():
            for handover in handovers if self.is_reached(function) else ():
                for part in handover.site.call.parts[1:]:
                    value = part.parts[0] if part.kind == "keyword" else part
                    for held in self.values.of(function, value):
                        if isinstance(held, Class) and self._has_hooks(held):
                            found.update(dict.fromkeys(self.index.lineage(held)))
        return tuple(found)

    def _has_hooks(self, cls: Class) -> bool:
        framework = self.framework
        return framework is not None and any(self.index.method(cls, name) is not None for name in framework.hooks)

    @cached_property
    def handed_over(self) -> Function | None:
        """The reached function that gives the loop to the framework."""
        reached = [f for f in self.handed if self.is_reached(f)]
        return min(reached, key=lambda f: (self.entry.reach.distance[f], f.path, f.line), default=None)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The statements that make the loss of this program, nearest to backward first."""
        starts: list[Sign | tuple[Function, int]] = []
        if self.step is not None:
            for function in self.steppers[:3]:
                starts.extend(sign for sign in self.signs[function] if sign.role == "backward")
        elif self.framework is not None:
            for cls in self.hooked_classes:
                for name in ("training_step", "compute_loss", "train_step"):
                    if (method := cls.methods.get(name)) is not None:
                        starts.extend((method, at) for at, e in enumerate(method.events) if e.kind == "return")
        return trace_back(self.graph, starts, self.entry.reach.parents)

    def at_target(self, target: Class | Function, role: str, score: float) -> Place:
        return Place(target.path, target.line, role, score)

    def at(self, function: Function, line: int, role: str, score: float) -> Place:
        """A place in the code of `function`."""
        return Place(function.path, line, role, score)


def instance_of(program: Program, function: Function, expr: Expr) -> tuple[Class, ...]:
    """Project classes that `expr` may be an instance of."""
    return tuple(held for held in program.values.of(function, expr) if isinstance(held, Class))
