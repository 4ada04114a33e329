"""Where the composition of a Hydra program starts: its main's decorator, what the command says, and the recipe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index
from trainsleuth.repository import is_under

from ..calling.reach import Reach
from ..launching.command_words import options, words_behind
from ..launching.launch import Command
from ..naming.only_values import only_value
from .composition import HELD, Composed, Entry, Found, Part, composed, config_file, entries_of, normal
from .config_store import stored
from .constants import constant_text
from .hydra_composing import composing
from .hydra_folder import folder_meant

_GIVEN = re.compile(r"^(?P<sign>\+{0,2}|~)(?P<group>[\w./-]+)(?:@(?P<package>[\w.:]+))?(?:=(?P<option>.*))?$")
_FLAGS = {"-cn": "--config-name", "-cp": "--config-path", "-cd": "--config-dir"}
_SEARCHED = re.compile(r"pkg://(?P<module>[\w./-]+)|file://(?P<folder>[\w./-]+)")
_MAKES = re.compile(r"^(?:make|get|build|create)_\w*(?:config|cfg)$")
_MAINS = re.compile(r"^(?:hydra\.main|hydra_main)$")


class _Start(NamedTuple):
    """The first folder of those in which groups are looked for is that of `primary`."""

    found: Found
    primary: str


def of_main(index: Index, reached: Reach, command: Command | None, recipe: str | None) -> tuple[Part, ...]:
    """The parts of the configuration that a main composes; none without one, or for a recipe outside its folder."""
    one = _of_main(index, reached, command, recipe)
    return one.parts if one is not None else ()


def not_found(index: Index, reached: Reach, command: Command | None, recipe: str | None) -> tuple[tuple[str, str], ...]:
    """What the same names and nobody has: (file that names it, group and option)."""
    one = _of_main(index, reached, command, recipe)
    return one.lost if one is not None else ()


def _of_main(index: Index, reached: Reach, command: Command | None, recipe: str | None) -> Composed | None:
    words = words_behind(command.text) if command is not None else []
    start = _start(index, reached, words, recipe)
    if start is None or (recipe is not None and not is_under(recipe, start.found.roots[0])):
        return None
    chosen, added = _choices(index, start.found, words)
    if recipe is not None and recipe != start.primary:
        key, entry = _as_choice(index, start, recipe)
        chosen[key] = (entry.option,)
        added += [] if key in composed(index, start.found, start.primary, {}).groups else [entry]
    return composed(index, start.found, start.primary, chosen, added)


def own_root(index: Index, reached: Reach) -> tuple[str, ...]:
    """The folders that the decorator of a main names, the first main's alone."""
    return tuple(root for _, root, _ in _mains(index, reached))[:1]


def removed_by(command: Command | None) -> tuple[str, ...]:
    """Keys that a command takes out of the configuration: ~trainer.logger"""
    words = words_behind(command.text) if command is not None else []
    return tuple(match["group"] for word in words if (match := _GIVEN.match(word)) and match["sign"] == "~")


def _start(index: Index, reached: Reach, words: Sequence[str], recipe: str | None) -> _Start | None:
    flags = dict(_flags(words))
    name, folder, more = (flags.get(f"--config-{what}", "") for what in ("name", "path", "dir"))
    for function, root, said in (*_mains(index, reached), *composing(index, reached, words)):
        if root in index.configs:  # older hydra: the path names the file itself
            root, said = str(PurePosixPath(root).parent), PurePosixPath(root).name
        here = str(PurePosixPath(function.path).parent)
        given = [normal(f"{base}/{folder}") for base in (here, ".")] if folder else [root]
        given.append(normal(more)) if more else None
        for first in given:
            is_whole = recipe is not None and str(PurePosixPath(recipe).parent) == first
            primary = recipe if is_whole else config_file(index, first, name or said)
            if primary is not None:
                roots = dict.fromkeys((first, *given, *_searched(index, primary)))
                return _Start(Found(tuple(roots), stored(index, function.path)), primary)
        kept = stored(index, function.path)
        if recipe is None and (name or said) in kept:
            return _Start(Found(tuple(given), kept), kept[name or said].path)
    return _in_python(index, words) if recipe is None else None


