"""Packages whose root is the repository or a folder of it under another name: what the project imports itself as.

`from team.engine import train` in a checkout that has engine.py at its top, `from vendor.own.data import Clips` in one
that an installed library loads as vendor.own and that keeps it in a folder kit/.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..reading.scopes import own_names
from ..records import FileFacts, Import

_PACKAGE = "__init__.py"
_LEAST = 3  # imports under one name that this repository has an answer to
_MODULES = 2  # modules that they name
_DEPTH = 3  # of folders that may be a package under another name
_AGREE = 4  # answers for each that it has none to


def own_roots(files: Mapping[str, FileFacts], heads: Collection[str], installed: Collection[str]) -> Mapping[str, str]:
    """Names under which the project imports itself though no path spells them -> the folder that is meant, "" for all.

    Another library may have a module of the same name (timm.models.layers), so what is imported from it must be defined.
    """
    found = dict(_installed_in_place(files, installed))
    packages = sorted({path.partition("/")[0] for path in files if path.count("/") > 1})
    folders = _folders(files)
    for head, wanted in _asked(files, heads, installed).items():
        if _answered(files, "", wanted):
            found[head] = ""
            continue
        asked = {(module or name).partition(".")[0] for module, name in wanted}
        near = [folder for folder, inside in folders.items() if len(inside & asked) >= _MODULES]
        if len(fits := [folder for folder in near if _answered(files, f"{folder}/", wanted)]) == 1:
            found[head] = fits[0]
            continue
        inner: dict[str, set[tuple[str, str]]] = {}
        for module, name in wanted:
            first, _, rest = module.partition(".")
            inner.setdefault(f"{head}.{first}", set()).add((rest, name))
        for prefix, below in inner.items():
            fits = [folder for folder in packages if _is_kept_in(files, f"{folder}/", below)]
            if len(fits) == 1:
                found[prefix] = fits[0]
    return found


def _installed_in_place(files: Mapping[str, FileFacts], installed: Collection[str]) -> Iterator[tuple[str, str]]:
    """A changed copy of a library, which is installed or searched for here: transformers/src/transformers/"""
    for path in files:
        match = _IN_PLACE.fullmatch(path)
        if match is not None and match[2] in installed:
            yield match[2], f"{match[1]}{match[2]}/src/{match[2]}"


_IN_PLACE = re.compile(r"((?:[^/]+/)*)(\w+)/src/\2/__init__\.py")


def _folders(files: Iterable[str]) -> Mapping[str, set[str]]:
    """Folders that are not deep, each with the names of what lies in it."""
    found: dict[str, set[str]] = {}
    for path in sorted(files):
        parts = path.removesuffix(".py").split("/")
        for depth in range(1, min(_DEPTH, len(parts))):
            found.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    return found


def _asked(
    files: Mapping[str, FileFacts], heads: Collection[str], installed: Collection[str]
) -> Mapping[str, set[tuple[str, str]]]:
    """What is imported from outside the project: by package, each module with the name that is taken from it."""
    asked: dict[str, set[tuple[str, str]]] = {}
    for entry in _absolute(files):
        head, _, rest = entry.module.partition(".")
        if head not in heads and head not in installed:
            asked.setdefault(head, set()).add((rest, entry.name))
    return asked


def _absolute(files: Mapping[str, FileFacts]) -> Iterator[Import]:
    return (entry for file in files.values() for entry in file.imports if not entry.level)


def _answered(files: Mapping[str, FileFacts], root: str, wanted: Iterable[tuple[str, str]]) -> bool:
    named = [one for one in wanted if any(one)]
    found = [module for module in (_defining(files, root, *one) for one in named) if module is not None]
    missing = len(named) - len(found)
    if len(found) < _LEAST or len(found) < _AGREE * missing:
        return False
    return len(set(found)) >= _MODULES or (not missing and found[0] == f"{root}{_PACKAGE}")


def _is_kept_in(files: Mapping[str, FileFacts], root: str, wanted: Iterable[tuple[str, str]]) -> bool:
    """Many of its modules are there and define what is asked of them; modules that are not there may be compiled ones."""
    there = [one for one in wanted if one[0] and _is_there(files, root + one[0].replace(".", "/"))]
    is_deep = any("." in module for module, _ in there)
    return is_deep and len({module for module, _ in there}) > _MODULES and _answered(files, root, there)


def _is_there(files: Mapping[str, FileFacts], stem: str) -> bool:
    return f"{stem}.py" in files or f"{stem}/{_PACKAGE}" in files


def _defining(files: Mapping[str, FileFacts], root: str, module: str, name: str) -> str | None:
    """The file below the root that an import means: that of the module where it defines the name, or that of the name."""
    stem = root + module.replace(".", "/")
    for path in (f"{stem}.py", f"{stem}/{_PACKAGE}") if module else (f"{root}{_PACKAGE}",):
        if path in files and (name in ("", "*") or _defines(files[path], name)):
            return path
    inner = f"{stem}/{name}" if module else root + name
    return next((path for path in (f"{inner}.py", f"{inner}/{_PACKAGE}") if name and path in files), None)


def _defines(file: FileFacts, name: str) -> bool:
    return name in own_names(file.body) or any(name == entry.alias for entry in file.imports)
