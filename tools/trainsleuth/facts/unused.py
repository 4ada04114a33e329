"""Functions and classes of a program that nothing in it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trainsleuth.repository import is_notebook

from .callers import Target
from .dead import around
from .fitting import misses
from .loaded_by_name import COMPUTED, is_loaded, looked_through, put_together
from .names import Module
from .records import MODULE_BODY, FileFacts, Function
from .sites import Site, is_test
from .things import Spot

if TYPE_CHECKING:
    from .index import Index

_PACKAGING = ("setup.py", "setup.cfg", "pyproject.toml")
_LOADS = re.compile(rb"spec_from_file|walk_packages|iter_modules|run_path|runpy|(?<![\w.])exec\(")
_PROGRAM = re.compile(rb"__name__\s*==")
_TEXTS = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".bash", ".md", ".rst", ".txt", ".ipynb")
_HOOKS = ("main",)
_COMMANDS = ("fire", "jsonargparse", "defopt", "tyro", "cleo", "typer")
_COMMENT = re.compile(r"\s*#")
_GUARD = re.compile(r"if\s+__name__\s*==")
_TRAINS = re.compile(rb"\.backward\(|\.fit\(|[Tt]rainer\(")


def unused(index: Index, places: Iterable[tuple[str, int]]) -> str:
    """The function or class around one of the places that nothing else in the project names, in code or in text, or a
    method that nothing calls; "" otherwise. Where only another one names it that nothing names, that one.

    A package that others install, and a file beside which no program stands, may be used by others; what is decorated
    may be registered.
    """
    if any(name in _PACKAGING for name in index.repository.files):
        return ""
    if (looked := looked_through(index)) is None:
        return ""
    loaded = tuple(put_together(index))
    programs = {one.path for one in index.files.values() if _is_started(one)}
    for path, line in places:
        found = is_loaded(loaded, path) or _is_found_by_name(index, looked, path, line)
        if not is_notebook(path) and programs - {path} and not found:
            if name := _unused(index, path, line, frozenset()) or _uncalled_method(index, path, line):
                return name
    return ""


def _is_started(file: FileFacts) -> bool:
    """It has a part for when it is started itself, or does its work at its top: a loop, or a call whose value nobody takes."""
    if file.body.source.holds(_PROGRAM):
        return True
    return any(
        event.kind in ("for", "while") or (event.kind == "expression" and event.calls) for event in file.body.events
    )


def _is_found_by_name(index: Index, looked: tuple[Module, ...], path: str, line: int) -> bool:
    function = around(index, path, line)
    head = function.qualname.partition(".")[0] if function is not None else ""
    members = (index.names.member(module, head) for module in looked)
    return any(one is not None and getattr(one, "path", path) == path for one in members)


def _uncalled_method(index: Index, path: str, line: int) -> str:
    """The method around the place when it overrides nothing, nothing of its class names it, and what bears its name
    elsewhere is surely of another class.
    """
    function = around(index, path, line)
    while function is not None and function.outer:
        function = index.files[path].functions.get(function.outer)
    cls = index.class_of(function) if function is not None else None
    if function is None or cls is None or function.decorators or function.name.startswith("__"):
        return ""
    if any(one.body.source.holds(COMPUTED[0]) for one in index.files.values()):
        return ""
    family = {cls: None} | {one: None for below in (cls, *index.subclasses(cls)) for one in index.lineage(below)}
    if set(index.external_bases(cls)) - {"object"} or any(
        function.name in one.methods for one in family if one is not cls
    ):
        return ""
    if index.callers(function) or any(_may_run(index, function, site) for site in index.calls(function.name)):
        return ""
    return f"{cls.name}.{function.name}" if not _is_said_otherwise(index, function) else ""


def _may_run(index: Index, function: Function, site: Site) -> bool:
    """A call by the same name, unless what it runs is known and is not this, or it gives what this does not take."""
    if misses(function, site.call, is_method=bool(function.self_name)):
        return False
    targets = list(index.calling.targets(site.call, Spot(site.function, site.position)))
    return not targets or any(not isinstance(one, Target) or one.function is function for one in targets)


def _is_said_otherwise(index: Index, function: Function) -> bool:
    """It is handed on without being called, asked for by its name, or given to a command that is made of an object."""
    name = re.escape(function.name.encode())
    handed = re.compile(rb"\.%s\b(?!\s*\()" % name)
    asked = re.compile(rb"(?:attr|methodcaller)\([^\n]*['\"]%s['\"]" % name)
    if any(one.body.source.holds(handed) or one.body.source.holds(asked) for one in index.files.values()):
        return True
    if not any(entry.module.partition(".")[0] in _COMMANDS for one in index.files.values() for entry in one.imports):
        return False
    word = re.compile(rf"\b{re.escape(function.name)}\b")
    texts = (one for one in index.repository.files if one.endswith(_TEXTS) or (one.endswith(".py") and is_test(one)))
    return any(word.search(index.repository.read(one) or "") for one in texts)


def _unused(index: Index, path: str, line: int, seen: frozenset[str]) -> str:
    function = around(index, path, line)
    head = function.qualname.partition(".")[0] if function is not None else ""
    file = index.files[path]
    defined = file.classes.get(head) or file.functions.get(head)
    if function is None or function.name == MODULE_BODY or defined is None or defined.decorators or head in _HOOKS:
        return ""
    word = re.compile(rf"\b{re.escape(head)}\b")
    lines = (index.repository.read(path) or "").split("\n")
    inside = range(defined.line - 1, defined.end_line)
    tried = _tried_out(file, lines)
    beside = [
        place + 1
        for place, text in enumerate(lines)
        if place not in inside and place not in tried and word.search(text) and not _COMMENT.match(text)
    ]
    if head in seen or _is_named_elsewhere(index, path, head):
        return ""
    outer = [_unused(index, path, one, seen | {head}) for one in beside]
    return (outer[0] if outer else head) if all(outer) else ""


def _tried_out(file: FileFacts, lines: Sequence[str]) -> range:
    """Places of what a file that trains nothing does when it is started itself: it tries its network on a random input."""
    start = next((place for place, text in enumerate(lines) if _GUARD.match(text)), len(lines))
    if file.body.source.holds(_TRAINS) or start == len(lines):
        return range(0)
    after = (place for place in range(start + 1, len(lines)) if lines[place][:1] not in ("", " ", "\t", "#", "\r"))
    return range(start, next(after, len(lines)))


def _is_named_elsewhere(index: Index, path: str, name: str) -> bool:
    """Not by a file that has something of its own by that name: train() of another program. Nor by a text, where a
    file takes another thing by that name: it may mean that one.
    """
    if not _may_be_loaded(index, path):
        return False
    named = re.compile(rb"(?m)^(?![ \t]*#)[^\n]*\b%s\b" % re.escape(name.encode()))
    own = {one.path for one in index.files.values() if one.path != path and _has_own(index, one, path, name)}
    if any(one.body.source.holds(named) for one in index.files.values() if one.path != path and one.path not in own):
        return True
    if any(_is_from_another(index, index.files[one], path, name) for one in own):
        return False
    word = re.compile(rf"\b{re.escape(name)}\b")
    texts = (one for one in index.repository.files if one.endswith(_TEXTS) or (one.endswith(".py") and is_test(one)))
    return any(word.search(index.repository.read(one) or "") for one in texts if one not in own)


def _may_be_loaded(index: Index, path: str) -> bool:
    """Some other file says the name of this one, in code or in text, or loads files wherever they lie."""
    stem = path.removesuffix("/__init__.py").rpartition("/")[2].removesuffix(".py")
    named = re.compile(rb"\b%s\b" % re.escape(stem.encode()))
    others = [one.body.source for other, one in index.files.items() if other != path]
    if any(one.holds(named) or one.holds(_LOADS) for one in others):
        return True
    word = re.compile(rf"\b{re.escape(stem)}\b")
    texts = (one for one in index.repository.files if one.endswith(_TEXTS) or (one.endswith(".py") and is_test(one)))
    return any(word.search(index.repository.read(one) or "") for one in texts)


def _has_own(index: Index, file: FileFacts, path: str, name: str) -> bool:
    """It defines the name at its top, or imports it from another file, and imports nothing of the file at `path`."""
    if name not in file.functions and name not in file.classes and not _is_from_another(index, file, path, name):
        return False
    stem = path.rpartition("/")[2].removesuffix(".py")
    alike = [one for one in file.imports if stem in (one.name, *one.module.split("."))]
    modules = [index.names.module(file.path, one.module, one.level) for one in alike]
    return all(one is not None and one.path not in ("", path) for one in modules)


def _is_from_another(index: Index, file: FileFacts, path: str, name: str) -> bool:
    given = [one for one in file.imports if name in (one.name, one.alias)]
    modules = [index.names.module(file.path, one.module, one.level) for one in given]
    return bool(modules) and all(one is not None and one.path not in ("", path) for one in modules)
