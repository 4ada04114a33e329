"""What runs when a file is imported, executed or started."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import Event, Expr, FileFacts, Function, Import, Index, Module
from trainsleuth.facts.memo import kept_per_function, kept_per_index


def imported(index: Index, path: str) -> tuple[Function, ...]:
    """Module bodies that run when the file at `path` is imported."""
    return _imported(index.files[path].body, index)


@kept_per_function
def _imported(body: Function, index: Index) -> tuple[Function, ...]:
    path = body.path
    found: list[Function] = []
    file = index.files[body.path]
    for entry in file.imports:
        if not entry.typing:
            found += by_entry(index, path, entry)
            found += [one for lazy in _asked_of(index, file, entry) for one in by_entry(index, *lazy)]
    if path.endswith("__init__.py") and (
        file.names & _IMPORTS or (file.names & _LISTS and file.body.source.holds(_ALL))
    ):
        found += _whole_folder(index, path)
    return tuple(found)


_IMPORTS = frozenset({"import_module", "__import__", "iter_modules", "walk_packages"})
_LISTS = frozenset({"glob", "iglob", "listdir"})
_ALL = re.compile(rb"__all__")  # made of the files that lie there: what `from .nets import *` loads


def by_entry(index: Index, path: str, entry: Import) -> Iterator[Function]:
    """Bodies of the module that an import names, and of the one that it takes from it."""
    names = index.names
    module = names.module(path, entry.module, entry.level) if entry.module or entry.level else None
    if entry.name and module is not None and module.folder and entry.name != "*":
        member = names.member(module, entry.name)
        if isinstance(member, Module) and member.path:
            yield index.files[member.path].body
    if module is not None and module.path:
        yield index.files[module.path].body


def _asked_of(index: Index, file: FileFacts, entry: Import) -> Iterator[tuple[str, Import]]:
    """Imports that packages do only when a name is asked for: they stand under `if TYPE_CHECKING:` beside a lazy table."""
    module = index.names.module(file.path, entry.module, entry.level) if entry.module or entry.level else None
    if module is None or not module.path:
        return
    yield from _lazy(index, module, {entry.name}, set())
    held = module if not entry.name else index.names.member(module, entry.name)
    if isinstance(held, Module) and held.path and any(one.typing for one in index.files[held.path].imports):
        asked = file.body.source.found(re.compile(rb"\b%s\.(\w+)" % re.escape(entry.alias).encode()))
        yield from _lazy(index, held, {one.decode() for one in asked}, set())


def _lazy(index: Index, module: Module, asked: set[str], seen: set[tuple[str, str]]) -> Iterator[tuple[str, Import]]:
    for entry in index.files[module.path].imports:
        if entry.typing and entry.alias in asked and (module.path, entry.alias) not in seen:
            seen.add((module.path, entry.alias))
            yield module.path, entry
            further = index.names.module(module.path, entry.module, entry.level)
            if further is not None and further.path and entry.name:
                yield from _lazy(index, further, {entry.name}, seen)


def _whole_folder(index: Index, path: str) -> Iterator[Function]:
    folder = path.rpartition("/")[0]
    for other, file in index.files.items():
        if other.rpartition("/")[0] == folder and other != path:
            yield file.body


def executed(index: Index, function: Function, call: Expr) -> Iterator[Function]:
    """exec(open("configurator.py").read()) runs that file here."""
    folder = PurePosixPath(function.path).parent
    for part in call.walk():
        if part.kind == "string" and part.text.endswith(".py"):
            file = index.files.get(str(folder / part.text)) or index.files.get(part.text)
            if file is not None:
                yield file.body


def has_guard(index: Index, path: str) -> bool:
    """Something in the file runs only when it is the one that is started."""
    return path in _guarded(index)


@kept_per_index
def _guarded(index: Index) -> frozenset[str]:
    files = index.files_holding(_NAME)
    return frozenset(file.path for file in files if any(is_guarded(event) for event in file.body.events))


_NAME = re.compile(rb"__name__")


def is_guarded(event: Event) -> bool:
    """Stands under `if __name__ == "__main__"`."""
    return any(
        branch.test is not None
        and branch.test.kind == "compare"
        and any(part.text == "__name__" for part in branch.test.parts)
        and branch.arm == 0
        for branch in event.block.branches
    )
