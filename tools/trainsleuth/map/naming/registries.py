"""Tables from names to classes: register decorators and calls, literal dicts that are indexed, getattr on a module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from trainsleuth.facts import Class, Expr, Function, Index, Module, Site, Variable
from trainsleuth.facts.reading.scopes import Binding, bindings

from ..calling.values import Values
from ..programs.left_copies import in_use
from ..recipe.choices import dotted
from ..recipe.constants import constant_text
from .attributes import asked_keys, attribute_tables, namespace_tables
from .factories import factory_tables
from .filled_registries import Registry, lookups
from .gathered_tables import gathered, is_gathered
from .registered_subclasses import subclass_tables
from .tables import OF_ALL, Entry, Table

# a dict with a name as key, what it is bound to, and that indexed by an expression: where it cannot be nothing is read
_KEY_IN_DICT = re.compile(rb":(?:(?<=[\"']:)|(?<=[\"'] :))\s*[\w.]+(?![\w.])\s*[,}(\[]")
_TEXT_IN_DICT = re.compile(
    rb":(?:(?<=[\"']:)|(?<=[\"'] :))\s*[(\[]?\s*[\"'][A-Za-z_]\w*[.:][\w.:]*[\"']"
)  # "a": "nets.a.Net"
_DICT = re.compile(rb"=[\s(]*\{")
_BOUND = re.compile(rb"[ \t]*(\w+)(?!\w)[^=(]*")
_BY_OWN_NAME = re.compile(rb"\n[ \t]*(\w+)(?!\w)[^=(\n]*=[\s(]*\{\s*\w+\.__name__\s*:")
_OWN_NAME = re.compile(rb"__name__\s*:")
_INDEX = re.compile(rb"\[\s*[A-Za-z_]")
_GET = re.compile(rb"\.\s*get\b")
_CALLED = re.compile(
    rb"\[\s*[A-Za-z_][^\]\n]{0,80}\]+(?:\[\d\])?\s*\("
)  # of a table of another file: METHODS[cfg.method](cfg)


def tables(index: Index, values: Values) -> dict[str, list[Table]]:
    """Every table, by each name that it holds; those of libraries under ""."""
    found: dict[str, list[Table]] = {}
    for table in (
        *_decorated(index),
        *subclass_tables(index),
        *factory_tables(index, values),
        *_literal(index, values),
        *attribute_tables(index),
        *namespace_tables(index),
    ):
        for name in table.entries or [""]:
            found.setdefault(name, []).append(table)
    return found


def _decorated(index: Index) -> Iterator[Table]:
    kinds: dict[Registry, dict[str, Entry]] = {}
    holders: dict[str, str] = {}  # a name that holds a registry -> its kind
    things: list[Class | Function] = [*index.classes(), *index.functions()]
    made: dict[tuple[str, str], list[Class]] = {}
    for made_or_variant in things:
        for decorator in made_or_variant.decorators:
            thing = _variant_of(made, decorator, made_or_variant)
            of_all = _of_all(index, thing, decorator)
            holder, kind = ("", of_all) if of_all else place_of(decorator)
            if not kind:
                continue
            filler = _resolved(index, thing, decorator) if not holder else None
            registry = Registry(kind, filler if isinstance(filler, Function) and not filler.owner else None)
            name = _name(index, thing, decorator) or _given_name(registry, thing, decorator) or _own_name(thing)
            if kinds.setdefault(registry, {}).setdefault(name, thing) is not thing:
                yield Table({name: thing}, "", kind)  # of another backend
            if isinstance(thing, Class):
                made.setdefault((kind, name), []).append(thing)
            if holder:
                holders[holder] = kind
    kinds = {one: kinds[one] for one in _used(index, kinds)}
    for registry, entries in kinds.items():
        yield Table(entries, "", registry.kind)
    by_kind = (*_asked(index, holders), *_asked_by_kind(index, {one.kind for one in kinds}))
    by_holder = ((site, site.call.arguments[0], one) for site, kind in by_kind for one in kinds if one.kind == kind)
    for site, wanted, one in (*by_holder, *lookups(index, kinds)):
        for key in dict.fromkeys(asked_keys(index, site, wanted)) or [""]:
            yield Table(kinds[one], key, one.kind, (site.function, site.call.line), _default(wanted))


def _used(index: Index, kinds: Iterable[Registry]) -> Iterator[Registry]:
    """Without those of packages that are left beside the ones in use."""
    fillers: dict[str, list[Function]] = {}
    for one in kinds:
        fillers.setdefault(one.kind, []).extend([one.filler] if one.filler is not None else [])
    used = {filler for alike in fillers.values() for filler in in_use(index, alike)}
    yield from (one for one in kinds if one.filler is None or one.filler in used)


def _variant_of(
    made: Mapping[tuple[str, str], Sequence[Class]], decorator: Expr, thing: Class | Function
) -> Class | Function:
    """@register_model_architecture("transformer", "transformer_base"): settings by that name mean the class of the first.

    Of several so called that of the same file.
    """
    names = _strings(decorator) if isinstance(thing, Function) else ()
    found = made.get((place_of(decorator)[1].rpartition("_")[0], names[0]), ()) if len(names) == 2 else ()
    return next((one for one in found if one.path == thing.path), found[0] if found else thing)


def _resolved(index: Index, thing: Class | Function, decorator: Expr) -> object:
    """What a decorator means where it stands."""
    return index.resolve(index.files[thing.path].body, decorator.callee or decorator.text)


def _of_all(index: Index, thing: Class | Function, decorator: Expr) -> str:
    """The kind of the one registry that a function register() of the project fills with classes of every kind, else ""."""
    if decorator.last != "register" or not isinstance(thing, Class):
        return ""
    function = _resolved(index, thing, decorator)
    return f"{OF_ALL}{function.path}" if isinstance(function, Function) else ""


def _asked_by_kind(index: Index, kinds: Iterable[str]) -> Iterator[tuple[Site, str]]:
    """registry.get_runner_class(name), registry.get_runner(name)"""
    for kind in sorted(kinds):
        for site in index.calls(f"get_{kind}_class", f"get_{kind}"):
            if site.call.receiver is not None and "registry" in site.call.receiver.text.lower() and site.call.arguments:
                yield site, kind


def _default(wanted: Expr) -> str:
    """ "base" of cfg.get("runner", "base")."""
    given = wanted.arguments if wanted.kind == "call" and wanted.last in ("get", "pop") else ()
    return given[1].text if len(given) == 2 and given[1].kind == "string" else ""


_IS_REGISTERED = re.compile(r"registe(?:r|r?_module|r?_class|r?_with_name)$")  # the short spelling is IDEA-Research's


def _strings(decorator: Expr) -> list[str]:
    given = decorator.arguments if decorator.kind == "call" else ()
    return [one.text for one in given if one.kind == "string"]


def _name(index: Index, thing: Class | Function, decorator: Expr) -> str:
    """The name that something is registered by; "" for its own."""
    first = next((one for word in ("name", "module_name") if (one := decorator.keyword(word)) is not None), None)
    given = [first] if first is not None else (decorator.arguments if decorator.kind == "call" else ())
    return next(
        iter([text for one in given if (text := constant_text(index, index.files[thing.path].body, one))][-1:]), ""
    )


def _given_name(registry: Registry, thing: Class | Function, decorator: Expr) -> str:
    """The module's, where the decorator itself puts what it is given under that: fn.__module__.split(".")[-1]"""
    source = registry.filler.source if registry.filler is not None and decorator.kind == "path" else None
    by_module = source is not None and source.holds(_MODULE) and not source.holds(_NAME)
    return PurePosixPath(thing.path).stem if by_module else ""


