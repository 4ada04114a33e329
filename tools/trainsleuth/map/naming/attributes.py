"""Tables read by getattr: getattr(module, cfg["type"]), in place or in a function that is handed both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath

from trainsleuth.facts import Expr, External, Function, Index, Module, Site, Variable
from trainsleuth.facts.reading.scopes import bindings

from ..calling.common_names import COMMON_NAMES
from ..calling.optional_imports import imported_in_arm
from ..recipe.keys import key_of
from .namespaces import lookups_in_own, names_handed_out, names_known_in
from .searched_folders import searched
from .tables import Entry, Table

MAX_CALLERS = 12
MAX_HOPS = 5  # callers that a name is followed up to


def attribute_tables(index: Index) -> Iterator[Table]:
    """Every table that a getattr opens, with the configuration key that picks from it."""
    for site in index.calls("getattr"):
        if len(site.call.arguments) < 2 or site.call.arguments[0].kind != "path":
            continue
        module, wanted = site.call.arguments[:2]
        if site.function.parameter(module.text) is not None:
            yield from _through_factory(index, site.function, module.text, wanted)
            continue
        symbol = index.resolve(site.function, module.text)
        symbol = symbol or imported_in_arm(index, site.function, module.text, site.call)
        known = _module_entries(index, symbol)
        if known is None and not isinstance(symbol, External):
            known = _folder_entries(index, site.function, symbol)
        if known is None and not isinstance(symbol, External):
            continue
        library = symbol.name if isinstance(symbol, External) else ""
        for key in dict.fromkeys(asked_keys(index, site, wanted)):
            yield Table(known or {}, key, site=(site.function, site.call.line), library=library)


def namespace_tables(index: Index) -> Iterator[Table]:
    """Every name of a file that a setting asks for in it."""
    for site, wanted in lookups_in_own(index):
        for key in dict.fromkeys(asked_keys(index, site, wanted)):
            if entries := names_known_in(index, site.function.path):
                yield Table(entries, key, site=(site.function, site.call.line))


def asked_keys(index: Index, site: Site, wanted: Expr) -> Iterator[str]:
    """Keys whose value is asked for: written in place, bound before, or given by callers; else the attribute's name."""
    found = list(_keys(index, site, wanted, set()))
    own = wanted.text.removeprefix("self.") if wanted.kind == "path" and wanted.text.startswith("self.") else ""
    yield from found or ([own] if own.isidentifier() else [])


def _keys(index: Index, site: Site, wanted: Expr, seen: set[tuple[Function, str]], hops: int = 0) -> Iterator[str]:
    """`asked_keys`, each name of `seen` followed once."""
    if wanted.kind != "path" or "." in wanted.text:
        if (key := key_of(wanted)) is not None:
            yield key
        return
    if (site.function, wanted.text) in seen:
        return
    seen.add((site.function, wanted.text))
    for binding in bindings(site.function).get(wanted.text, ()):
        if (
            binding.kind == "assign"
            and binding.value is not None
            and (key := key_of(_whole(binding.value))) is not None
        ):
            yield key
    parameter = site.function.parameter(wanted.text)
    if parameter is None or hops >= MAX_HOPS:
        return
    order = [p.name for p in site.function.parameters if p.name != site.function.self_name]
    if wanted.text not in order:
        return
    place = order.index(wanted.text)
    called = site.function.owner.rpartition(".")[2] if site.function.name == "__init__" else site.function.name
    for caller in islice(_callers(index, site.function, called), MAX_CALLERS):
        value = caller.call.argument(place, wanted.text)
        if value is not None and caller.function is not site.function:
            yield from _keys(index, caller, value, seen, hops + 1)


def _whole(expr: Expr) -> Expr:
    """What the first piece is of: cfg["script"] of cfg["script"].split(".py")[0]."""
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].text == "0":
        cut = expr.parts[0]
        if cut.kind == "call" and cut.last == "split" and cut.receiver is not None:
            return cut.receiver
    return expr


def _callers(index: Index, function: Function, called: str) -> Iterator[Site]:
    """Calls by its name, or by that of an import, that are none of a namesake; of what has a common name those that are
    seen to mean it; of a method with one those on its class: Algorithms.get(name).
    """
    owner, is_common = function.owner.rpartition(".")[2], called in COMMON_NAMES
    for site in index.calls(called, *_imported_as(index, function, called)) if not (owner and is_common) else ():
        meant = index.resolve(site.function, site.call.callee) if site.call.callee else None
        if meant is function or not (is_common or isinstance(meant, Function) or site.call.last != called):
            yield site
    if owner and is_common and any(one.last in ("classmethod", "staticmethod") for one in function.decorators):
        for caller in index.functions_holding(re.compile(rf"{owner}\s*\.\s*{called}\b".encode())):
            for position, event in enumerate(caller.events):
                for call in event.calls:
                    if call.last == called and call.receiver is not None and call.receiver.last == owner:
                        yield Site(caller, position, call)


def _imported_as(index: Index, function: Function, called: str) -> set[str]:
    """from app.scaffold import main as app_main"""
    if function.owner:
        return set()
    entries = (entry for file in index.files.values() for entry in file.imports if entry.name == called)
    return {entry.alias for entry in entries if entry.alias != called}


def _folder_entries(index: Index, function: Function, symbol: object) -> Mapping[str, Entry] | None:
    """Classes of the files of a folder, when it imports them by their names and asks each in turn: of the folder that
    callers name, else of its own."""
    file = index.files[function.path]
    if not isinstance(symbol, Variable) or not file.names & {"import_module", "__import__"}:
        return None
    if elsewhere := searched(index, function):
        return elsewhere
    folder = PurePosixPath(function.path).parent
    beside = (other for path, other in index.files.items() if PurePosixPath(path).parent == folder)
    return {name: cls for other in beside for name, cls in other.classes.items() if "." not in name}


def _module_entries(index: Index, symbol: object) -> Mapping[str, Entry] | None:
    if isinstance(symbol, Variable):  # losses = importlib.import_module("project.losses")
        symbol = _imported_by_name(index, symbol)
    return names_handed_out(index, symbol.path) if isinstance(symbol, Module) and symbol.path else None


def _imported_by_name(index: Index, symbol: Variable) -> object:
    for binding in bindings(symbol.scope).get(symbol.name, ()):
        value = binding.value
        if value is not None and value.kind == "call" and value.last == "import_module" and value.arguments:
            return index.names.module(symbol.scope.path, value.arguments[0].text)
    return None


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
            symbol = index.resolve(site.function, given.text)
            known = _module_entries(index, symbol)
            if known is not None or isinstance(symbol, External):
                library = symbol.name if isinstance(symbol, External) else ""
                yield Table(known or {}, key, site=(site.function, site.call.line), library=library)


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
