"""Settings in Python that stand on those of other files: what they import, or take out of a file that they load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from trainsleuth.facts import Expr, FileFacts, Index, Module

from .configuring_calls import configures

_FILES = (".py", ".yaml", ".yml", ".json")


class Taken(NamedTuple):
    """What stands as `name` in the file at `path` is called `here`; "" for all that stands there."""

    path: str
    name: str
    here: str


def taken(index: Index, path: str) -> Iterator[Taken]:
    """from ..models.small import model; optimizer = get_config("common/optim.py").AdamW"""
    file = index.files.get(path)
    for entry in file.imports if file is not None else ():
        module = index.names.module(path, entry.module, entry.level)
        if entry.name and module is not None and module.path in index.configs:
            everything = entry.name == "*"
            yield Taken(module.path, "" if everything else entry.name, "" if everything else entry.alias)
        elif (configured := _that_configures(index, module, entry.name)) is not None:
            yield Taken(configured, "", "")
    for event in file.body.events if file is not None else ():
        if event.kind == "assign" and event.value is not None and (loaded := _loaded(index, event.value.receiver)):
            yield from (Taken(loaded, event.value.last, target.text) for target in event.targets)


def _that_configures(index: Index, module: Module | None, name: str) -> str | None:
    """The imported file hands values to parameters of others by name, wherever it is imported."""
    member = index.names.member(module, name) if module is not None and name else module
    path = member.path if isinstance(member, Module) else ""
    return path if path in index.configs and configures(index.files[path].body) else None


def _loaded(index: Index, call: Expr | None) -> str:
    """The file of settings whose name is the only thing that a call is given, "" for none or for several that fit."""
    given = call.arguments if call is not None and call.kind == "call" else ()
    name = given[0].text if len(given) == 1 and given[0].kind == "string" else ""
    tail = "/" + name.lstrip("./")
    fits = [one for one in index.configs if f"/{one}".endswith(tail)] if PurePosixPath(name).suffix in _FILES else []
    return fits[0] if len(fits) == 1 else ""


def imported_names(path: str, file: FileFacts) -> dict[str, str]:
    """The full dotted name of each imported one."""
    found = {}
    for entry in file.imports:
        above = PurePosixPath(path).parents[entry.level - 1].parts if 0 < entry.level <= path.count("/") + 1 else ()
        found[entry.alias] = ".".join(filter(None, (*above, entry.module, entry.name)))
    return found