_MODULE, _NAME = re.compile(rb"\.__module__\b"), re.compile(rb"\.__(?:qual)?name__\b")
_STARTS = ("main", "run", "train")


def _own_name(thing: Class | Function) -> str:
    """Of one that every module has, main() of algos/ppo.py, the name of the module."""
    is_start = isinstance(thing, Function) and thing.name in _STARTS
    return PurePosixPath(thing.path).stem if is_start else thing.name


def _asked(index: Index, holders: Mapping[str, str]) -> Iterator[tuple[Site, str]]:
    """Calls that look a name up in a registry: BACKBONES.get(name)."""
    names = {one.encode() for one in holders}
    for function in index.sites.may_call("get") if names else ():
        if names.isdisjoint(function.source.before(_GET)):
            continue
        for position, event in enumerate(function.events):
            for call in event.calls:
                if (
                    call.last == "get"
                    and call.arguments
                    and call.receiver is not None
                    and call.receiver.last in holders
                ):
                    yield Site(function, position, call), holders[call.receiver.last]


def place_of(decorator: Expr) -> tuple[str, str]:
    """(what holds the registry, its kind): "model" of @register_model(...), @registry.register_model(...),
    @MODELS.register_module(), @tables.register("model_classes", name)."""
    last, receiver = decorator.last, decorator.receiver
    if not _IS_REGISTERED.match(last):
        return "", last.removeprefix("register_") if last.startswith("register_") else ""
    if receiver is None:
        return "", ""
    table = strings[0] if len(strings := _strings(decorator)) == 2 else receiver.last
    return table, table.lower().removesuffix("_registry").removesuffix("_classes")


