"""Projects side by side below one root, none of which imports another: each is searched by itself.

A method that is called by its name may be that of any class of a project. Below a folder of hundreds of projects such
a search takes several times as long as one of each, and what it finds is that they have names in common.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from trainsleuth.repository import SOURCE_SUFFIXES, Repository

MANY = 3000  # files of code: a root with no more is one project, which may have parts that only settings name
FEW = 500  # files of code: projects are put together until they have as many
MAIN = 0.9  # share of the code in one folder from which the projects are looked for in there
MAX_IMPORTS = 2_000_000  # lines
_IMPORT = r"""^\s*"?(?:from|import)\s+[A-Za-z_][\w.]*"""
_IMPORTED = re.compile(r"(?:from|import)\s+([\w.]+)")
_LEARNING = frozenset([
    "accelerate", "fastai", "flax", "ignite", "jax", "keras", "lightning", "mxnet", "paddle", "pytorch_lightning",
    "tensorflow", "torch", "transformers",
])  # fmt: skip
_NEVER_OWN = _LEARNING.union(sys.stdlib_module_names)


def is_large(repository: Repository) -> bool:
    """It may hold several projects."""
    return len(repository.sources()) > MANY


def projects(repository: Repository) -> tuple[Repository, ...]:
    """The repository itself, or parts of it that have no file in common and together all of its code."""
    if not is_large(repository):
        return (repository,)
    sources = repository.sources()
    base = _base(sources)
    if f"{base}__init__.py" in sources:
        return (repository,)
    units: dict[str, list[str]] = defaultdict(list)
    for path in sources:
        units[_unit(path, base)].append(path)
    groups = _groups(units, {repository.root.name, *base.split("/")}, _imports(repository, base))
    if len(groups) == 1:
        return (repository,)
    place = {unit: number for number, group in enumerate(groups) for unit in group}
    files: list[list[str]] = [[] for _ in groups]
    largest = max(range(len(groups)), key=lambda number: sum(len(units[unit]) for unit in groups[number]))
    for path in repository.files:
        files[place.get(_unit(path, base), largest)].append(path)
    return tuple(one for part in map(repository.part, files) for one in projects(part))


def _base(sources: Collection[str]) -> str:
    """The folder that the projects lie in, with a slash; "" is the root."""
    base = ""
    while True:
        first, number = Counter(_unit(path, base) for path in sources).most_common(1)[0]
        if not first or number < MAIN * len(sources) or f"{first}/__init__.py" in sources:
            return base
        base = f"{first}/"


def _unit(path: str, base: str) -> str:
    """The folder in `base` that `path` lies in; "" of what lies beside those."""
    if not path.startswith(base):
        return ""
    folder, slash, _ = path[len(base) :].partition("/")
    return base + folder if slash else ""


def _imports(repository: Repository, base: str) -> Mapping[str, set[str]]:
    """By unit, the dotted names that its files import."""
    found: dict[str, set[str]] = defaultdict(set)
    for hit in repository.search(_IMPORT, [f"*{one}" for one in SOURCE_SUFFIXES], MAX_IMPORTS):
        if named := _IMPORTED.search(hit.text):
            found[_unit(hit.path, base)].add(named[1])
    return found


def _groups(units: Mapping[str, list[str]], above: Collection[str], imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Units that belong together, by what they import; those without any library of learning are with the largest."""
    leader = {unit: unit for unit in units}

    def led(unit: str) -> str:
        while leader[unit] != unit:
            unit = leader[unit]
        return unit

    for unit, other in _links(units, above, imports):
        leader[led(unit)] = led(other)
    together: dict[str, list[str]] = defaultdict(list)
    for unit in units:
        together[led(unit)].append(unit)
    groups = [sorted(group) for group in together.values()]
    size = {group[0]: sum(len(units[unit]) for unit in group) for group in groups}
    learns = [
        group for group in groups
        if any(name.partition(".")[0] in _LEARNING for unit in group for name in imports.get(unit, ()))
    ]  # fmt: skip
    if not learns:
        return [sorted(units)]
    largest = max(learns, key=lambda group: size[group[0]])
    largest += [unit for group in groups if group not in learns for unit in group]
    packed: list[list[str]] = []
    room = 0
    for group in sorted(learns):
        if size[group[0]] > room:
            packed.append([])
            room = FEW
        packed[-1] += group
        room -= size[group[0]]
    return packed


def _links(
    units: Mapping[str, list[str]], above: Collection[str], imports: Mapping[str, set[str]]
) -> Iterator[tuple[str, str]]:
    """Pairs of units of which the first imports from the second. `above`: folders that a dotted name may begin with."""
    own = {unit: _names(paths, unit) for unit, paths in units.items()}
    named = {unit.rpartition("/")[2]: unit for unit in units if unit}
    inside: dict[str, set[str]] = defaultdict(set)  # what a path that is searched for modules may offer
    for unit, paths in units.items():
        for path in paths:
            inside[path[len(unit) :].lstrip("/").partition("/")[0].removesuffix(".py")].add(unit)
    for unit, dotted in imports.items():
        for name in dotted:
            parts = name.split(".")
            while len(parts) > 1 and parts[0] in above:
                del parts[0]
            head = parts[0]
            if head in own.get(unit, ()) or head in _NEVER_OWN:
                continue
            if head in own.get("", ()):
                yield unit, ""
            if head in named:
                yield unit, named[head]
            elif len(inside.get(head, ())) == 1:
                yield unit, next(iter(inside[head]))


def _names(paths: Iterable[str], unit: str) -> frozenset[str]:
    """Of every folder and file below a unit; of the files beside all units their own names."""
    parts = (path[len(unit) :].lstrip("/") for path in paths)
    return frozenset(one.removesuffix(".py") for path in parts for one in path.split("/"))
