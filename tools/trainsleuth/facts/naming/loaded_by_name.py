"""Modules that are imported, and names that are looked for in modules, without being written out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..reading.scopes import bindings
from ..records import Expr, Import
from .names import Module

if TYPE_CHECKING:
    from ..index import Index

_ITSELF = re.compile(rb"globals\(\)\s*[\[.]|sys\.modules\[\s*__name__\s*\]")
_ANY = re.compile(rb"sys\.modules(?!\s*\[\s*(?:__name__|['\"]))")
_BEGINS = re.compile(rb"(?:import_module|__import__)\(\s*(?:name\s*=\s*)?[fF]['\"]([\w.]*)")
COMPUTED = (
    re.compile(rb"getattr\(\s*([\w.]+)\s*,\s*[^'\"\s]"),
    re.compile(rb"(?<![\w.])([\w.]{1,99})\.__dict__\s*[\[.]"),
)
_ASKS = re.compile(rb"getattr\(|__dict__|vars\(")


def looked_through(index: Index) -> tuple[Module, ...] | None:
    """The modules of the project in which a name that is computed is looked for: getattr(models, args.arch). None where
    it may be any.
    """
    modules: list[Module] = []
    for file in index.files.values():
        source = file.body.source
        if source.holds(_ANY):
            return None
        if source.holds(_ITSELF):
            modules.append(Module(file.path, ""))
        heads = {one.decode("utf-8", "replace") for pattern in COMPUTED for one in source.found(pattern)}
        for entry in file.imports:
            if entry.alias in heads and _is_own(index, entry):
                found = index.names.module(file.path, _dotted(entry), entry.level)
                if found is None or not found.path:
                    return None
                modules.append(found)
    return tuple(modules)


def _is_own(index: Index, entry: Import) -> bool:
    """What is imported may be a module of the project."""
    return entry.level > 0 or any(index.names.ending(one) for one in (entry.module, _dotted(entry)))


def _dotted(entry: Import) -> str:
    return f"{entry.module}.{entry.name}" if entry.name else entry.module


def is_loaded(loaded: Iterable[re.Pattern[str]], path: str) -> bool:
    dotted = "." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return any(one.search(dotted) for one in loaded)


def put_together(index: Index) -> Iterator[re.Pattern[str]]:
    """Names of modules in which any name may be looked for, or that are not written out: models.*_model of
    "models." + name + "_model".
    """
    for site in index.calls("import_module", "__import__"):
        name = site.call.argument(0, "name")
        bound = bindings(site.function).get(name.text, ()) if name is not None and name.kind == "path" else ()
        made = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" and not bound[0].items else name
        if made is not None and made.kind == "format":
            begun = {one.decode() for one in site.function.source.found(_BEGINS)}
            yield from (re.compile(rf"\.{re.escape(one.lstrip('.'))}") for one in begun or {""})
        elif made is not None and (made.kind != "string" or site.function.source.holds(_ASKS)):
            yield re.compile(rf"\.{''.join(_pieces(made))}$")


def _pieces(name: Expr) -> Iterator[str]:
    if name.kind == "binary" and name.text == "+":
        for part in name.parts:
            yield from _pieces(part)
    else:
        yield re.escape(name.text) if name.kind == "string" else ".*"
