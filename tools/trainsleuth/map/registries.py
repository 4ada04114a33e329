"""Tables from names to classes: register decorators, literal dicts that are indexed, getattr on a module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainsleuth.facts import MODULE_BODY, Class, Expr, External, Function, Index, Module
from trainsleuth.facts.scopes import bindings

from .keys import key_of
from .values import Values

Entry = Class | Function | External
_NAME_KEYS = ("type", "name", "_name", "arch", "_target_", "class_name", "cls")


@dataclass(frozen=True, eq=False)
class Table:
    """`entries` by name. `key` is the configuration key whose value picks one ("" when only `kind` is known)."""

    entries: Mapping[str, Entry]
    key: str
    kind: str = ""
    site: tuple[Function, int] | None = None  # where the code looks a name up, and the line
    library: str = ""  # the module of another library that names are looked up in: its entries are not known

    def answers(self, key: str) -> bool:
        """Is a setting under `key` read through this table? By the key that the code reads, or the registry's kind."""
        if self.key:
            return key == self.key or key.endswith("." + self.key)
        parts = key.split(".")
        named = parts[-2:] if parts[-1] in _NAME_KEYS else parts[-1:]
        return any(_singular(part) == _singular(self.kind) for part in named)


def tables(index: Index, values: Values) -> dict[str, list[Table]]:
    """Every table, by each name that it holds; those of libraries under ""."""
    found: dict[str, list[Table]] = {}
    for table in (*_decorated(index), *_literal(index, values), *_attributes(index, values)):
        for name in table.entries or [""]:
            found.setdefault(name, []).append(table)
    return found


def _singular(word: str) -> str:
    word = word.lower().strip("_")
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _decorated(index: Index) -> Iterator[Table]:
    kinds: dict[str, dict[str, Entry]] = {}
    for thing in (*index.classes(), *index.functions()):
        for decorator in thing.decorators:
            kind = _kind(decorator)
            if kind:
                first = decorator.argument(0, "name") if decorator.kind == "call" else None
                name = first.text if first is not None and first.kind == "string" else thing.name
                kinds.setdefault(kind, {}).setdefault(name, thing)
    for kind, entries in kinds.items():
        yield Table(entries, "", kind)


def _kind(decorator: Expr) -> str:
    """ "model" of @register_model(...), @MODELS.register_module(), @registry.register_model(...)."""
    last = decorator.last
    if last in ("register", "register_module", "register_class"):
        receiver = decorator.receiver
        return receiver.text.rpartition(".")[2].lower().removesuffix("_registry") if receiver is not None else ""
    return last.removeprefix("register_") if last.startswith("register_") else ""


def _literal(index: Index, values: Values) -> Iterator[Table]:
    """{"adam": Adam, ...}[cfg.optimizer]"""
    for function in index.functions():
        for event in function.events:
            if event.value is None or (event.value.kind not in ("index", "call", "choice", "await")):
                continue
            for expr in event.value.walk():
                if expr.kind != "index" or len(expr.parts) != 2 or (key := key_of(expr.parts[1])) is None:
                    continue
                entries = dict(_entries(index, values, function, expr.parts[0]))
                if entries:
                    yield Table(entries, key, site=(function, expr.line))


def _entries(index: Index, values: Values, function: Function, table: Expr) -> Iterator[tuple[str, Entry]]:
    if table.kind == "path" and "." not in table.text:
        local = [b.value for b in bindings(function).get(table.text, ()) if b.value is not None]
        outside = [] if local else [b.value for b in bindings(index.files[function.path].body).get(table.text, ())]
        for value in (local or outside)[:1]:
            if value is not None and value.kind == "dict":
                yield from _entries(index, values, function, value)
    for pair in table.parts if table.kind == "dict" else ():
        if pair.kind == "pair" and pair.parts[0].kind == "string":
            for one in values.callables(function, pair.parts[1])[:1]:
                yield pair.parts[0].text, one


def _attributes(index: Index, values: Values) -> Iterator[Table]:
    """getattr(module, cfg["type"]), in place or in a function that is handed the key and the module."""
    for site in index.calls("getattr"):
        if len(site.call.arguments) < 2:
            continue
        module, wanted = site.call.arguments[:2]
        key = key_of(wanted) if wanted.kind != "path" or "." in wanted.text else None
        if module.kind == "path" and key is not None and site.function.parameter(module.text) is None:
            yield from _module_table(index, site.function, module.text, key, site.call.line)
        elif module.kind == "path" and site.function.parameter(module.text) is not None:
            yield from _through_factory(index, site.function, module.text, wanted)


def _through_factory(index: Index, factory: Function, module: str, wanted: Expr) -> Iterator[Table]:
    suffix, parameter = _suffix(factory, wanted)
    if parameter is None or factory.self_name in (parameter, module):
        return
    order = [p.name for p in factory.parameters if p.name != factory.self_name]
    for site in index.calls(factory.name):
        name = site.call.argument(order.index(parameter), parameter)
        given = site.call.argument(order.index(module), module)
        if name is not None and name.kind == "string" and given is not None and given.kind == "path":
            key = ".".join(filter(None, (name.text, suffix)))
            yield from _module_table(index, site.function, given.text, key, site.call.line)


def _suffix(factory: Function, wanted: Expr) -> tuple[str, str | None]:
    """("type", "name") of config[name]["type"] inside a factory with the parameter `name`."""
    if wanted.kind == "path" and "." not in wanted.text:
        if factory.parameter(wanted.text) is not None:
            return "", wanted.text
        bound = [b.value for b in bindings(factory).get(wanted.text, ()) if b.value is not None]
        return _suffix(factory, bound[-1]) if bound and bound[-1].kind == "index" else ("", None)
    if wanted.kind == "index" and len(wanted.parts) == 2:
        last = wanted.parts[1]
        if last.kind == "path" and factory.parameter(last.text) is not None:
            return "", last.text
        if last.kind == "string":
            inner, parameter = _suffix(factory, wanted.parts[0])
            return ".".join(filter(None, (inner, last.text))), parameter
    return "", None


def _module_table(index: Index, function: Function, module: str, key: str, line: int) -> Iterator[Table]:
    symbol = index.resolve(function, module)
    if isinstance(symbol, Module) and symbol.path:
        file = index.files[symbol.path]
        functions = {name: one for name, one in file.functions.items() if "." not in name and name != MODULE_BODY}
        yield Table(
            {**functions, **{n: one for n, one in file.classes.items() if "." not in n}}, key, site=(function, line)
        )
    elif isinstance(symbol, External):
        yield Table({}, key, site=(function, line), library=symbol.name)
