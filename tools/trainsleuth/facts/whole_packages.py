"""Packages whose root is the repository itself: `from team.engine import train` in a checkout that has engine.py at its top."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from .records import FileFacts, Import
from .scopes import own_names

_LEAST = 3  # imports under one name that this repository has an answer to
_MODULES = 2  # modules that they name
_AGREE = 4  # answers for each that it has none to


def whole_packages(
    files: Mapping[str, FileFacts], heads: Collection[str], installed: Collection[str]
) -> frozenset[str]:
    """Names under which the project imports itself though none of its folders has them: a package cut out with its root.

    Another library may have a module of the same name (timm.models.layers), so what is imported from it must be defined.
    """
    asked: dict[str, set[tuple[str, str]]] = {}
    for entry in _absolute(files):
        head, _, rest = entry.module.partition(".")
        if head not in heads and head not in installed:
            asked.setdefault(head, set()).add((rest, entry.name))
    return frozenset(head for head, wanted in asked.items() if _answered(files, wanted))


def _absolute(files: Mapping[str, FileFacts]) -> Iterator[Import]:
    return (entry for file in files.values() for entry in file.imports if not entry.level)


def _answered(files: Mapping[str, FileFacts], wanted: Iterable[tuple[str, str]]) -> bool:
    named = [one for one in wanted if any(one)]
    found = [module for module in (_defining(files, module, name) for module, name in named) if module is not None]
    missing = len(named) - len(found)
    return len(found) >= _LEAST and len(set(found)) >= _MODULES and len(found) >= _AGREE * missing


def _defining(files: Mapping[str, FileFacts], module: str, name: str) -> str | None:
    """The file at the root that an import means: that of the module where it defines the name, or that of the name."""
    stem = module.replace(".", "/")
    for path in (f"{stem}.py", f"{stem}/__init__.py") if stem else ():
        if path in files and (name in ("", "*") or _defines(files[path], name)):
            return path
    inner = f"{stem}/{name}" if stem else name
    return next((path for path in (f"{inner}.py", f"{inner}/__init__.py") if name and path in files), None)


def _defines(file: FileFacts, name: str) -> bool:
    return name in own_names(file.body) or any(name == entry.alias for entry in file.imports)
