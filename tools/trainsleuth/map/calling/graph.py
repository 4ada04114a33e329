"""Who calls whom, as far as it can be read: the edges of the project's call graph, asked for one function at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from trainsleuth.facts import MODULE_BODY, Class, Event, Function

from ..naming.factories import is_left_aside
from ..naming.named_modules import sure
from ..programs.loading import loaded
from ..programs.running import imported, is_guarded
from ..recipe.branches import Settled, calls_of, is_not_chosen
from .class_methods import made_through
from .edges import CALLBACK, DIRECT, IMPORT, Edge, rank
from .methods import Methods
from .properties import Properties
from .runs import Runs
from .values import Values


class Graph:
    """Edges are read when they are asked for, and kept."""

    def __init__(
        self, values: Values, made: frozenset[Class] = frozenset(), words: frozenset[str] = frozenset()
    ) -> None:
        """`words` are names in the settings: of overrides, those of classes that are called so are run.

        `made` are classes that it is seen to make: where one inherits a method, only overrides that it has are run.
        """
        self.index = values.index
        self.values = values
        self.words = words
        self._classes = made
        self.methods = Methods(self.index, values.known, made, words)
        self._runs = Runs(values, self.methods)
        self.targets = self._runs.targets
        self.constructed = self._runs.constructed
        self._imports: dict[frozenset[str], frozenset[str]] = {}
        self._edges: dict[Function, tuple[Edge, ...]] = {}
        self._bridges: dict[Function, list[Edge]] = {}
        self._properties = Properties(values)

    def imports(self, paths: frozenset[str]) -> frozenset[str]:
        """Files that may be loaded when those at `paths` run: what they import, and what may be imported by a name.

        A project beside the program (examples/, projects/) that nothing imports is not among them.
        """
        if paths not in self._imports:
            self._imports[paths] = frozenset(loaded(self.index, paths, sure(self.values.known.modules)))
        return self._imports[paths]

    def edges(self, function: Function) -> tuple[Edge, ...]:
        if function not in self._edges:
            best: dict[tuple[Function, bool], Edge] = {}
            for edge in chain(self._read(function), self._bridges.get(function, ())):
                key = (edge.target, edge.guarded)
                if not self.values.known.is_loaded(edge.target.path):
                    continue
                if edge.cost >= CALLBACK and edge.target in self.values.known.unasked:
                    continue
                if edge.target is not function and (
                    key not in best or rank(function, edge) < rank(function, best[key])
                ):
                    best[key] = edge
            self._edges[function] = tuple(best.values())
        return self._edges[function]

    def bridge(self, function: Function, edges: Iterable[Edge]) -> None:
        """Edges that were not read but must be there."""
        self._bridges.setdefault(function, []).extend(edges)
        self._edges.pop(function, None)

    def keep_made(self, reached: Iterable[Function]) -> None:
        """Of several classes that a value may have, from now on only those run that `reached` code makes, if any."""
        made = (cls for function in reached for cls in self.made_in(function))
        self._runs.made = frozenset(made)
        self._edges.clear()

    def made_in(self, function: Function) -> Iterator[Class]:
        """Classes that a function makes, without the arms that the settings do not choose."""
        settled = Settled(self.values.known.settings, self.index, function)
        for event in function.events:
            if event.calls and not is_not_chosen(event, settled):
                for call in calls_of(event, settled):
                    for one in self.targets(function, call):
                        made = one if isinstance(one, Class) else None
                        if isinstance(one, Function):
                            made = made_through(self.index, function, call, one)
                        if made is not None:
                            yield made

    def again(self, values: Values) -> Graph:
        """The graph as `values`, which know more, read it; the bridges stay."""
        other = Graph(values, self._classes, self.words)
        other._bridges = self._bridges
        other._runs.made = self._runs.made
        return other

    def _read(self, function: Function) -> Iterator[Edge]:
        if function.name == MODULE_BODY:
            for body in imported(self.index, function.path):
                yield Edge(body, IMPORT, -1)
        for decorator in function.decorators:
            for target in self.values.callables(
                function, decorator.parts[0] if decorator.kind == "call" else decorator
            ):
                if isinstance(target, Function):
                    yield Edge(target, CALLBACK, -1)
        settled = Settled(self.values.known.settings, self.index, function)
        for position, event in enumerate(function.events):
            if is_not_chosen(event, settled) or is_left_aside(self.values, function, event):
                continue
            guarded = function.name == MODULE_BODY and is_guarded(event)
            if event.kind == "define":
                yield from self._defined(function, event, position)
            for call in calls_of(event, settled):
                for target, cost in self._runs.by(function, call):
                    yield Edge(target, cost, position, guarded)
            for target in self._put_in_place(function, event):
                yield Edge(target, CALLBACK, position, guarded)
            for target in self._properties.read_in(function, event):
                yield Edge(target, DIRECT, position, guarded)

    def _defined(self, function: Function, event: Event, position: int) -> Iterator[Edge]:
        if function.name == MODULE_BODY or not event.text:
            return
        file = self.index.files[function.path]
        inner = file.functions.get(f"{function.qualname}.{event.text}")
        if inner is not None and inner.outer == function.qualname:
            yield Edge(inner, CALLBACK, position)
        cls = file.classes.get(f"{function.qualname}.{event.text}")
        for method in cls.methods.values() if cls is not None else ():
            yield Edge(method, CALLBACK, position)

    def _put_in_place(self, function: Function, event: Event) -> Iterator[Function]:
        """A function that replaces a method of a class: Trainer.create_optimizer = create_optimizer."""
        if event.kind == "assign" and event.value is not None and event.value.kind == "path":
            holders = (one.receiver for one in event.targets if one.kind == "path" and "." in one.text)
            if any(one is not None and one.last[:1].isupper() for one in holders):
                put = self.index.resolve(function, event.value.text)
                yield from [put] if isinstance(put, Function) else []
