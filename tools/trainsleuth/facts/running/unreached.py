"""Places of a project that no program of it comes to: what is told of them harms nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainsleuth.repository import is_notebook

from ..naming.loaded_by_name import COMPUTED
from ..naming.sites import Site, is_test
from ..records import Function
from ..tracing.callers import Target
from ..tracing.taking import misses
from ..tracing.things import Spot
from .broken import PACKAGING
from .dead import around
from .reached import TEXTS, is_started

if TYPE_CHECKING:
    from ..index import Index

_COMMANDS = ("fire", "jsonargparse", "defopt", "tyro", "cleo", "typer")


def unreached(index: Index, places: Iterable[tuple[str, int]]) -> str:
    """Why no program comes to one of the places; "" where one may.

    What others install, and a file beside which no program stands, may be used by others; scripts and documents are
    imported by nobody. Of a package that its own programs use, files that none of them loads are asked about all the same.
    """
    places = tuple(places)
    if stops := [index.reached.stopped[path] for path, _ in places if path in index.reached.stopped]:
        return stops[0]
    if any(name in PACKAGING for name in index.repository.files):
        return next(
            (why for path, _ in places if _is_used(index, path) and (why := index.reached.why_not(path, None))), ""
        )
    programs = {one.path for one in index.files.values() if is_started(one)}
    for path, line in places:
        if path in index.files and (path in programs if is_notebook(path) else programs - {path}):
            if why := index.reached.why_not(path, around(index, path, line)):
                return why
            if not is_notebook(path) and (method := _uncalled_method(index, path, line)):
                return f"nothing here calls {method}"
    return ""


def _is_used(index: Index, path: str) -> bool:
    """Programs outside the folder at the top that the file lies in load something of it, or it is a package that nobody
    can install beside another: src.
    """
    package, below, _ = path.partition("/")
    is_named_src = package == "src" and "src/__init__.py" in index.files
    return bool(below) and (is_named_src or index.reached.loads(f"{package}/"))


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
    if index.is_held(COMPUTED[0]):
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
    if index.is_held(handed, asked):
        return True
    if not any(entry.module.partition(".")[0] in _COMMANDS for one in index.files.values() for entry in one.imports):
        return False
    word = re.compile(rf"\b{re.escape(function.name)}\b")
    texts = (one for one in index.repository.files if one.endswith(TEXTS) or (one.endswith(".py") and is_test(one)))
    return any(word.search(index.repository.read(one) or "") for one in texts)
