"""How a program trains: the step, the way down to it, the loops around it, and what a framework holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from trainsleuth.facts import Class, Expr, Function, Index

from ..calling.graph import Graph
from ..calling.reach import reach
from ..calling.values import Values
from ..calling.ways import Ways
from ..launching.plugins import Plugin, steps_of
from ..naming.named_choice import is_named
from ..programs.entries import Entry
from ..recipe.chosen import roots_of
from ..recipe.recipes import RECIPE_DISTANCE, Choice
from .batch_path import Stage, trace_back
from .frameworks import Framework, Handover
from .hooks import derived_classes, handed_classes, handed_networks, hook_methods, trainers_run
from .networks import is_loss_class, is_network
from .replaced import replaced_hooks
from .steps import Sign

_MAKE_LOSS = ("training_step", "compute_loss", "train_step", "loss", "forward_train")
_RUN_BY_FRAMEWORKS = ("forward_train", "train_step")  # methods of what holds the networks, before what it holds
_STEPS = ("optimizer step", "zero_grad")
MAX_PARTS = 3  # calls from what goes backward to what steps


@dataclass(frozen=True, eq=False)
class Training:
    """Answers are worked out when they are asked for, and kept."""

    index: Index
    values: Values
    graph: Graph
    entry: Entry
    signs: Mapping[Function, list[Sign]]
    handed: Mapping[Function, list[Handover]]
    choices: tuple[Choice, ...]
    plugin: Plugin | None = None

    @cached_property
    def ways(self) -> Ways:
        """From a function back to the entry."""
        looped = (one for one, found in self.signs.items() if any(_goes_backward_in_loop(sign) for sign in found))
        return Ways(self.index, self.graph, self.entry.reach, frozenset(looped))

    @cached_property
    def spine(self) -> tuple[Function, ...]:
        """The functions from the entry down to the training step (or the hand-over): the frame of the program."""
        goals = [*self.steppers[:2], *([self.handed_over] if self.handed_over is not None else [])]
        way = [caller for goal in goals for caller, _ in self.ways.back(goal)]
        return tuple(dict.fromkeys((*self.entry.reach.roots, *way, *goals, *self._hooks)))

    @property
    def _hooks(self) -> Iterator[Function]:
        """Reached methods of the classes that the framework runs."""
        if self.framework is not None and self.step is None:
            for cls in self.hooked_classes:
                for method in hook_methods(self.framework, cls):
                    if method in self.entry.reach.distance:
                        yield method

    @cached_property
    def from_spine(self) -> Mapping[Function, int]:
        """Distance of every function from the spine; what a recipe chose is near it."""
        chosen = [(function, RECIPE_DISTANCE) for function in roots_of(self.index, self.choices)]
        return reach(self.graph, self.spine, chosen).distance

    @cached_property
    def framework(self) -> Framework | None:
        """The framework that the program hands its loop to, when no loop of its own is nearer."""
        if self.plugin is not None:
            return self.plugin.framework
        own = min((self.entry.reach.distance[f] for f in self._backwards), default=None)
        reached = self.entry.reach.distance
        handed = [(reached[f], h) for f, hs in self.handed.items() if f in reached for h in hs]
        if not handed:
            return None
        near, handover = min(handed, key=lambda pair: pair[0])
        manual = all(
            s.site.call.last == "manual_backward"
            for f in self._backwards
            for s in self.signs[f]
            if s.role == "backward"
        )
        return handover.framework if own is None or near <= own or manual else None

    @cached_property
    def _backwards(self) -> tuple[Function, ...]:
        """Reached functions that call backward."""
        return tuple(
            f
            for f, signs in self.signs.items()
            if f in self.entry.reach.distance and any(s.role == "backward" for s in signs)
        )

    @cached_property
    def steppers(self) -> tuple[Function, ...]:
        """Those that train, the one that is the training step first.

        A gradient that is computed aside is none of them: where a framework holds the loop, where another function steps.
        """
        found = self._backwards
        if self.framework is not None:
            found = tuple(f for f in found if self.index.class_of(f) in self.hooked_classes or self._steps(f))
        elif len(found) > 1:
            found = tuple(f for f in found if self._steps(f) or self._is_of_a_step(f)) or found
        return tuple(sorted(found, key=self._step_rank))

    def _steps(self, function: Function) -> bool:
        return any(s.role == "optimizer step" or s.site.call.last == "manual_backward" for s in self.signs[function])

    def _is_of_a_step(self, function: Function) -> bool:
        """What is seen to call it steps, or it calls what does, or stands in it; or nothing is seen to call it."""
        near = frozenset((function, *self.ways.around(function, MAX_PARTS)))
        return len(near) == 1 or any(
            sign.role in _STEPS for one in near for sign in self.signs.get(one, ()) if one in self.entry.reach.distance
        )

    def _step_rank(self, function: Function) -> tuple[float, str, int]:
        roles = {sign.role for sign in self.signs[function]}
        looped = any(sign.site.event.block.loops for sign in self.signs[function] if sign.role == "backward")
        bonus = 3 * ("optimizer step" in roles) + 2 * ("zero_grad" in roles) + 2 * looped
        owner = self.index.class_of(function)
        bonus += 6 * (owner in self._chosen_classes or (owner is not None and is_named(owner, self.graph.words)))
        return self.entry.reach.distance[function] - bonus, function.path, function.line

    @cached_property
    def _chosen_classes(self) -> frozenset[Class | None]:
        """What the settings choose, with the classes above."""
        chosen = (one.target for one in self.choices if isinstance(one.target, Class))
        return frozenset(base for cls in chosen for base in self.index.lineage(cls))

    @cached_property
    def step(self) -> Function | None:
        """The function in which the loss goes backward."""
        return self.steppers[0] if self.steppers else None

    @cached_property
    def loop_lines(self) -> Mapping[Function, frozenset[int]]:
        """Lines of the loops that training runs in, by the function they stand in."""
        found: dict[Function, set[int]] = {}
        for function in self.steppers[:6]:
            found.setdefault(function, set()).update(loop.line for loop in function.loops)
            for caller, loop, _ in self.ways.loops_down_to(function):
                found.setdefault(caller, set()).add(loop.line)
        return {function: frozenset(lines) for function, lines in found.items()}

    @cached_property
    def hooked_classes(self) -> tuple[Class, ...]:
        """Project classes that the framework runs: those that are handed to it, else all that derive from its own."""
        framework = self.framework
        if framework is None:
            return ()
        if self.plugin is not None:
            return self.plugin.classes
        handed = [h for f, hs in self.handed.items() if f in self.entry.reach.distance for h in hs]
        given = handed_classes(self.index, self.values, framework, handed)
        if not any(self.index.method(cls, name) for cls in given for name in framework.hooks[:1]):
            given = ()  # a data module, and a module that is not known
        outer = sorted(self.choices, key=lambda one: (one.path not in self.index.configs, one.key.count(".")))
        chosen = [one.target for one in outer if isinstance(one.target, Class) and is_network(self.index, one.target)]
        names = (*framework.hooks[:1], *_RUN_BY_FRAMEWORKS)
        run = [cls for cls in chosen if any(self.index.method(cls, name) for name in names)]
        below = [cls for cls in run if any(base in given for base in self.index.lineage(cls)[1:])]
        return (
            (() if below else given)
            or tuple(dict.fromkeys(base for cls in (below or run)[:1] for base in self.index.lineage(cls)))
            or trainers_run(self.index, self.values, framework, handed)
            or derived_classes(self.index, self.values, framework, handed, self.entry.reach.distance)
        )

    @cached_property
    def replaced(self) -> tuple[Function, ...]:
        """Functions that the program puts in the place of hooks of the framework's own classes."""
        framework = self.framework
        return replaced_hooks(self.index, framework, self.entry.reach.distance) if framework is not None else ()

    @cached_property
    def handed_over(self) -> Function | None:
        """The reached function that gives the loop to the framework."""
        reached = [f for f in self.handed if f in self.entry.reach.distance]
        return min(reached, key=lambda f: (self.entry.reach.distance[f], f.path, f.line), default=None)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The statements that make the loss of this program, nearest to backward first."""
        starts: list[Sign | tuple[Function, int]] = []
        if self.step is not None:
            for function in self.steppers[:3]:
                starts.extend(sign for sign in self.signs[function] if sign.role == "backward")
        elif self.framework is not None:
            methods = [cls.methods[name] for cls in self.hooked_classes for name in _MAKE_LOSS if name in cls.methods]
            methods = list(steps_of(self.plugin)) if self.plugin is not None else methods
            methods = [*methods, *(one for one in self.replaced if one.name in _MAKE_LOSS)]
            for method in methods or filter(None, (self.index.method(one, "forward") for one in self.handed_networks)):
                starts.extend((method, at) for at, e in enumerate(method.events) if e.kind == "return")
        return trace_back(self.graph, starts, self.entry.reach.parents)

    @cached_property
    def handed_networks(self) -> tuple[Class, ...]:
        """Networks that the framework is given and calls itself, for a loss that they make in forward()."""
        handed = [h for f, hs in self.handed.items() if f in self.entry.reach.distance for h in hs]
        given = handed_networks(self.index, self.values, handed) if self.framework is not None else ()
        return tuple(one for one in given if one not in self.hooked_classes)

    @cached_property
    def run_classes(self) -> Mapping[Class, int]:
        """Networks that the training step runs, with how many calls away from it."""
        return {**dict.fromkeys(self.handed_networks, 0), **self._classes_run("forward")}

    @cached_property
    def inner_classes(self) -> Mapping[Class, int]:
        """Networks that are run by those networks, with how many calls away from the training step."""
        return self._classes_run("inside")

    def _classes_run(self, role: str) -> Mapping[Class, int]:
        found: dict[Class, int] = {}
        for stage in self.stages:
            if stage.role == role:
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


def _goes_backward_in_loop(sign: Sign) -> bool:
    return sign.role == "backward" and bool(sign.site.event.block.loops)
