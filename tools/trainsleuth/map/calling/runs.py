"""What one call may run: the function it names, a method of what it holds, what it hands on to be called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainsleuth.facts import Class, Expr, External, Function, Index

from ..naming.named_modules import IMPORTERS
from ..naming.only_values import held_nearby
from ..programs.running import executed
from ..recipe.keys import key_of
from .callables import BARE
from .class_methods import made_through
from .common_names import COMMON_NAMES
from .edges import CALLBACK, DIRECT, GUESS, IMPORT, KEPT, MADE, PART
from .fired import fired
from .methods import Methods, may_take
from .put_methods import PutMethods
from .tables_taken_from import is_taken_from
from .values import Values

Run = tuple[Function, int]  # with the cost of the edge
_CALLS_LATER = re.compile(r"(?:connect|subscribe|submit|apply_async|attach|schedule|call_later|bind|Thread|Process|(?:add|register|set)_\w*(?:callback|handler|listener|hook)s?)$")  # fmt: skip
_BY_SECTION = ("call", "instantiate")
_RUN_ABOVE = ("train", "train_step", "training_step", "collect_rollouts")
_RUNS = re.compile(r"(?:learn|fit|run|start|train|execute)(?:_|$)")
_TRAINABLE = re.compile(r"(?:ray\.)?tune\.(?:\w+\.)*\w*Trainable")
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
_OF_TUNE = ("setup", "step", "save_checkpoint", "load_checkpoint", "_setup", "_train", "_save", "_restore")


class Runs:
    """`made`: of several classes that a value may have only these run, if any."""

    def __init__(self, values: Values, methods: Methods) -> None:
        self._index = values.index
        self._values = values
        self._methods = methods
        self._put = PutMethods(values)
        self.made: frozenset[Class] = frozenset()
        self._targets: dict[int, tuple[Class | Function | External, ...]] = {}  # by id: the index keeps its calls

    def targets(self, function: Function, call: Expr) -> tuple[Class | Function | External, ...]:
        """What a call in `function` may call, as far as it can be read."""
        found = self._targets.get(id(call))
        if found is None:
            found = self._targets[id(call)] = self._values.callables(function, call.parts[0])
        return found

    def by(self, function: Function, call: Expr) -> Iterator[Run]:
        """What a call in `function` may run."""
        known = False
        if call.callee == "exec":
            yield from ((body, DIRECT) for body in executed(self._index, function, call))
        for module in self._values.known.modules.get((function.path, call.line), ())[:2]:
            if (
                call.last in IMPORTERS
                and module.path
                and len(self._values.known.modules[function.path, call.line]) == 1
            ):
                yield self._index.files[module.path].body, IMPORT
        yield from ((one, DIRECT) for one in self._of_section(call))
        yield from ((one, CALLBACK) for _, one in fired(self._values, function, call))
        for target in self.targets(function, call):
            known = True
            if isinstance(target, Function):
                if not (self._is_on_self(function, call) and self._methods.is_replaced(target)):
                    yield target, DIRECT
                yield from ((one, DIRECT) for one in self._put.instead_of(target))
                yield from self._made_through(function, call, target)
                if target.self_name and not self._is_of_class(function, call.receiver):
                    yield from ((one, CALLBACK) for one in self._methods.overrides(target))
            elif isinstance(target, Class):
                made = self.constructed(target)
                yield from (run for run in made if call.last != BARE or run[0].name != "__init__")
        if not known and call.receiver is not None and call.receiver.callee == "super":
            yield from ((one, CALLBACK) for one in self._run_above(function))
        if not known or function.parameter(call.callee) is not None:  # a function or an object, as the caller likes
            yield from self._on_value(function, call)
        for argument in call.parts[1:] if call.callee not in _ASKS else ():
            value = argument.parts[0] if argument.kind in ("keyword", "star") else argument
            items = list(_items(self._index, function, value))
            if items and is_taken_from(self._values, _functions(self.targets(function, call)), call, value):
                continue
            for one in items:
                yield from self._handed_over(function, one)
            if value.kind == "path" and value.text != "self":
                handed = list(self._handed_over(function, value))
                yield from handed or self._of_unknown(function, call, value)
            elif value.kind == "call" and value.last == "partial" and value.arguments:
                yield from self._handed_over(function, value.arguments[0])

    def _of_section(self, call: Expr) -> Iterator[Function]:
        """What hydra.utils.call(cfg.train.step, model) runs: the function that the section names."""
        given = call.arguments[:1] if call.last in _BY_SECTION and self._values.known.called else ()
        key = key_of(given[0]) if given else None
        for section, target in self._values.known.called.items() if key else ():
            if section == key or section.endswith(f".{key}"):
                yield target

    def constructed(self, cls: Class) -> Iterator[Run]:
        """An object comes into being: its constructor runs, and any of its methods may; those that ray.tune calls do."""
        tuned = any(_TRAINABLE.fullmatch(base) for base in self._index.external_bases(cls))
        for one in self._index.lineage(cls):
            for method in one.methods.values():
                if self._index.method(cls, method.name) is method:
                    called = tuned and method.name in _OF_TUNE
                    yield method, CALLBACK if called else _CALLED_ON_OBJECTS.get(method.name, PART)
            yield one.body, PART

    def _made_through(self, function: Function, call: Expr, method: Function) -> Iterator[Run]:
        """The object that a class method of a base makes: Run.create() by `return cls()`."""
        asked = made_through(self._index, function, call, method)
        if asked is not None and method.name not in asked.methods:
            yield from self.constructed(asked)

    def _run_above(self, function: Function) -> Iterator[Function]:
        """Methods of a class that its base in another library calls: train() by super().learn()."""
        owner = self._index.class_of(function)
        if owner is not None and _RUNS.match(function.name) and function.name not in _RUN_ABOVE:
            yield from filter(None, (self._index.method(owner, name) for name in _RUN_ABOVE))

    def _is_of_class(self, function: Function, receiver: Expr | None) -> bool:
        """The method of one class is called, whatever the object is: super().run(), Base.run(self)."""
        if receiver is None or receiver.kind == "call":
            return receiver is not None and receiver.callee == "super"
        return receiver.kind == "path" and isinstance(self._index.resolve(function, receiver.text), Class)

    def _is_on_self(self, function: Function, call: Expr) -> bool:
        return bool(function.self_name) and call.receiver is not None and call.receiver.text == function.self_name

    def _handed_over(self, function: Function, value: Expr) -> Iterator[Run]:
        if "." in value.text and value.text.partition(".")[0] != function.self_name:
            is_rare = value.last in self._methods.by_name and value.last not in COMMON_NAMES
            if not (is_rare or self._is_of_module(function, value) or self._is_method(function, value)):
                return
        later = KEPT if function.name == "__init__" else CALLBACK
        for target in self._values.callables(function, value, depth=3):
            if isinstance(target, Function):
                yield target, later
            elif isinstance(target, Class):
                yield from self.constructed(target)

    def _is_of_module(self, function: Function, value: Expr) -> bool:
        """What a module of the project defines: Process(target=learner.run)."""
        return isinstance(self._index.resolve(function, value.text), Class | Function)

    def _is_method(self, function: Function, value: Expr) -> bool:
        """Of an object of the project, whatever its name: model.train where model = Trainer()."""
        if value.last not in self._methods.by_name:
            return False
        held = self._values.of(function, value.receiver) if value.receiver is not None else ()
        return any(isinstance(one, Class) and self._index.method(one, value.last) is not None for one in held)

    def _of_unknown(self, function: Function, call: Expr, value: Expr) -> Iterator[Run]:
        """A method of an object that nobody knows, handed to what calls it later: batches.connect(worker.on_batch)."""
        if "." in value.text and _CALLS_LATER.match(call.last) and value.last not in COMMON_NAMES:
            yield from ((one, GUESS) for one in self._methods.few(value.last))

    def _on_value(self, function: Function, call: Expr) -> Iterator[Run]:
        held = self._values.of(function, call.parts[0]) if call.parts[0].kind == "path" else ()
        held = tuple(one for one in held if one in self.made) or held
        for one in held:
            if isinstance(one, Class):
                for name in ("forward", "__call__"):
                    if (method := self._index.method(one, name)) is not None:
                        yield method, DIRECT
        if held or call.receiver is None or call.last in COMMON_NAMES or call.last.startswith("__"):
            return
        if call.receiver.callee == "super" and self._has_foreign_base(function):
            return
        if call.receiver.kind == "path":
            receivers = self._values.of(function, call.receiver)
            if receivers and not any(isinstance(one, Class) for one in receivers):
                return  # a value of another library
        yield from ((method, GUESS) for method in self._methods.few(call.last) if may_take(method, call))

    def _has_foreign_base(self, function: Function) -> bool:
        owner = self._index.class_of(function)
        return owner is not None and bool(self._index.external_bases(owner))


def _functions(targets: Iterable[Class | Function | External]) -> Iterator[Function]:
    return (one for one in targets if isinstance(one, Function))


def _items(index: Index, function: Function, value: Expr) -> Iterator[Expr]:
    """Names in a table or a list of functions, in place or bound before: CLI({"train": train})."""
    if value.kind == "path" and value.text.isidentifier():
        held = held_nearby(index, function, value)
        if held is not None and held[1].kind in ("dict", "list"):
            yield from _items(index, function, held[1])
    elif value.kind in ("dict", "list", "tuple", "pair"):
        for part in value.parts:
            if part.kind == "path":
                yield part
            elif part.kind in ("dict", "pair"):
                yield from _items(index, function, part)
