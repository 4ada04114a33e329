"""What calling an expression may call: classes and functions of the project, external names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from trainsleuth.facts import MODULE_BODY, Class, Expr, External, Function, Module, Site, Symbol, Variable
from trainsleuth.facts.naming.names import imports_within
from trainsleuth.facts.reading.scopes import bindings

from ..naming.chosen_modules import members_of_chosen
from ..naming.listed_members import looped_members, looped_name, picked_members
from ..naming.loaded_by_text import given_back_by_text, loaded_by_text
from ..naming.lookups import entries_of, members_of, picked_by, values_of_classes
from ..naming.named_choice import plain, words_of
from ..naming.named_modules import loaded_as, members
from ..naming.namespaces import is_namespace, left_to_be_asked
from ..naming.parser_defaults import taken_back
from ..naming.section_keys import named_by_keys
from ..naming.written_out import written_out
from ..recipe.branches import Settled, arms_of, is_left, value_of
from ..recipe.config_objects import BUILDS, TARGETS
from .asking import Asking
from .calls import above
from .common_names import COMMON_NAMES
from .elements import looped_over
from .forwarding import given_back
from .held import MAX_DEPTH, MAX_HELD, is_of_class, is_property
from .optional_imports import alternatives, chosen_in_module, members_alike, named_alike, resolve
from .spread_tables import spread_as

if TYPE_CHECKING:
    from .values import Values

Called = Class | Function | External
_BUILDS = ("from_", "load_from_")
MAX_WRITTEN = 4  # of more classes that have a method which their base does not, any may be meant
BARE = "__new__"  # makes an object whose constructor does not run: Base.__new__(Base)


def _spelled(call: Expr) -> Expr | None:
    """What getattr(trainers, "FastTrainer") says: trainers.FastTrainer."""
    holder, name = (*call.arguments, None, None)[:2]
    if holder is None or name is None or holder.kind != "path" or name.kind != "string":
        return None
    return Expr("path", f"{holder.text}.{name.text}", (), call.line)


MAX_HANDED_ON = 4  # functions in a row that only hand a parameter on


class Callables:
    """The half of `Values` that asks what is called; the two ask each other, in one `Asking`."""

    def __init__(self, values: Values, asking: Asking[tuple[Called, ...]]) -> None:
        self._values = values
        self._index = values.index
        self._known = values.known
        self._asking = asking
        self._named_alike: dict[str, frozenset[str]] = {}

    def of(self, function: Function, expr: Expr, depth: int = 0) -> tuple[Called, ...]:
        """What calling `expr` in `function` may call."""
        if depth > MAX_DEPTH:
            return ()
        match expr.kind:
            case "path":
                return self._path(function, expr, depth)
            case "choice":  # (AMPTrainer if amp else Trainer)(model)
                arms = arms_of(expr, Settled(self._known.settings, self._index, function))
                found = (self.of(function, arm, depth + 1) for arm in arms)
                return tuple(dict.fromkeys(one for each in found for one in each))
            case "attr":  # Trainer(...).train, import_module(name).main
                return self._of_named_module(function, expr) or self._attribute(function, expr, depth)
            case "index":  # {"a": A, "b": B}[name]
                if isinstance(generic := self._class_of(function, expr.parts[0]), Class):
                    return (generic,)  # Collector[Stats](policy)
                if expr.parts[0].last == "__dict__" and (module := expr.parts[0].receiver) is not None:
                    return members_of(self._index, function, module)[:MAX_HELD]
                listed = picked_members(self._index, self._known.modules, function, expr)
                return listed or self._entries(function, expr.parts[0], expr.parts[-1], depth)
            case "call":
                return self._result(function, expr, depth)
        return ()

    def _class_of(self, function: Function, expr: Expr) -> Symbol | None:
        return resolve(self._index, function, expr.text) if expr.kind == "path" else None

    def _entries(self, function: Function, table: Expr, wanted: Expr, depth: int) -> tuple[Called, ...]:
        word = value_of(wanted, Settled(self._known.settings, self._index, function))
        found = entries_of(self._values, function, table, depth, word) or picked_by(self._known.picked, wanted)
        return found or (left_to_be_asked(self._index, function.path) if is_namespace(table) else ())

    def _result(self, function: Function, call: Expr, depth: int) -> tuple[Called, ...]:
        """What the result of a call may call: TABLE.get(name)(...), partial(main, x)(), make_step()(batch)."""
        if kept := taken_back(self._values, call):
            return kept
        if call.callee == "eval" and call.arguments:
            return self._named_in_text(function, call.arguments[0])
        if call.last == "get" and call.receiver is not None:
            wanted = call.arguments[0] if call.arguments else call
            return self._entries(function, call.receiver, wanted, depth)
        if call.last == "partial" and call.arguments:
            return self.of(function, call.arguments[0], depth + 1)
        if call.last == "getattr":
            picked = picked_by(self._known.picked, call.arguments[1]) if len(call.arguments) > 1 else ()
            if named := self._of_named_module(function, call) or picked:
                return named
            if (spelled := _spelled(call)) is not None:
                return self.of(function, spelled, depth + 1)
            if (of_module := self._member_asked(function, call)) is not None:
                return (of_module,)
            if by_keys := tuple(named_by_keys(Settled(self._known.settings, self._index, function), call)):
                return by_keys[:MAX_HELD]
        called = [one for one in self.of(function, call.parts[0], depth + 1) if isinstance(one, Function)]
        chosen: list[Called] = [cls for one in called for cls in self._known.looked_up.get(one, ())]
        chosen += [given for one in called for given in self._known.functions.get(one, ())]
        returned = (inner for one in called for inner in given_back(self._index, one))
        returned = (inner for inner in returned if inner not in self._known.excluded)
        same = (held for one in called for held in self._handed_back(function, call, one, depth))
        listed: list[Called] = [cls for one in called for cls in looped_members(self._index, self._known.modules, one)]
        listed += [cls for one in called for cls in self._imported_by(one)]
        listed += loaded_by_text(self._values, function, call)
        listed += [cls for one in called for cls in given_back_by_text(self._values, one)]
        listed += [
            found for one in called for found in self._looked_up_by(one, depth + 2) if isinstance(found, Function)
        ]
        return (
            tuple(chosen)
            or tuple(dict.fromkeys([*returned, *same, *listed, *self._wrapped(function, call)]))[:MAX_HELD]
        )

    def _named_in_text(self, function: Function, text: Expr) -> tuple[Called, ...]:
        """eval(name)(...) where name is one of the texts that code gives it, or what a setting says."""
        settled, file = Settled(self._known.settings, self._index, function), self._index.files[function.path]
        names = dict.fromkeys(one.text for _, one in written_out(settled, text) if one.kind == "string")
        if not names and (word := value_of(text, settled)):
            own = (*file.classes, *file.functions, *(entry.alias for entry in file.imports))
            names = dict.fromkeys(name for name in own if name.lower() == word)
        found = (self._index.resolve(function, name) for name in islice(names, MAX_HELD))
        held = tuple(one for one in found if isinstance(one, Class | Function))
        return held or tuple(self._joined_in_text(settled, text))[:MAX_HELD]

    def _joined_in_text(self, settled: Settled, text: Expr) -> Iterator[Class | Function]:
        """eval("models." + args.net + ".Generator"), where a setting says args.net: a class, or a function that makes one."""
        said = [one.text.lower() if one.kind == "string" else value_of(one, settled) for one in _summands(text)]
        words = [word for word in said if word]
        if len(words) < 2 or len(words) < len(said):
            return
        module, _, name = "".join(words).rpartition(".")
        for path, file in self._index.files.items():
            home = path.removesuffix(".py").replace("/", ".").lower()
            if not f".{home}".endswith(f".{module}"):
                continue
            every: list[Class | Function] = [*file.classes.values(), *file.functions.values()]
            yield from (one for one in every if one.qualname.lower() == name)

    def _imported_by(self, function: Function) -> Iterator[Class | Function]:
        """What a function gives back out of a module which it imports under a name: return import_module(name).Model"""
        for event in function.events if function in self._importing else ():
            value = event.value if event.kind == "return" else None
            bound = bindings(function).get(value.text, ()) if value is not None and value.kind == "path" else ()
            for one in (value, *(each.value for each in bound)):
                found = self._of_named_module(function, one) if one is not None and one.last != "import_module" else ()
                yield from (held for held in found if isinstance(held, Class | Function))

    def _of_named_module(self, function: Function, expr: Expr) -> tuple[Called, ...]:
        modules = self._known.modules
        if not modules and function not in self._importing:
            return ()
        found = members(self._index, modules, function, expr) or tuple(self._member_said(function, expr))
        return found[:MAX_HELD]

    def _member_said(self, function: Function, asked: Expr) -> Iterator[Called]:
        """Of getattr(module, name) what the module has under the name that settings give, whatever its letters."""
        module, name = (*asked.arguments, None, None)[:2] if asked.kind == "call" else (None, None)
        settled = Settled(self._known.settings, self._index, function)
        word = value_of(name, settled) if name is not None and name.kind == "path" else None
        for one in loaded_as(self._index, self._known.modules, function, module) if module is not None and word else ():
            yield from self._alike_in(one, word) if word else ()

    def _member_asked(self, function: Function, asked: Expr) -> Class | Function | None:
        """Of getattr(nets, name.lower()) what the module `nets` has under the name that settings give."""
        module, name = (*asked.arguments, None, None)[:2]
        if module is None or name is None or module.kind != "path":
            return None
        settled = Settled(self._known.settings, self._index, function)
        word = value_of(name, settled) if self._known.settings else None
        held = resolve(self._index, function, module.text) if word else None
        return next(self._alike_in(held, word), None) if isinstance(held, Module) and word else None

    def _alike_in(self, module: Module, word: str) -> Iterator[Class | Function]:
        """What a module defines or imports under a name, whatever its letters."""
        file = self._index.files.get(module.path)
        names = (*file.classes, *file.functions, *(entry.alias for entry in file.imports)) if file is not None else ()
        for said in dict.fromkeys(name for name in names if name.lower() == word):
            member = self._index.names.member(module, said)
            yield from [member] if isinstance(member, Class | Function) else []

    @cached_property
    def _importing(self) -> frozenset[Function]:
        """Functions that may import a module whose name they spell out."""
        return frozenset(self._index.sites.may_call("import_module"))

    def _path(self, function: Function, expr: Expr, depth: int) -> tuple[Called, ...]:
        if expr.text.partition(".")[0] in self._alike(function.path) and expr.text.count(".") == 1:
            if several := members_alike(self._index, function, expr.text):
                return self._said(several)[:MAX_HELD]
        if "." in expr.text and (several := chosen_in_module(self._index, function, expr.text, self._known.settings)):
            return several[:MAX_HELD]
        symbol = resolve(self._index, function, expr.text)
        if isinstance(symbol, External) or (isinstance(symbol, Class | Function) and symbol.path == function.path):
            return (symbol,)
        what = (function, expr.text, depth)
        known = self._asking.known(what)
        if known is None:
            self._asking.begin()
            known = self._named(function, symbol, expr, depth)
            self._asking.end(what, known)
        return known

    def _alike(self, path: str) -> frozenset[str]:
        if path not in self._named_alike:
            self._named_alike[path] = named_alike(self._index.files[path])
        return self._named_alike[path]

    def _named(self, function: Function, symbol: Symbol | None, expr: Expr, depth: int) -> tuple[Called, ...]:
        if symbol is None and (several := alternatives(self._index, function, expr.text, self._known.settings)):
            return self._said(several)
        if isinstance(symbol, Class | Function):
            return self._said(alternatives(self._index, function, expr.text, self._known.settings) or (symbol,))
        if isinstance(symbol, Variable):
            if symbol.scope.parameter(symbol.name) is not None and symbol.name not in bindings(symbol.scope):
                if symbol.name == "cls" and (owner := self._index.class_of(symbol.scope)) is not None:
                    return (owner,)  # a classmethod that builds its own class
                return self._parameter(symbol.scope, symbol.name, depth)
            imported = self._imported_in(symbol, depth)
            return self._said(imported)[:MAX_HELD] if imported else self._variable(symbol, depth)
        chosen = members_of_chosen(self._index, Settled(self._known.settings, self._index, function), expr)
        of_modules = self._of_named_module(function, expr) or self._said(tuple(chosen))[:MAX_HELD]
        return of_modules or self._attribute(function, expr, depth)

    def _imported_in(self, symbol: Variable, depth: int) -> tuple[Called, ...]:
        """What imports in a function bind a name to that it also binds: if fast: Net = compiled(Net)"""
        scope, name = symbol
        entries = imports_within(self._index.files[scope.path], scope, name) if scope.name != MODULE_BODY else []
        if len(entries) != 1:
            return alternatives(self._index, scope, name, self._known.settings) if entries else ()
        settled = Settled(self._known.settings, self._index, scope)
        module = self._index.names.module(scope.path, entries[0].module, entries[0].level)
        held = self._index.names.member(module, entries[0].name) if module is not None else None
        if held is None or any(is_left(branch, settled) for branch in entries[0].under):
            return ()
        own: tuple[Called, ...] = (held,) if isinstance(held, Class | Function) else ()
        if isinstance(held, Variable):
            own = self._variable(held, depth + 1)
        return tuple(dict.fromkeys((*own, *self._variable(symbol, depth))))

    def _handed_back(self, function: Function, call: Expr, called: Function, depth: int) -> Iterator[Called]:
        """What it is given and gives back, as a decorator does: with_hooks(RUNNERS.get(name))(cfg)."""
        names = [one.name for one in called.parameters if one.name != called.self_name]
        for event in called.events:
            if event.kind == "return" and event.value is not None and event.value.text in names:
                given = call.argument(names.index(event.value.text), event.value.text)
                if given is not None and given.kind == "call" and event.value.text not in bindings(called):
                    yield from self.of(function, given, depth + 1)

    def _wrapped(self, function: Function, call: Expr) -> Iterator[Function]:
        """A function that a call is handed is what calling its result may call: torch.compile(train_step)."""
        for given in call.arguments if call.last not in COMMON_NAMES else ():  # optimizer.step(closure) gives a loss
            symbol = resolve(self._index, function, given.text) if given.kind == "path" else None
            if isinstance(symbol, Function):
                yield symbol

    def _parameter(self, function: Function, name: str, depth: int) -> tuple[Called, ...]:
        """What callers hand over to be called, else its default: actor_critic=core.MLPActorCritic."""
        given = self._known.handed(function, name)
        if given is not None and not given.is_called:
            return (given.target,)
        found: list[Called] = []
        if function.name != "step":  # not optimizer.step(closure)
            for caller, value in self._given(function, name, {}):
                found.extend(self.of(caller, value, depth + 3))
        if not found and function.name == "__init__":
            for site, value in spread_as(self._index, self._known, name):
                found.extend(one for one in self.of(site.function, value, depth + 3) if isinstance(one, Class))
        default = function.parameter(name)
        if not found and default is not None and default.default is not None and default.default.kind == "path":
            found.extend(self.of(self._index.files[function.path].body, default.default, depth + 1))
        return tuple(
            one for one in dict.fromkeys(found) if not isinstance(one, External) or one.name.startswith("torch.optim.")
        )[:MAX_HELD]

    def _given(
        self, function: Function, name: str, seen: dict[tuple[Function, str], int]
    ) -> Iterator[tuple[Function, Expr]]:
        """What callers give for a parameter, in the function that has it from nobody: others only hand it on.

        `seen`: parameters and names that were followed, with how many functions hand them on.
        """
        for site, value in self._values.calls.given(function, name):
            one, outer = (site.function, value.text), site.function
            if value.kind != "path" or outer is function or one in seen:
                continue
            handed = outer.parameter(value.text) is not None and value.text not in bindings(outer)
            seen[one] = hops = seen.get((function, name), 0) + 1
            given = list(self._given(*one, seen)) if handed and hops <= MAX_HANDED_ON else []
            if given:
                yield from given
            elif (
                value.text != name
                or name in bindings(outer)
                or isinstance(resolve(self._index, outer, name), Class | Function)
            ):
                yield outer, value

    def _variable(self, symbol: Variable, depth: int) -> tuple[Called, ...]:
        found: list[Called] = []
        for binding in self._values.live(symbol.scope, symbol.name)[:8]:
            if binding.kind == "assign" and binding.value is not None and not binding.items:
                found.extend(self.of(symbol.scope, binding.value, depth + 1))
            elif binding.kind == "assign" and binding.value is not None and binding.value.kind == "call":
                found.extend(self._given_back_among(symbol.scope, binding.value, binding.items, depth))
            elif binding.kind == "for":
                found.extend(looped_name(self._index, self._known.modules, symbol.scope, symbol.name))
                for scope, value in looped_over(self._values, symbol.scope, binding, depth):
                    if value.kind == "path":  # for train in self.steps, where self.steps = [self.update]
                        found.extend(one for one in self.of(scope, value, depth + 2) if isinstance(one, Function))
        return self._said(tuple(dict.fromkeys(found)))[:MAX_HELD]

    def _said(self, found: tuple[Called, ...]) -> tuple[Called, ...]:
        """Of namesakes those in files that a setting is called like: train of simclr.py, for mode=simclr."""
        names = {one.name.rpartition(".")[2] for one in found}
        if len(found) < 2 or len(names) > 1:
            return found
        own = [one for one in found if not isinstance(one, External) and self._is_said(one.path)]
        return tuple(own) or found

    def _is_said(self, path: str) -> bool:
        return plain(path.rpartition("/")[2].removesuffix(".py")) in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return words_of(self._known.settings.values())

    def _given_back_among(
        self, function: Function, call: Expr, items: tuple[int | str | None, ...], depth: int
    ) -> Iterator[Called]:
        """A class or function that a call gives back among other things: Dataset, network = model.get_model()."""
        for one in self.of(function, call.parts[0], depth + 1) if len(items) == 1 else ():
            for event in one.events if isinstance(one, Function) else ():
                value = event.value if event.kind == "return" else None
                if isinstance(one, Function) and value is not None and value.kind == "tuple":
                    part = value.parts[items[0]] if isinstance(items[0], int) and items[0] < len(value.parts) else None
                    if part is not None and part.kind == "path":
                        held = self.of(one, part, depth + 2)
                        yield from (each for each in held if isinstance(each, Class | Function))

    def _attribute(self, function: Function, expr: Expr, depth: int) -> tuple[Called, ...]:
        receiver = expr.receiver
        if receiver is None:
            return ()
        if receiver.kind == "call" and receiver.callee == "super":
            method = above(self._index, function, expr.last)
            return (method,) if method is not None else ()
        if receiver.kind == "path" and isinstance(cls := resolve(self._index, function, receiver.text), Class):
            method = self._index.method(cls, expr.last)
            if method is not None:  # that it has from its base: Run.create()
                return (method,)
            if expr.last.startswith(_BUILDS) or expr.last == BARE:  # a class method of another library's base
                return (cls,)
        elif receiver.kind == "path" and "." not in receiver.text:
            chosen = [one for one in self.of(function, receiver, depth + 1) if isinstance(one, Class)]
            if chosen and expr.last.startswith(_BUILDS):
                return tuple(self._index.method(one, expr.last) or one for one in chosen)
            methods = (self._index.method(one, expr.last) for one in chosen)
            if of_class := [one for one in methods if one is not None and is_of_class(one)]:
                return tuple(of_class)
        found: list[Called] = []
        objects = self._values.objects
        for held in self._values.of(function, receiver, depth + 1):
            if isinstance(held, Class):
                made = objects.built_by(held) if BUILDS.match(expr.last) or expr.last in TARGETS else None
                own = self._index.method(held, expr.last) or self._inner_class(held, expr.last)
                if isinstance(own, Function) and is_property(own):
                    classes = list(self._named_by(own, depth))
                    found += classes
                    if classes or self._values.of(function, expr, depth + 1):
                        own = None  # what is called is what it holds
                found += [one for one in (made, own) if one is not None]
        if not found and isinstance(named := self._known.kinds.get(expr.last), Function):
            return (named,)
        if not found and receiver.text == function.self_name:
            for body, value in values_of_classes(self._values, function, expr.last):
                found += self.of(body, value, depth + 2) if value.kind == "path" else ()
            found = found or list(self._written_below(function, expr.last))
        kept = found or list(self._kept(function, receiver, expr.last, depth))
        return tuple(dict.fromkeys(kept or self._put_on(function, expr)))

    def _put_on(self, function: Function, expr: Expr) -> Iterator[Called]:
        """Out of a module that is named, what the same file puts on an object: cfg.Net = import_module(cfg.net).Net"""
        body = self._index.files[function.path].body
        for scope in dict.fromkeys((function, body)) if expr.kind == "path" else ():
            for binding in bindings(scope).get(expr.text, ()):
                if binding.value is not None and not binding.items:
                    yield from self._of_named_module(scope, binding.value)

    def _written_below(self, function: Function, name: str) -> tuple[Function, ...]:
        """Methods that only classes below have: a template calls self.load_model(). Those of made ones, if any; few."""
        owner = self._index.class_of(function)
        below = [one for one in (self._index.subclasses(owner) if owner is not None else ()) if name in one.methods]
        left = [one for one in below if one not in self._known.excluded and self._values.is_loaded(one)]
        made = [one for one in left if one in self._known.made] or left
        return tuple(one.methods[name] for one in made) if len(made) <= MAX_WRITTEN else ()

    def _named_by(self, method: Function, depth: int) -> Iterator[Called]:
        """The class that a property gives back by its name: return trainers.SmallTrainer."""
        for event in method.events:
            if event.kind == "return" and event.value is not None and event.value.kind == "path":
                yield from (one for one in self.of(method, event.value, depth + 2) if isinstance(one, Class))

    def _inner_class(self, cls: Class, name: str) -> Class | None:
        """Written inside of it or of what it inherits: self.Optimizer(parameters)."""
        if not name[:1].isupper():
            return None
        inner = (self._index.files[one.path].classes.get(f"{one.qualname}.{name}") for one in self._index.lineage(cls))
        return next((one for one in inner if one is not None), None)

    def _kept(self, function: Function, receiver: Expr, name: str, depth: int) -> Iterator[Class | Function]:
        """What an object keeps to be called later, by its own methods or those above: self.policy_class = self.by_name(policy);
        in the body of its class: runner = FastRunner."""
        for held in self._values.of(function, receiver, depth + 1):
            for cls in self._index.lineage(held) if isinstance(held, Class) else ():
                for binding in bindings(cls.body).get(name, ()):
                    if binding.value is not None and not binding.items:
                        yield from self._kept_as(cls.body, binding.value, depth)
                for method, binding in self._index.hierarchy.attribute_bindings(cls, name):
                    if binding.value is not None and not binding.items:
                        yield from self._kept_as(method, binding.value, depth)
            for site, value in self._field_given(held, name) if isinstance(held, Class) else ():
                yield from self._kept_as(site.function, value, depth)

    def _field_given(self, cls: Class, name: str) -> Iterator[tuple[Site, Expr]]:
        """What calls of a class without a constructor of its own give a field: Options(network=Net) of a dataclass."""
        fields = [one for one in bindings(cls.body) if not one.startswith("_")]
        if name in fields and self._index.method(cls, "__init__") is None:
            for site in islice(self._index.calls(cls.name), MAX_HELD):
                if (value := site.call.argument(fields.index(name), name)) is not None:
                    yield site, value

    def _kept_as(self, made: Function, value: Expr, depth: int) -> Iterator[Class | Function]:
        if value.kind == "path":
            yield from (one for one in self.of(made, value, depth + 2) if isinstance(one, Class | Function))
        elif value.kind == "call":  # a class that it finds by a name
            for one in self.of(made, value.parts[0], depth + 2):
                if isinstance(one, Function):
                    yield from (found for found in self._looked_up_by(one, depth + 2) if isinstance(found, Class))
        else:  # train if own is None else own, own or train
            arms = arms_of(value, Settled(self._known.settings, self._index, made)) if value.kind == "choice" else ()
            for arm in arms or (value.parts if value.kind == "boolean" else ()):
                yield from self._kept_as(made, arm, depth)

    def _looked_up_by(self, function: Function, depth: int) -> Iterator[Called]:
        """What a function gives back from a table: return self.policies[name]."""
        for event in function.events:
            if event.kind == "return" and event.value is not None and event.value.kind == "index":
                yield from entries_of(self._values, function, event.value.parts[0], depth)


def _summands(expr: Expr) -> Iterator[Expr]:
    """Of a sum of texts, each text."""
    if expr.kind == "binary" and expr.text == "+":
        for part in expr.parts:
            yield from _summands(part)
    else:
        yield expr
