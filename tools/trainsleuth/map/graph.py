"""Who calls whom, as far as it can be read: the edges of the project's call graph, asked for one function at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, External, Function, Index, bindings

from .branches import Settled, is_not_chosen
from .common_names import COMMON_NAMES
from .factories import is_left_aside
from .loading import loaded
from .named_choice import is_named
from .running import executed, imported, is_guarded
from .values import Values

# cost of an edge: how far the target is from the caller. PART, a method of an object that comes into being, is a last
# resort: a chain of real calls to the same method should win; MADE, one that its callers call by no name. KEPT, what a
# constructor is handed to call later
DIRECT, CALLBACK, GUESS, IMPORT, MADE, KEPT, PART = 1, 2, 3, 4, 5, 6, 8
MAX_NAMESAKES = 4
MAX_OVERRIDES = 8
_CALLS_LATER = re.compile(r"(?:connect|subscribe|submit|apply_async|attach|schedule|call_later|bind|Thread|Process|(?:add|register|set)_\w*(?:callback|handler|listener|hook)s?)$")  # fmt: skip
_PROPERTIES = ("property", "cached_property")
_RUN_ABOVE = ("train", "train_step", "training_step", "collect_rollouts")
_RUNS = re.compile(r"(?:learn|fit|run|start|train|execute)(?:_|$)")
_ASKS = ("super", "isinstance", "issubclass", "hasattr")  # about a class or an object, which they do not call
# what runs once an object is there: at once, when a loader or a framework takes it, or when somebody calls it
_CALLED_ON_OBJECTS = {
    "__init__": DIRECT,
    "__getitem__": CALLBACK,
    "__iter__": CALLBACK,
    "collate_fn": CALLBACK,
    "training_step": CALLBACK,
    "forward": MADE,
    "__call__": MADE,
}


class Edge(NamedTuple):
    """`target` may run when the caller runs; `position` is the event of the caller, -1 for none of its own."""

    target: Function
    cost: int
    position: int
    guarded: bool = False  # only when the file is the one that is started


class Graph:
    """Edges are read when they are asked for, and kept."""

    def __init__(
        self,
        index: Index,
        values: Values,
        known: Mapping[str, str] | None = None,
        made: frozenset[Class] = frozenset(),
        words: frozenset[str] = frozenset(),
    ) -> None:
        """`words` are names in the settings: of overrides, those of classes that are called so are run.

        `known` are settings of the program: what stands in an arm that they do not choose is not called.

        `made` are classes that it is seen to make: where one inherits a method, only overrides that it has are run.
        """
        self._lines = {cls: frozenset(index.lineage(cls)) for cls in made}
        self.index = index
        self.known = known or {}
        self.words = words
        self.values = values
        self._imports: dict[frozenset[str], frozenset[str]] = {}
        self._edges: dict[Function, tuple[Edge, ...]] = {}
        self._bridges: dict[Function, list[Edge]] = {}
        self._propertied: dict[Class, bool] = {}
        self._made: frozenset[Class] = frozenset()
        self._targets: dict[int, tuple[Class | Function | External, ...]] = {}  # by id: the index keeps its calls

    def imports(self, paths: frozenset[str]) -> frozenset[str]:
        """Files that may be loaded when those at `paths` run: what they import, and what may be imported by a name.

        A project beside the program (examples/, projects/) that nothing imports is not among them.
        """
        if paths not in self._imports:
            self._imports[paths] = frozenset(loaded(self.index, paths))
        return self._imports[paths]

    def edges(self, function: Function) -> tuple[Edge, ...]:
        if function not in self._edges:
            best: dict[tuple[Function, bool], Edge] = {}
            for edge in chain(self._read(function), self._bridges.get(function, ())):
                key = (edge.target, edge.guarded)
                if not self.values.known.is_loaded(edge.target.path):
                    continue
                if edge.target is not function and (
                    key not in best or _rank(function, edge) < _rank(function, best[key])
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
        self._made = frozenset(made)
        self._edges.clear()

    def made_in(self, function: Function) -> Iterator[Class]:
        """Classes that a function makes, without the arms that the settings do not choose."""
        settled = Settled(self.known, self.index, function)
        for event in function.events:
            if event.calls and not is_not_chosen(event, settled):
                for call in event.calls:
                    yield from (one for one in self.targets(function, call) if isinstance(one, Class))

    def again(self, values: Values) -> Graph:
        """The graph as `values`, which know more, read it; the bridges stay."""
        other = Graph(self.index, values, self.known, frozenset(self._lines), self.words)
        other._bridges = self._bridges
        other._made = self._made
        return other

    def methods_named(self, name: str) -> list[Function]:
        """Methods of that name of all classes that may be made."""
        return [one for one in self._methods.get(name, ()) if self._is_of_open(one)]

    def targets(self, function: Function, call: Expr) -> tuple[Class | Function | External, ...]:
        """What a call in `function` may call, as far as it can be read."""
        found = self._targets.get(id(call))
        if found is None:
            found = self._targets[id(call)] = self.values.callables(function, call.parts[0])
        return found

    @cached_property
    def _methods(self) -> dict[str, list[Function]]:
        table: dict[str, list[Function]] = {}
        for cls in self.index.classes():
            for method in cls.methods.values():
                table.setdefault(method.name, []).append(method)
        return table

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
        settled = Settled(self.known, self.index, function)
        for position, event in enumerate(function.events):
            if is_not_chosen(event, settled) or is_left_aside(self.values, function, event):
                continue
            guarded = function.name == MODULE_BODY and is_guarded(event)
            if event.kind == "define":
                yield from self._defined(function, event, position)
            for call in event.calls:
                for target, cost in self._called(function, call):
                    yield Edge(target, cost, position, guarded)
            for target in self._properties(function, event):
                yield Edge(target, DIRECT, position, guarded)

    def _defined(self, function: Function, event: Event, position: int) -> Iterator[Edge]:
        if function.name == MODULE_BODY or not event.text:
            return
        inner = self.index.files[function.path].functions.get(f"{function.qualname}.{event.text}")
        if inner is not None and inner.outer == function.qualname:
            yield Edge(inner, CALLBACK, position)

    def _properties(self, function: Function, event: Event) -> Iterator[Function]:
        """Properties of its own class that a method reads."""
        owner = self.index.class_of(function)
        if owner is None or event.value is None or not self._has_properties(owner):
            return
        for part in event.value.walk():
            if part.kind == "path" and part.text.startswith(f"{function.self_name}."):
                method = self.index.method(owner, part.text.split(".")[1])
                if method is not None and any(one.last in _PROPERTIES for one in method.decorators):
                    yield method

    def _has_properties(self, cls: Class) -> bool:
        if cls not in self._propertied:
            self._propertied[cls] = any(
                decorator.last in _PROPERTIES
                for one in self.index.lineage(cls)
                for method in one.methods.values()
                for decorator in method.decorators
            )
        return self._propertied[cls]

    def _called(self, function: Function, call: Expr) -> Iterator[tuple[Function, int]]:
        known = False
        if call.callee == "exec":
            yield from ((body, DIRECT) for body in executed(self.index, function, call))
        for target in self.targets(function, call):
            known = True
            if isinstance(target, Function):
                yield target, DIRECT
                yield from self._made_through(function, call, target)
                if target.self_name and not self._is_of_class(function, call.receiver):
                    yield from ((one, CALLBACK) for one in self.overrides(target))
            elif isinstance(target, Class):
                yield from self.constructed(target)
        if not known and call.receiver is not None and call.receiver.callee == "super":
            yield from ((one, CALLBACK) for one in self._run_above(function))
        if not known or function.parameter(call.callee) is not None:  # a function or an object, as the caller likes
            yield from self._on_value(function, call)
        for argument in call.parts[1:] if call.callee not in _ASKS else ():
            value = argument.parts[0] if argument.kind in ("keyword", "star") else argument
            for one in _items(self.index, function, value):
                yield from self._handed_over(function, one)
            if value.kind == "path" and value.text != "self":
                handed = list(self._handed_over(function, value))
                yield from handed or self._of_unknown(function, call, value)
            elif value.kind == "call" and value.last == "partial" and value.arguments:
                yield from self._handed_over(function, value.arguments[0])

    def _made_through(self, function: Function, call: Expr, method: Function) -> Iterator[tuple[Function, int]]:
        """The object that a class method of a base makes: Run.create() by `return cls()`."""
        holder = call.receiver if "cls" in method.called else None
        asked = self.index.resolve(function, holder.text) if holder is not None and holder.kind == "path" else None
        if isinstance(asked, Class) and method.name not in asked.methods:
            yield from self.constructed(asked)

    def _run_above(self, function: Function) -> Iterator[Function]:
        """Methods of a class that its base in another library calls: train() by super().learn()."""
        owner = self.index.class_of(function)
        if owner is not None and _RUNS.match(function.name) and function.name not in _RUN_ABOVE:
            yield from filter(None, (self.index.method(owner, name) for name in _RUN_ABOVE))

    def _is_of_class(self, function: Function, receiver: Expr | None) -> bool:
        """The method of one class is called, whatever the object is: super().run(), Base.run(self)."""
        if receiver is None or receiver.kind == "call":
            return receiver is not None and receiver.callee == "super"
        return receiver.kind == "path" and isinstance(self.index.resolve(function, receiver.text), Class)

    def _handed_over(self, function: Function, value: Expr) -> Iterator[tuple[Function, int]]:
        if "." in value.text and value.text.partition(".")[0] != function.self_name:
            if value.last not in self._methods or (value.last in COMMON_NAMES and not self._is_method(function, value)):
                return
        later = KEPT if function.name == "__init__" else CALLBACK
        for target in self.values.callables(function, value, depth=3):
            if isinstance(target, Function):
                yield target, later
            elif isinstance(target, Class):
                yield from self.constructed(target)

    def _is_method(self, function: Function, value: Expr) -> bool:
        """Of an object of the project, whatever its name: model.train where model = Trainer()."""
        held = self.values.of(function, value.receiver) if value.receiver is not None else ()
        return any(isinstance(one, Class) and self.index.method(one, value.last) is not None for one in held)

    def _of_unknown(self, function: Function, call: Expr, value: Expr) -> Iterator[tuple[Function, int]]:
        """A method of an object that nobody knows, handed to what calls it later: batches.connect(worker.on_batch)."""
        if "." in value.text and _CALLS_LATER.match(call.last) and value.last not in COMMON_NAMES:
            namesakes = self._roots(self.methods_named(value.last))
            yield from ((one, GUESS) for one in namesakes) if len(namesakes) <= MAX_NAMESAKES else ()

    def _on_value(self, function: Function, call: Expr) -> Iterator[tuple[Function, int]]:
        held = self.values.of(function, call.parts[0]) if call.parts[0].kind == "path" else ()
        held = tuple(one for one in held if one in self._made) or held
        for one in held:
            if isinstance(one, Class):
                for name in ("forward", "__call__"):
                    if (method := self.index.method(one, name)) is not None:
                        yield method, DIRECT
        if held or call.receiver is None or call.last in COMMON_NAMES or call.last.startswith("__"):
            return
        if call.receiver.kind == "path":
            receivers = self.values.of(function, call.receiver)
            if receivers and not any(isinstance(one, Class) for one in receivers):
                return  # a value of another library
        namesakes = self._roots(self.methods_named(call.last))
        if 0 < len(namesakes) <= MAX_NAMESAKES:
            yield from ((method, GUESS) for method in namesakes)

    def overrides(self, method: Function) -> Iterator[Function]:
        """The same method in project classes below: which one runs, the instance decides."""
        owner = self.index.class_of(method)
        if owner is None:
            return
        of_made = [line for line in self._lines.values() if owner in line]
        below = (
            one
            for one in self.index.subclasses(owner)
            if method.name in one.methods and (not of_made or any(one in line for line in of_made))
        )
        found = [one for one in below if self._is_open(one) and self.values.is_loaded(one)]
        found = [one for one in found if is_named(one, self.words)] or found
        yield from (one.methods[method.name] for one in found[:MAX_OVERRIDES])

    def _roots(self, methods: list[Function]) -> list[Function]:
        """Of methods of one name, those that do not override another of them."""
        if len(methods) <= MAX_NAMESAKES:
            return methods
        owners = {self.index.class_of(method): method for method in methods}
        return [
            method
            for owner, method in owners.items()
            if owner is None or not any(base in owners for base in self.index.lineage(owner)[1:])
        ]

    def _is_of_open(self, method: Function) -> bool:
        owner = self.index.class_of(method)
        return owner is None or self._is_open(owner)

    def _is_open(self, cls: Class) -> bool:
        return cls not in self.values.known.excluded

    def constructed(self, cls: Class) -> Iterator[tuple[Function, int]]:
        """An object comes into being: its constructor runs, and any of its methods may."""
        for one in self.index.lineage(cls):
            for method in one.methods.values():
                if self.index.method(cls, method.name) is method:
                    yield method, _CALLED_ON_OBJECTS.get(method.name, PART)
            yield one.body, PART


def _rank(caller: Function, edge: Edge) -> tuple[int, bool, bool]:
    """Of several calls, those that are repeated first: what is tried once may be tried before the loop.

    Where a function is handed on is a better place than where it is written.
    """
    event = caller.events[edge.position] if edge.position >= 0 else None
    return edge.cost, event is None or not event.block.loops, event is not None and event.kind == "define"


def _items(index: Index, function: Function, value: Expr) -> Iterator[Expr]:
    """Names in a table or a list of functions, in place or bound before: CLI({"train": train})."""
    if value.kind == "path" and value.text.isidentifier():
        body = index.files[function.path].body
        bound = bindings(function).get(value.text) or bindings(body).get(value.text, ())
        if len(bound) == 1 and bound[0].value is not None and bound[0].value.kind in ("dict", "list"):
            yield from _items(index, function, bound[0].value)
    elif value.kind in ("dict", "list", "tuple", "pair"):
        for part in value.parts:
            if part.kind == "path":
                yield part
            elif part.kind in ("dict", "pair"):
                yield from _items(index, function, part)
