"""What a name may hold: the classes an expression may be an instance of, and what a callable may be.

Wider than `Index.resolve`: it follows parameters to call sites, attributes to the methods that set them,
factories to what they return, tables to all their entries. A map may be wide, an accusation may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from trainsleuth.facts import MODULE_BODY, Class, Expr, External, Function, Index, Module, Variable
from trainsleuth.facts.reading.scopes import Binding, bindings

from ..naming.auto_classes import GIVES, auto_classes
from ..naming.tables import kind_of_holder
from ..recipe.branches import Settled, arms_of, is_not_chosen
from ..recipe.config_objects import BUILDS, ConfigObjects, default_of
from ..recipe.keys import key_of
from ..recipe.recipes import CLASS_KEYS
from .annotations import named_types
from .asking import Asking
from .callables import Callables, Called
from .calls import Calls
from .class_methods import made_through
from .elements import elements_of, looped_over
from .engines import ENGINE, INITIALIZE, handed_for
from .forwarding import Detours
from .held import MAX_DEPTH, Held, is_made_by_name, is_property, is_untyped, only_below, unique, without_cousins
from .knowledge import NOTHING, Knowledge
from .offered_types import given_of

MAX_BELOW = 3  # classes with a method of their own: of more it is not known whose runs
_SAME = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "train",
        "eval",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "share_memory",
        "apply",
        "unwrap",
    ]
)
_WRAPPERS = frozenset(
    [
        "DataParallel",
        "DistributedDataParallel",
        "FullyShardedDataParallel",
        "DDP",
        "FSDP",
        "compile",
        "convert_sync_batchnorm",
        "unwrap_model",
        "prepare_model",
        "prepare_optimizer",
        "setup_model",
        "script",
        "deepcopy",
        "partial",
    ]
)
_MAKES = ("create", "build", "make", "get", "new")  # of a factory
_SPREADING = frozenset({"prepare", "setup", "initialize", "setup_dataloaders"})


class Values:
    """Answers are kept; build one for an index and what is known of the program."""

    def __init__(
        self,
        index: Index,
        known: Knowledge = NOTHING,
        objects: ConfigObjects | None = None,
        detours: Detours | None = None,
    ) -> None:
        """`objects` are the configuration objects of the recipe. `detours` are those of the same index, when somebody
        has looked for them before.
        """
        self.index = index
        self.known = known
        self.objects = objects or ConfigObjects(index)
        self.detours = detours or Detours(index)
        self.calls = Calls(index, known, self.detours)
        self._below = only_below(index, known.narrowed)
        self._held: dict[tuple[Function, str], tuple[Held, ...]] = {}
        self._asking: Asking[tuple[Called, ...]] = Asking()
        self.callables = Callables(self, self._asking).of

    def knowing(self, kinds: Mapping[str, Class]) -> Values:
        """The same, where names that hold nothing known hold these."""
        known = replace(self.known, kinds={**kinds, **self.known.kinds})
        return Values(self.index, known, self.objects, self.detours)

    def loading(self, modules: Mapping[tuple[str, int], tuple[Module, ...]]) -> Values:
        """The same, where imports by a name load these modules."""
        return Values(self.index, replace(self.known, modules=modules), self.objects, self.detours)

    def making(self, made: frozenset[Class]) -> Values:
        """The same, where these classes are seen to be made."""
        return Values(self.index, replace(self.known, made=made), self.objects, self.detours)

    def deciding(self, more: Mapping[str, str]) -> Values:
        """The same, where these decide branches as settings do."""
        known = replace(self.known, settings={**self.known.settings, **more})
        return Values(self.index, known, self.objects, self.detours) if more else self

    def within(self, reached: Iterable[Function]) -> Values:
        """The same, where what callers hand over is what those among `reached` do, if any of them calls."""
        return Values(self.index, replace(self.known, reached=frozenset(reached)), self.objects, self.detours)

    def of(self, function: Function, expr: Expr, depth: int = 0) -> tuple[Held, ...]:
        """Classes (of the project, or external by full name) that `expr` may be an instance of."""
        if depth > MAX_DEPTH:
            return ()
        match expr.kind:
            case "path":
                return self._path(function, expr.text, depth)
            case "call":
                return self._result(function, expr, depth)
            case "choice":
                return self._all(function, arms_of(expr, Settled(self.known.settings, self.index, function)), depth)
            case "boolean" | "await":
                return self._all(function, expr.parts, depth)
            case "walrus":
                return self.of(function, expr.parts[0], depth + 1)
            case "index" if expr.parts[-1].kind == "string":  # hparams["model"]
                key = expr.parts[-1].text
                named = self.known.kinds.get(key)
                if isinstance(named, Class):
                    return (named,)
                kept = elements_of(self, function, expr.parts[0], depth, key)  # self.agents = {"first": agent}
                # an index in it is left alone: self.d = {"a": self.d["a"]} would go round
                plain = [one for one in kept if one[1].kind in ("path", "call")]
                return unique(one for scope, value in plain for one in self.of(scope, value, depth))
            case "index" if expr.parts[-1].kind == "number":  # jobs[0]
                held = elements_of(self, function, expr.parts[0], depth)
                return unique(one for scope, value in held for one in self.of(scope, value, depth + 1))
        return ()

    def named(self, function: Function, path: str) -> tuple[Held, ...]:
        """The same of a dotted name."""
        return self._path(function, path, 0)

    def _all(self, function: Function, exprs: Iterable[Expr], depth: int) -> tuple[Held, ...]:
        return unique(held for expr in exprs for held in self.of(function, expr, depth + 1))

    def _result(self, function: Function, call: Expr, depth: int) -> tuple[Held, ...]:
        last, arguments = call.last, call.arguments
        if (last in _WRAPPERS or call.callee == "ray.get") and arguments:
            return self.of(function, arguments[0], depth + 1)
        if last in _SAME and call.receiver is not None:
            inner = self.of(function, call.receiver, depth + 1)
            if inner:
                return inner
        found: list[Held] = []
        for one in self.callables(function, call.parts[0], depth + 1):
            made = one.methods.get("__new__") if isinstance(one, Class) else one
            given = self._given_back(made, depth) if isinstance(made, Function) else ()
            parsed = self.objects.parsed(one) if isinstance(one, External) else None
            asked = made_through(self.index, function, call, one) if isinstance(one, Function) else None
            if asked is not None:  # Run.create() gives back a Run, whatever class the method is of
                above = self.index.lineage(asked)
                given = unique(asked if isinstance(held, Class) and held in above else held for held in given)
            found.extend(given if given or isinstance(one, Function) else (parsed or one,))
        if not found and call.receiver is not None and BUILDS.match(last):  # cfg.trainer.build() of a library
            built = (one for one in self.of(function, call.receiver, depth + 1) if isinstance(one, External))
            found += [one for one in built if one.name.endswith("Config")]
        if last in GIVES and call.receiver is not None:
            found = [*self._auto.get(call.receiver.last, ()), *found]
        if self.known.configured and not any(isinstance(one, Class) for one in found):
            found = [*self._of_section(call), *found]
        if call.receiver is not None and last in _MAKES and not any(isinstance(one, Class) for one in found):
            chosen = self.known.kinds.get(kind_of_holder(call.receiver.last))
            found += [chosen] if isinstance(chosen, Class) else []
        return unique(found)

    @cached_property
    def _auto(self) -> Mapping[str, tuple[Class, ...]]:
        return auto_classes(self.index, self.known.settings)

    def _of_section(self, call: Expr) -> Iterator[Class]:
        made = call.parts[0]
        named = made.arguments[:1] if made.kind == "call" else ()  # by_name(cfg.trainer.target)(cfg)
        sections = (one.receiver for one in named if one.last in CLASS_KEYS)
        for argument in (*filter(None, sections), *call.arguments[:1]):
            key = key_of(argument) or (argument.text if argument.kind == "path" else None)
            for section, cls in self.known.configured.items():
                if key is not None and (section == key or section.endswith(f".{key}")):
                    yield cls
                    return

    def returned(self, function: Function) -> tuple[Held, ...]:
        """What a call of `function` may give back."""
        return unique(self._returned(function, 0, None))

    def _given_back(self, function: Function, depth: int) -> tuple[Held, ...]:
        what = ("returned", function, depth)
        known = self._asking.known(what)
        if known is None:
            self._asking.begin()
            known = tuple(self._returned(function, depth, None)) or tuple(self._returned_below(function, depth))
            known = known or tuple(self._chosen_below(function))
            known = known or tuple(named_types(self.index, function, function.returns))
            self._asking.end(what, known)
        return known  # type: ignore[return-value]

    def _returned(self, function: Function, depth: int, item: int | str | None) -> Iterator[Held]:
        if function in self.known.looked_up and item is None:
            yield from self.known.looked_up[function]
        settled = Settled(self.known.settings, self.index, function)
        for event in function.events:
            if event.kind != "return" or event.value is None or is_not_chosen(event, settled):
                continue
            value = event.value
            if item is not None and value.kind == "call":  # return start(...), which gives back several
                for one in self.callables(function, value.parts[0], depth + 1) if depth < MAX_DEPTH else ():
                    yield from self._returned(one, depth + 1, item) if isinstance(one, Function) else ()
                continue
            if item is not None:
                if value.kind != "tuple" or not isinstance(item, int) or item >= len(value.parts):
                    continue
                value = value.parts[item]
            yield from self.of(function, value, depth + 1)

    def _returned_below(self, function: Function, depth: int) -> Iterator[Held]:
        """What methods give back that stand in for one that gives back nothing: an abstract load_trainer()."""
        owner = self.index.class_of(function) if function.self_name else None
        below = self.index.subclasses(owner) if owner is not None else ()
        found = [
            one
            for one in below
            if function.name in one.methods and one not in self.known.excluded and self.is_loaded(one)
        ]
        for one in found if len(found) <= MAX_BELOW else ():
            yield from self._returned(one.methods[function.name], depth, None)

    def _chosen_below(self, function: Function) -> Iterator[Held]:
        """What the settings choose below the class whose factory gives back something unknown: Job.create(config)."""
        owner = self.index.class_of(function) if function.name.startswith(_MAKES) else None
        if owner is not None and any(one.last in ("staticmethod", "classmethod") for one in function.decorators):
            yield from filter(None, [self._below.get(owner)])

    def _path(self, function: Function, text: str, depth: int) -> tuple[Held, ...]:
        key = (function, text)
        if key in self._held:
            return self._held[key]
        if self._asking.is_open(key) or self._asking.known((key, depth)) is not None:
            return ()
        self._asking.begin(key)
        found = unique(self._name(function, text, depth))
        last = text.rpartition(".")[2]
        chosen = self.known.kinds.get(last) or (self.known.configured.get(last) if "." in text else None)
        if isinstance(chosen, Class) and (is_untyped(function, text) or all(is_made_by_name(one) for one in found)):
            found = (chosen,)
        if self._below:
            found = unique(self._below.get(one, one) if isinstance(one, Class) else one for one in found)
            found = without_cousins(self.index, found, self.known.narrowed) if len(found) > 1 else found
        if depth <= 2 or found:  # deeper ones may be empty only because they were asked late
            self._held[key] = found
            self._asking.settle(key)
        else:
            self._asking.end((key, depth), found, key)
        return found

    def _name(self, function: Function, text: str, depth: int) -> Iterator[Held]:
        head, _, rest = text.partition(".")
        if rest:
            yield from self._attribute(function, text, depth)
            return
        if head == function.self_name and (owner := self.index.class_of(function)) is not None:
            yield owner
            return
        found = [b for b in self.live(function, head) if b.kind in ("assign", "with", "for")]
        if found:
            for binding in found[:8]:
                yield from self._annotated(function, binding)
                if binding.kind == "for":
                    for scope, value in looped_over(self, function, binding, depth):
                        yield from self.of(scope, value, depth + 1)
                else:
                    yield from self._bound(function, binding, depth)
            if function.parameter(head) is not None and any(_is_of_itself(binding, head) for binding in found):
                yield from self._parameter(function, head, depth)
        elif function.parameter(head) is not None:
            yield from self._parameter(function, head, depth)
        elif function.name != MODULE_BODY:
            symbol = self.index.resolve(function, head)
            if isinstance(symbol, Variable) and symbol.scope is not function:
                yield from self._path(symbol.scope, symbol.name, depth + 1)

    def live(self, function: Function, name: str) -> tuple[Binding, ...]:
        """What a name is bound to, without the arms that the settings do not choose."""
        found = tuple(bindings(function).get(name, ()))
        if not self.known.settings or len(found) < 2:
            return found
        settled = Settled(self.known.settings, self.index, function)
        return tuple(b for b in found if not is_not_chosen(function.events[b.position], settled)) or found

    def _attribute(self, function: Function, text: str, depth: int) -> Iterator[Held]:
        receiver, _, name = text.rpartition(".")
        local = [b for b in self.live(function, text) if b.kind == "assign"]
        for binding in local:
            yield from self._annotated(function, binding)
            yield from self._bound(function, binding, depth)
        for held in self._path(function, receiver, depth + 1):
            if isinstance(held, Class):
                yield from self._attribute_of(held, name, depth, function)

    def _attribute_of(self, cls: Class, name: str, depth: int, seen: Function) -> Iterator[Held]:
        given = list(self.objects.in_field(cls, name))
        for scope, value in given:
            yield from self.of(scope, value, depth + 1)
        if given:
            return
        below = [one for one in self.index.subclasses(cls) if one not in self.known.excluded and self.is_loaded(one)]
        if (method := self.index.method(cls, name)) is not None and is_property(method) and method is not seen:
            yield from self._given_back(method, depth + 1)
        for one in (*self.index.lineage(cls), *below[:4]):
            yield from self._declared(one, name)
            for method, binding in self.index.hierarchy.attribute_bindings(one, name):
                if method is not seen and binding.kind == "assign":
                    yield from self._annotated(method, binding)
                    yield from self._bound(method, binding, depth)

    def _declared(self, cls: Class, name: str) -> Iterator[Held]:
        """What the body of a class says of a field: its default, else its annotation."""
        for binding in bindings(cls.body).get(name, ()):
            default = default_of(binding.value) if binding.value is not None else None
            symbol = self.index.resolve(cls.body, default.text) if default is not None else None
            if isinstance(symbol, Class):
                yield symbol
            else:
                yield from self._annotated(cls.body, binding)

    def is_loaded(self, cls: Class) -> bool:
        """Its file belongs to the program, as far as that is known: no class of a program beside this one."""
        return self.known.is_loaded(cls.path)

    def _bound(self, function: Function, binding: Binding, depth: int) -> Iterator[Held]:
        value = binding.value
        if value is None:
            return
        if not binding.items:
            yield from self.of(function, value, depth + 1)
        elif value.kind == "call" and len(binding.items) == 1:
            item = binding.items[0]
            if value.last == "initialize" and INITIALIZE in self.callables(function, value.parts[0], depth + 1):
                yield from (ENGINE,) if item == 0 else ()
                yield from self._all(function, handed_for(value, item), depth)
                return
            if value.last in _SPREADING and isinstance(item, int) and item < len(value.arguments):
                yield from self.of(function, value.arguments[item], depth + 1)
                return
            for one in self.callables(function, value.parts[0], depth + 1):
                if isinstance(one, Function):
                    yield from self._returned(one, depth, item)

    def _annotated(self, function: Function, binding: Binding) -> Iterator[Held]:
        event = function.events[binding.position]
        if event.kind == "assign" and event.text:
            yield from named_types(self.index, function, event.text)

    def _parameter(self, function: Function, name: str, depth: int) -> Iterator[Held]:
        parameter = function.parameter(name)
        if parameter is not None and parameter.annotation:
            if chosen := given_of(self, function, name, parameter.annotation, depth):
                yield from chosen
                return
            yield from named_types(self.index, function, parameter.annotation)
        if depth >= MAX_DEPTH - 1:
            return
        given = self.known.handed(function, name)
        if given is not None and given.is_called:
            held = given.target
            yield from (held,) if isinstance(held, Class) else self._given_back(held, depth)
        for site, value in self.calls.given(function, name):
            if value.kind in ("path", "call"):
                yield from self.of(site.function, value, depth + 2)


def _is_of_itself(binding: Binding, name: str) -> bool:
    """model = model.to(device), model = DDP(model): what was given to the function goes on."""
    value = binding.value
    if value is None or value.kind != "call":
        return False
    if value.receiver is not None and value.receiver.text == name:
        return value.last in _SAME
    return value.last in _WRAPPERS and any(given.text == name for given in value.arguments)