def _in_python(index: Index, words: Sequence[str]) -> _Start | None:
    """What a function makes whose file the command names, when it has a defaults list: --config=configs/base.py"""
    for word in words:
        path = word.rpartition("=")[2].removeprefix("./")
        for name in index.files[path].functions if path in index.files else ():
            primary = f"{path}{HELD}{name}"
            if _MAKES.match(name) and any(True for _ in entries_of(index.configs[primary])):
                return _Start(Found((str(PurePosixPath(path).parent),), stored(index, path)), primary)
    return None


def _searched(index: Index, primary: str) -> Iterator[str]:
    """Folders that the primary file or a plugin of the repository adds: hydra.searchpath, search_path.append(...)."""
    said = [one.value for name, one in index.configs[primary].items() if name.startswith("hydra.searchpath")]
    plugged = (site.call.keyword("path") for site in index.calls("append", "prepend"))
    said += [one.text for one in plugged if one is not None and one.kind == "string"]
    folders = {str(PurePosixPath(path).parent) for path in index.configs}
    above = {str(one) for folder in folders for one in (PurePosixPath(folder), *PurePosixPath(folder).parents)}
    for found in filter(None, map(_SEARCHED.fullmatch, said)):
        tail = normal(found["module"].replace(".", "/") if found["module"] else found["folder"])
        yield from sorted(one for one in above if f"/{one}".endswith(f"/{tail}"))


def _mains(index: Index, reached: Reach) -> Iterator[tuple[Function, str, str]]:
    """(function, configuration folder, name of the file) of the first hydra-like main of the started files."""
    paths = dict.fromkeys(root.path for root in reached.roots)
    for path in (*paths, *sorted(reached.files - paths.keys())):
        for function in index.files[path].functions.values():
            for decorator in function.decorators:
                folder, name = (_keyword(index, path, decorator, f"config_{what}") for what in ("path", "name"))
                if decorator.kind != "call" or not (folder or name or _MAINS.match(decorator.callee or "")):
                    continue
                said = constant_text(index, index.files[path].body, name) if name is not None else ""
                yield function, folder_meant(index, function, folder, said or "config"), said or "config"
                return


def _keyword(index: Index, path: str, decorator: Expr, name: str) -> Expr | None:
    """Given outright, or by a table of the module: @hydra.main(**PARAMETERS)"""
    if (given := decorator.keyword(name)) is not None:
        return given
    for part in decorator.parts[1:] if decorator.kind == "call" else ():
        table = only_value(index.files[path].body, part.parts[0].text) if part.kind == "doublestar" else None
        for pair in table.parts if table is not None and table.kind == "dict" else ():
            if pair.kind == "pair" and pair.parts[0].text == name:
                return pair.parts[-1]
    return None


def _flags(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name, value in options(words):
        flag = _FLAGS.get(name, name)
        if flag in _FLAGS.values():
            yield flag, value


def _choices(index: Index, found: Found, words: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], list[Entry]]:
    """Options of groups that the command exchanges, and what it adds: model=large, callbacks=[early_stop,progress]."""
    chosen: dict[str, tuple[str, ...]] = {}
    added: list[Entry] = []
    for match in filter(None, map(_GIVEN.match, words)):
        group, package, option = match["group"], match["package"], match["option"]
        folders = tuple(normal(f"{root}/{group}") + "/" for root in found.roots)
        if not any(one.startswith(folders) for one in index.configs) and not any(
            one.startswith(f"{group}/") for one in found.stored
        ):
            continue
        package = package.rpartition(":")[2] if package is not None else None
        key = group if package in (None, group.replace("/", ".")) else f"{group}@{package or '_global_'}"
        options = tuple(one.strip() for one in (option or "").strip("[]").split(","))
        if match["sign"] == "+" and option is not None:
            added += [Entry(group, one, package) for one in options]
        elif option is not None or match["sign"] == "~":
            chosen[key] = () if match["sign"] == "~" else options
    return chosen, added


def _as_choice(index: Index, start: _Start, recipe: str) -> tuple[str, Entry]:
    """The group of which a recipe is an option: the longest that the composition names, else its folder."""
    inside = PurePosixPath(recipe).relative_to(start.found.roots[0]).with_suffix("")
    known = composed(index, start.found, start.primary, {}).groups
    folders = [str(one) for one in inside.parents if str(one) != "."]
    group = next((one for one in folders if one in known), folders[0])
    return group, Entry(group, str(inside.relative_to(group)))