def _literal(index: Index, values: Values) -> Iterator[Table]:
    """{"adam": Adam, ...}[cfg.optimizer]"""
    for function in _that_may_index(index):
        for position, event in enumerate(function.events):
            if event.value is None or (event.value.kind not in ("index", "call", "choice", "await")):
                continue
            for expr in event.value.walk():
                if expr.kind != "index" or len(expr.parts) != 2 or expr.parts[1].kind not in ("path", "index", "call"):
                    continue
                entries = dict(_entries(index, values, function, expr.parts[0]))
                if entries:
                    for key in dict.fromkeys(asked_keys(index, Site(function, position, expr), expr.parts[1])):
                        yield Table(entries, key, site=(function, expr.line))


def _that_may_index(index: Index) -> Iterator[Function]:
    for file in index.files_holding(_CALLED, _KEY_IN_DICT, _TEXT_IN_DICT, _OWN_NAME):
        body, called = file.body.source, file.body.source.holds(_CALLED)
        names = {*_bound_dicts(body.whole), b"}"} if body.holds(_KEY_IN_DICT) or body.holds(_TEXT_IN_DICT) else set()
        names.update(body.found(_BY_OWN_NAME) if body.holds(_OWN_NAME) else ())
        names = names.intersection(body.before(_INDEX)) if names else names
        for function in file.functions.values() if names or called else ():
            source = function.source
            if (called and source.holds(_CALLED)) or (names and not names.isdisjoint(source.before(_INDEX))):
                yield function


def _bound_dicts(source: bytes) -> Iterator[bytes]:
    """Names that dicts are assigned to."""
    for start in _DICT.finditer(source):
        bound = _BOUND.fullmatch(source, source.rfind(b"\n", 0, start.start()) + 1, start.start())
        if bound is not None:
            yield bound[1]


def _entries(index: Index, values: Values, function: Function, table: Expr) -> Iterator[tuple[str, Entry]]:
    scope = function
    if table.kind == "path":
        scope, bound = _bound(index, function, table.text)
        for name, value in _put_in(scope, bound[0].name if bound else table.text):
            for one in values.callables(scope, value)[:1]:
                yield name, one
        tables = (one.value for one in bound if one.value is not None)
        table = next((one for one in tables if one.kind == "dict" or is_gathered(one)), table)
    yield from gathered(index, scope, table)
    for pair in table.parts if table.kind == "dict" else ():
        if pair.kind == "pair" and pair.parts[0].kind == "string":
            for one in _held(values, scope, pair.parts[1])[:1]:
                yield pair.parts[0].text, one


def _written(index: Index, text: str) -> Iterator[Entry]:
    """What a text names of the project, to be imported when it is asked for: "nets.small.SmallNet", "nets.small:SmallNet"."""
    found = dotted(index, text.replace(":", ".")) if _DOTTED.fullmatch(text) else None
    if isinstance(found, Class | Function):
        yield found


_DOTTED = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+")


def _held(values: Values, scope: Function, value: Expr) -> tuple[Entry, ...]:
    """What a name stands for; the only thing that can be called of what is listed with it: (resnet56, "weights.pt")."""
    if value.kind == "string":
        return tuple(_written(values.index, value.text))
    if value.kind not in ("tuple", "list"):
        return values.callables(scope, value)
    if len(texts := [part.text for part in value.parts if part.kind == "string"]) > 1:
        return tuple(_written(values.index, ".".join(texts[:2])))
    found = [one for part in value.parts for one in values.callables(scope, part)[:1] if part.kind == "path"]
    return tuple(found) if len(found) == 1 else ()


def _put_in(scope: Function, table: str) -> Iterator[tuple[str, Expr]]:
    """REGISTRY["qmix"] = QMixer, below REGISTRY = {}"""
    for event in scope.events:
        if event.kind == "assign" and event.value is not None:
            for target in event.targets:
                if target.kind == "index" and target.parts[0].text == table and target.parts[1].kind == "string":
                    yield target.parts[1].text, event.value


def _bound(index: Index, function: Function, name: str) -> tuple[Function, tuple[Binding, ...]]:
    """What a table's name is bound to, in this function, this file or the one that it is imported from: nets.__all__"""
    if local := bindings(function).get(name, ()):
        return function, tuple(local[:1])
    symbol = index.resolve(function, name)
    held, _, last = name.rpartition(".")
    owner = index.class_of(function) if held else None
    if owner is not None and held in (function.self_name, owner.name):  # cls._registry[name]
        return owner.body, tuple(bindings(owner.body).get(last, ())[:1])
    module = index.resolve(function, held) if symbol is None and last == "__all__" else None
    if isinstance(module, Module) and module.path:
        symbol = Variable(index.files[module.path].body, last)
    if not isinstance(symbol, Variable):
        return function, ()
    return symbol.scope, tuple(bindings(symbol.scope).get(symbol.name, ())[:1])
