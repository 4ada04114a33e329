"""Imports of modules that are meant to be the project's own and are not there: the program stops at its first line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from trainsleuth.repository import is_notebook

from ..reading.compiled import compiled
from ..records import FileFacts, Import
from ..words import words
from .names import Module
from .required import names_packages

if TYPE_CHECKING:
    from ..index import Index

_OWN = words(  # as research code calls its own modules, and no package is called that it installs
    "agent agents args base common config configs core data dataloader dataloaders dataset debug engine envs helper "
    "helpers layer layers lib libs loader loaders logger loss losses memory metric model models module modules nets "
    "network networks optimizer optimizers option options parameters policies policy sampler scheduler schedulers scripts "
    "settings solver src test tools train trainer trainers transforms util utils validate visualization visualize"
)
WHOLE = 5  # files of source from which on a project is taken to be all there
MAX_DEPTH = 32  # folders above a file that are looked into
_MADE = re.compile(r"(^|[._])(_C|_?version|_?ext|pb2|pb2_grpc|cuda|cpp)(_|$)", re.I)  # by a build
_WIDER = re.compile(rb"sys\.path")


def stopped(index: Index) -> Mapping[str, str]:
    """Files that stop when they are loaded, and why: they import a module of the project that is not in it, or a file
    that does. No file where submodules or folders outside may hold it, or of a few, which may be a part of a project;
    that an installed library is missing is not known.
    """
    if (index.repository.root / ".gitmodules").is_file() or len(index.files) < WHOLE:
        return {}
    found = {path: why for path, file in index.files.items() if (why := _absent(index, file) or _hidden(index, file))}
    importers: dict[str, list[FileFacts]] = {}
    for file in index.files.values() if found else ():
        for other in index.names.imported(file):
            importers.setdefault(other, []).append(file)
    waiting = list(found)
    while waiting:
        stopping = waiting.pop()
        for file in importers.get(stopping, ()):
            if file.path not in found and _surely_loads(index, file, stopping):
                found[file.path] = found[stopping]
                waiting.append(file.path)
    return found


def _absent(index: Index, file: FileFacts) -> str:
    """The first import that surely runs when the file does and names a module which is the project's and is not in it."""
    entries = [one for one in file.imports if _may_be_absent(index, file, one)]
    if not entries or is_notebook(file.path) or file.body.source.holds(_WIDER):
        return ""
    sure = _that_run(index, file)
    gone = (one for one in entries if one.line in sure and not _is_required(index, one))
    return next((f"{file.path}:{one.line} imports {_written(one)}, which is not here" for one in gone), "")


def _written(entry: Import) -> str:
    return "." * entry.level + entry.module


def _hidden(index: Index, file: FileFacts) -> str:
    """The first import that surely runs of a package which a file beside it hides, train/gan/train.py of train.gan.nets: a
    script is started with its own folder before all others, unless it is started as a module.
    """
    folder = file.path.rpartition("/")[0]
    beside = {one.module.partition(".")[0] for one in file.imports if "." in one.module and not one.level}
    heads = {head for head in beside if folder and f"{folder}/{head}.py" in index.files}
    if not heads or is_notebook(file.path) or file.body.source.holds(_WIDER):
        return ""
    module = re.compile(rf"-m\s+{re.escape(file.path.removesuffix('.py').replace('/', '.'))}\b")
    texts = (path for path in index.repository.files if path.endswith((".md", ".rst", ".txt", ".sh", ".bash")))
    if any(module.search(index.repository.read(path) or "") for path in texts) or _is_imported(index, file):
        return ""
    sure = _that_run(index, file)
    hidden = (one for one in file.imports if one.line in sure and one.module.partition(".")[0] in heads)
    first = next((one for one in hidden if not one.level and "." in one.module), None)
    head = first.module.partition(".")[0] if first is not None else ""
    return f"{file.path}:{first.line} imports {first.module}, which {head}.py beside it hides" if first else ""


def _is_imported(index: Index, file: FileFacts) -> bool:
    return any(file.path in index.names.imported(one) for one in index.files.values() if one is not file)


def _that_run(index: Index, file: FileFacts) -> frozenset[int]:
    known = compiled(index.repository.read(file.path) or "")
    return known.imported if known is not None else frozenset()


def _surely_loads(index: Index, file: FileFacts, path: str) -> bool:
    names, sure = index.names, _that_run(index, file) if not is_notebook(file.path) else frozenset()
    for entry in file.imports:
        if entry.line in sure and not entry.typing:
            module = names.module(file.path, entry.module, entry.level)
            inner = names.member(module, entry.name) if module is not None and entry.name else None
            if path in (getattr(module, "path", ""), inner.path if isinstance(inner, Module) else ""):
                return True
    return False


def _may_be_absent(index: Index, file: FileFacts, entry: Import) -> bool:
    is_name = all(part.isidentifier() for part in entry.module.split("."))  # broken source leaves others, a**b
    if entry.typing or _MADE.search(entry.module) or not is_name:
        return False
    names = index.names
    if names.module(file.path, entry.module, entry.level) is not None:
        return False
    if entry.level:
        beside = PurePosixPath(file.path).parents[entry.level - 1 : entry.level]
        return any(not _lies_in(index.repository.root / folder, entry.module) for folder in beside)
    if names.ending(entry.module):
        return False
    if entry.module.partition(".")[0] not in _OWN and not _is_in_package(index, file, entry.module):
        return False
    return not _is_on_disk(index, file, entry.module)


def _is_in_package(index: Index, file: FileFacts, dotted: str) -> bool:
    """As far as it leads it leads to a package of the project, which has no such module."""
    while "." in dotted:
        dotted = dotted.rpartition(".")[0]
        if (found := index.names.module(file.path, dotted)) is not None:
            return found.path.endswith("__init__.py")
    return False


def _is_on_disk(index: Index, file: FileFacts, dotted: str) -> bool:
    """It is there, and left out: ignored by git, or compiled."""
    folders = [(index.repository.root / file.path).parent]
    while folders[-1] != index.repository.root and len(folders) < MAX_DEPTH:
        folders.append(folders[-1].parent)
    return any(_lies_in(folder, dotted) for folder in folders)


def _lies_in(folder: Path, dotted: str) -> bool:
    stem = dotted.replace(".", "/")
    return any(next(folder.glob(one), None) is not None for one in (stem, f"{stem}.*"))


def _is_required(index: Index, entry: Import) -> bool:
    """A text says that it is to be installed."""
    head = entry.module.partition(".")[0]
    named = re.compile(
        rf"\b{re.escape(head)}\s*[=~<>]=|(?m:^\s*-?\s*{re.escape(head)}\s*$)|install\b[^\n]*\b{re.escape(head)}\b"
    )
    texts = (one for one in index.repository.files if names_packages(one))
    return any(named.search(index.repository.read(one) or "") for one in texts)
