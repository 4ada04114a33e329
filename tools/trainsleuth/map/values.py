"""What a name may hold: the classes an expression may be an instance of, and what a callable may be.

Wider than `Index.resolve`: it follows parameters to call sites, attributes to the methods that set them,
factories to what they return, tables to all their entries. A map may be wide, an accusation may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from trainsleuth.facts import MODULE_BODY, Class, Expr, External, Function, Index, Module, Site, Symbol, Variable
from trainsleuth.facts.scopes import Binding, bindings
from trainsleuth.facts.sites import call_sites

from .annotations import named_types
from .asking import Asking
from .branches import Settled, is_not_chosen
from .common_names import COMMON_NAMES
from .config_objects import BUILDS, TARGETS, ConfigObjects, default_of
from .elements import elements_of, looped_over
from .forwarding import Detours, given_back, place_before
from .held import MAX_HELD, Held, is_made_by_name, is_untyped, only_below, unique
from .keys import key_of
from .lookups import entries_of, members_of, picked_by
from .named_modules import members
from .optional_imports import alternatives, resolve
from .tables import kind_of_holder

MAX_DEPTH = 9  # an object that a factory of a factory returned, from a table
MAX_CALLERS = 12  # of one function whose parameter is asked about
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
_BUILDS = ("from_", "load_from_")
_SPREADING = frozenset({"prepare", "setup", "initialize", "setup_dataloaders"})


class Values:
    """Answers are kept; build one per index."""

    def __init__(
        self,
        index: Index,
        excluded: frozenset[Class | Function] = frozenset(),
        kinds: Mapping[str, Class | Function] | None = None,
        configured: Mapping[str, Class] | None = None,
        looked_up: Mapping[Function, tuple[Class, ...]] | None = None,
        loaded: frozenset[str] | None = None,
        modules: Mapping[tuple[str, int], tuple[Module, ...]] | None = None,
        detours: Detours | None = None,
        objects: ConfigObjects | None = None,
        narrowed: frozenset[Class] = frozenset(),
        known: Mapping[str, str] | None = None,
        picked: Mapping[str, Class | Function] | None = None,
    ) -> None:
        """`excluded` are classes that a recipe is known not to choose from their table.

        `kinds` are the classes that it does choose, by the kind of their registry: what is called "criterion"
        and is not known otherwise is taken for the chosen criterion; so is what a recipe makes under a name.
        `configured` are the classes that sections of the configuration build: instantiate(cfg.model) gives that of
        the section "model". `looked_up` are the classes that a function takes from a table by a configured name.
        `loaded` are the files of the program: what others hand over is not held. `modules` are those that an import
        by a setting loads. `detours` are those of the same index, when somebody has looked for them before.
        `objects` are the configuration objects of the recipe. `narrowed` are classes that the settings choose: what
        is known to be of a class above one of them is of that one. `known` are the settings themselves: what is bound
        in an arm that they do not choose is not held. `picked` is what each setting chooses, by its key.
        """
        self.index = index
        self.excluded = excluded
        self.kinds = kinds or {}
        self.configured = configured or {}
        self.looked_up = looked_up or {}
        self.loaded = loaded
        self.modules = modules or {}
        self.detours = detours or Detours(index)
        self.objects = objects or ConfigObjects(index)
        self.known = known or {}
        self.picked = picked or {}
        self.reached: frozenset[Function] = frozenset()
        self._below = only_below(index, narrowed)
        self._handed: dict[tuple[Function, str], tuple[tuple[Site, Expr], ...]] = {}
        self._called: dict[Function, tuple[Site, ...]] = {}
        self._held: dict[tuple[Function, str], tuple[Held, ...]] = {}
        self._asking: Asking[tuple[Class | Function | External, ...]] = Asking()

    def knowing(self, kinds: Mapping[str, Class]) -> Values:
        """The same, where names that hold nothing known hold these."""
        known = {**kinds, **self.kinds}
        other = Values(self.index, self.excluded, known, self.configured, self.looked_up, self.loaded, self.modules)
        other.objects, other._below, other.known, other.picked = self.objects, self._below, self.known, self.picked
        other.detours, other.reached = self.detours, self.reached
        return other

    def within(self, reached: Iterable[Function]) -> Values:
        """The same, where what callers hand over is what those among `reached` do, if any of them calls."""
        other = self.knowing({})
        other.reached = frozenset(reached)
        return other

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
                return self._all(function, (expr.parts[0], expr.parts[2]), depth)
            case "boolean" | "await":
                return self._all(function, expr.parts, depth)
            case "walrus":
                return self.of(function, expr.parts[0], depth + 1)
            case "index" if expr.parts[-1].kind == "string":  # hparams["model"]
                named = self.kinds.get(expr.parts[-1].text)
                return (named,) if isinstance(named, Class) else ()
            case "index" if expr.parts[-1].kind == "number":  # jobs[0]
                held = elements_of(self, function, expr.parts[0], depth)
                return unique(one for scope, value in held for one in self.of(scope, value, depth + 1))
        return ()

    def _all(self, function: Function, exprs: Iterable[Expr], depth: int) -> tuple[Held, ...]:
        return unique(held for expr in exprs for held in self.of(function, expr, depth + 1))

    def callables(self, function: Function, expr: Expr, depth: int = 0) -> tuple[Class | Function | External, ...]:
        """What calling `expr` may call: project classes and functions, external names."""
        if depth > MAX_DEPTH:
            return ()
        if expr.kind == "path":
            symbol = resolve(self.index, function, expr.text)
            if isinstance(symbol, External) or (isinstance(symbol, Class | Function) and symbol.path == function.path):
                return (symbol,)
            what = (function, expr.text, depth)
            known = self._asking.known(what)
            if known is None:
                self._asking.begin()
                known = self._path_callables(function, symbol, expr, depth)
                self._asking.end(what, known)
            return known
        if expr.kind == "choice":  # (AMPTrainer if amp else Trainer)(model)
            both = (self.callables(function, arm, depth + 1) for arm in (expr.parts[0], expr.parts[2]))
            return tuple(dict.fromkeys(one for found in both for one in found))
        if expr.kind == "attr":  # Trainer(...).train, import_module(name).main
            named = members(self.index, self.modules, function, expr) if self.modules else ()
            return named[:MAX_HELD] or self._attribute_callables(function, expr, depth)
        if expr.kind == "index":  # {"a": A, "b": B}[name]
            if expr.parts[0].last == "__dict__" and (module := expr.parts[0].receiver) is not None:
                return members_of(self.index, function, module)[:MAX_HELD]
            return entries_of(self, function, expr.parts[0], depth) or picked_by(self.picked, expr.parts[-1])
        if expr.kind == "call":
            if expr.last == "get" and expr.receiver is not None:
                wanted = expr.arguments[0] if expr.arguments else expr
                return entries_of(self, function, expr.receiver, depth) or picked_by(self.picked, wanted)
            if expr.last == "partial" and expr.arguments:
                return self.callables(function, expr.arguments[0], depth + 1)
            if expr.last == "getattr" and self.modules and (named := members(self.index, self.modules, function, expr)):
                return named[:MAX_HELD]
            called = [one for one in self.callables(function, expr.parts[0], depth + 1) if isinstance(one, Function)]
            chosen = tuple(cls for one in called for cls in self.looked_up.get(one, ()))
            returned = (inner for one in called for inner in given_back(self.index, one))
            returned = (inner for inner in returned if inner not in self.excluded)
            return chosen or tuple(dict.fromkeys([*returned, *self._wrapped(function, expr)]))[:MAX_HELD]
        return ()

    def _path_callables(
        self, function: Function, symbol: Symbol | None, expr: Expr, depth: int
    ) -> tuple[Class | Function | External, ...]:
        if isinstance(symbol, Class | Function):
            return alternatives(self.index, function, symbol)
        if isinstance(symbol, Variable):
            if symbol.scope.parameter(symbol.name) is not None and symbol.name not in bindings(symbol.scope):
                if symbol.name == "cls" and (owner := self.index.class_of(symbol.scope)) is not None:
                    return (owner,)  # a classmethod that builds its own class
                return self._parameter_callables(symbol.scope, symbol.name, depth)
            return self._variable_callables(symbol, depth)
        named = members(self.index, self.modules, function, expr) if self.modules else ()
        return named[:MAX_HELD] or self._attribute_callables(function, expr, depth)

    def _wrapped(self, function: Function, call: Expr) -> Iterator[Function]:
        """A function that a call is handed is what calling its result may call: torch.compile(train_step)."""
        for given in call.arguments if call.last not in COMMON_NAMES else ():  # optimizer.step(closure) gives a loss
            symbol = resolve(self.index, function, given.text) if given.kind == "path" else None
            if isinstance(symbol, Function):
                yield symbol

    def _parameter_callables(
        self, function: Function, name: str, depth: int
    ) -> tuple[Class | Function | External, ...]:
        """What callers hand over to be called, else its default: actor_critic=core.MLPActorCritic."""
        found: list[Class | Function | External] = []
        for site, value in (
            self._given(function, name) if function.name != "step" else ()
        ):  # not optimizer.step(closure)
            if value.kind == "path" and value.text != name and site.function is not function:
                found.extend(self.callables(site.function, value, depth + 3))
        default = function.parameter(name)
        if not found and default is not None and default.default is not None and default.default.kind == "path":
            found.extend(self.callables(self.index.files[function.path].body, default.default, depth + 1))
        return tuple(
            one for one in dict.fromkeys(found) if not isinstance(one, External) or one.name.startswith("torch.optim.")
        )[:MAX_HELD]

    def _given(self, function: Function, name: str) -> tuple[tuple[Site, Expr], ...]:
        """(call, value) of the callers that give the parameter `name` of `function`."""
        key = (function, name)
        if key not in self._handed:
            self._handed[key] = tuple(self._arguments(function, name))
        return self._handed[key]

    def _arguments(self, function: Function, name: str) -> Iterator[tuple[Site, Expr]]:
        place = [p.name for p in function.parameters].index(name) - (1 if function.self_name else 0)
        yield from self._given_at(function, name, place) if place >= 0 else ()

    def _given_at(self, function: Function, name: str, place: int, hops: int = 2) -> Iterator[tuple[Site, Expr]]:
        for site in self._first_calls_of(function):
            value = site.call.argument(place, name) if place >= 0 else site.call.keyword(name)
            if value is not None:
                yield site, value
            elif hops and (before := place_before(site, place)) is not None:
                yield from self._given_at(site.function, name, before, hops - 1)

    def _first_calls_of(self, function: Function) -> tuple[Site, ...]:
        if function not in self._called:
            called = list(islice(self.calls_of(function), 3 * MAX_CALLERS if self.reached else MAX_CALLERS))
            running = [site for site in called if site.function in self.reached]
            self._called[function] = tuple((running or called)[:MAX_CALLERS])
        return self._called[function]

    def calls_of(self, function: Function) -> Iterator[Site]:
        """Calls of a function by its name; of a constructor by that of its class and of those that inherit it."""
        names = [function.name]
        if function.name == "__init__" and (owner := self.index.class_of(function)) is not None:
            names = [owner.name]
            for one in self.index.subclasses(owner):
                made = one.methods.get("__init__")
                if made is None and self.index.method(one, "__init__") is function:
                    names.append(one.name)
                elif made is not None and function in self._inherited(made, "__init__"):
                    yield from call_sites(made).get("__init__", ())
        for name in names:  # a common name has thousands of calls: the first are read, no others
            for site in chain(self.detours.calls_of(name), self.index.sites.first_calls(name, 3 * MAX_CALLERS)):
                if self.loaded is None or site.function.path in self.loaded:
                    yield site

    def _variable_callables(self, symbol: Variable, depth: int) -> tuple[Class | Function | External, ...]:
        found: list[Class | Function | External] = []
        for binding in self._live(symbol.scope, symbol.name)[:8]:
            if binding.kind == "assign" and binding.value is not None and not binding.items:
                found.extend(self.callables(symbol.scope, binding.value, depth + 1))
        return tuple(dict.fromkeys(found))[:MAX_HELD]

    def _attribute_callables(
        self, function: Function, expr: Expr, depth: int
    ) -> tuple[Class | Function | External, ...]:
        receiver = expr.receiver
        if receiver is None:
            return ()
        if receiver.kind == "call" and receiver.callee == "super":
            return self._inherited(function, expr.last)
        if expr.last.startswith(_BUILDS) and receiver.kind == "path":  # a class method of another library's base
            cls = resolve(self.index, function, receiver.text)
            if isinstance(cls, Class) and self.index.method(cls, expr.last) is None:
                return (cls,)
        found: list[Class | Function | External] = []
        for held in self.of(function, receiver, depth + 1):
            if isinstance(held, Class):
                made = self.objects.built_by(held) if BUILDS.match(expr.last) or expr.last in TARGETS else None
                found += [one for one in (made, self.index.method(held, expr.last)) if one is not None]
        if not found and isinstance(named := self.kinds.get(expr.last), Function):
            return (named,)
        return tuple(dict.fromkeys(found or self._kept_callables(function, receiver, expr.last, depth)))

    def _kept_callables(self, function: Function, receiver: Expr, name: str, depth: int) -> Iterator[Function]:
        """What a constructor keeps to be called later: self.update_func = update_func."""
        for held in self.of(function, receiver, depth + 1):
            made = self.index.method(held, "__init__") if isinstance(held, Class) else None
            for binding in bindings(made).get(f"{made.self_name}.{name}", ()) if made is not None else ():
                if binding.value is not None and binding.value.kind == "path" and not binding.items:
                    called = self.callables(made, binding.value, depth + 2) if made is not None else ()
                    yield from (one for one in called if isinstance(one, Function))

    def _inherited(self, function: Function, name: str) -> tuple[Function, ...]:
        """The method that super().name means in a method of a project class."""
        owner = self.index.class_of(function)
        above = self.index.lineage(owner)[1:] if owner is not None else ()
        return tuple(one.methods[name] for one in above if name in one.methods)[:1]

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
            found.extend(given if given or isinstance(one, Function) else (parsed or one,))
        if self.configured and not any(isinstance(one, Class) for one in found):
            found = [*self._of_section(call), *found]
        if call.receiver is not None and last in _MAKES and not any(isinstance(one, Class) for one in found):
            chosen = self.kinds.get(kind_of_holder(call.receiver.last))
            found += [chosen] if isinstance(chosen, Class) else []
        return unique(found)

    def _of_section(self, call: Expr) -> Iterator[Class]:
        for argument in call.arguments[:1]:
            key = key_of(argument) or (argument.text if argument.kind == "path" else None)
            for section, cls in self.configured.items():
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
            self._asking.end(what, known)
        return known  # type: ignore[return-value]

    def _returned(self, function: Function, depth: int, item: int | str | None) -> Iterator[Held]:
        if function in self.looked_up and item is None:
            yield from self.looked_up[function]
        settled = Settled(self.known, self.index, function)
        for event in function.events:
            if event.kind != "return" or event.value is None or is_not_chosen(event, settled):
                continue
            value = event.value
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
            one for one in below if function.name in one.methods and one not in self.excluded and self.is_loaded(one)
        ]
        for one in found if len(found) <= MAX_BELOW else ():
            yield from self._returned(one.methods[function.name], depth, None)

    def _path(self, function: Function, text: str, depth: int) -> tuple[Held, ...]:
        key = (function, text)
        if key in self._held:
            return self._held[key]
        if self._asking.is_open(key) or self._asking.known((key, depth)) is not None:
            return ()
        self._asking.begin(key)
        found = unique(self._name(function, text, depth))
        last = text.rpartition(".")[2]
        chosen = self.kinds.get(last) or (self.configured.get(last) if "." in text else None)
        if isinstance(chosen, Class) and (is_untyped(function, text) or all(is_made_by_name(one) for one in found)):
            found = (chosen,)
        if self._below:
            found = unique(self._below.get(one, one) if isinstance(one, Class) else one for one in found)
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
        found = [b for b in self._live(function, head) if b.kind in ("assign", "with", "for")]
        if found:
            for binding in found[:8]:
                yield from self._annotated(function, binding)
                if binding.kind == "for":
                    for scope, value in looped_over(self, function, binding, depth):
                        yield from self.of(scope, value, depth + 1)
                else:
                    yield from self._bound(function, binding, depth)
        elif function.parameter(head) is not None:
            yield from self._parameter(function, head, depth)
        elif function.name != MODULE_BODY:
            symbol = self.index.resolve(function, head)
            if isinstance(symbol, Variable) and symbol.scope is not function:
                yield from self._path(symbol.scope, symbol.name, depth + 1)

    def _live(self, function: Function, name: str) -> tuple[Binding, ...]:
        """What a name is bound to, without the arms that the settings do not choose."""
        found = tuple(bindings(function).get(name, ()))
        if not self.known or len(found) < 2:
            return found
        settled = Settled(self.known, self.index, function)
        return tuple(b for b in found if not is_not_chosen(function.events[b.position], settled)) or found

    def _attribute(self, function: Function, text: str, depth: int) -> Iterator[Held]:
        receiver, _, name = text.rpartition(".")
        local = [b for b in self._live(function, text) if b.kind == "assign"]
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
        below = [one for one in self.index.subclasses(cls) if one not in self.excluded and self.is_loaded(one)]
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
        return self.loaded is None or cls.path in self.loaded

    def _bound(self, function: Function, binding: Binding, depth: int) -> Iterator[Held]:
        value = binding.value
        if value is None:
            return
        if not binding.items:
            yield from self.of(function, value, depth + 1)
        elif value.kind == "call" and len(binding.items) == 1:
            item = binding.items[0]
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
            yield from named_types(self.index, function, parameter.annotation)
        if depth >= MAX_DEPTH - 1:
            return
        for site, value in self._given(function, name):
            if value.kind in ("path", "call"):
                yield from self.of(site.function, value, depth + 2)
