"""Modules that are imported under a name from a setting: model = __import__(config["model"])."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import Class, Expr, External, Function, Index, Module, Variable
from trainsleuth.facts.scopes import bindings

from .keys import key_of
from .recipes import Setting

Place = tuple[str, int]  # path and line of the import
_IMPORTS = ("import_module", "__import__")


def named_modules(index: Index, given: Iterable[Setting]) -> dict[Place, Module]:
    """The project's module that each import by a setting loads, as far as the setting's value is known."""
    values = {}
    for setting in given:
        values[setting.key] = values[setting.key.rpartition(".")[2]] = setting.value
    found = {}
    for site in index.calls(*_IMPORTS):
        key = key_of(site.call.arguments[0]) if site.call.arguments else None
        name = values.get(key) or values.get(key.rpartition(".")[2]) if key is not None else None
        module = (
            index.names.module(site.function.path, name) if name and name.replace(".", "_").isidentifier() else None
        )
        if module is not None and module.path:
            found[site.function.path, site.call.line] = module
    return found


def members(
    index: Index, modules: Mapping[Place, Module], function: Function, expr: Expr
) -> Iterator[Class | Function | External]:
    """What `model.Generator` is where `model` is such a module."""
    receiver = expr.receiver
    held = index.resolve(function, receiver.text) if receiver is not None and receiver.kind == "path" else None
    if not isinstance(held, Variable):
        return
    for binding in bindings(held.scope).get(held.name, ()):
        value = binding.value
        module = modules.get((held.scope.path, value.line)) if value is not None and value.last in _IMPORTS else None
        found = index.names.member(module, expr.last) if module is not None else None
        if isinstance(found, Class | Function | External):
            yield found
