"""How Hydra composes a configuration: which files, in which order, and under which key ("package") each one stands.

A file's defaults list names others before it (behind it, where `_self_` comes first); later ones win. Groups and
packages are relative to the file that names them. A package comes from `group@package`, else from the `# @package`
line of the file, else it is the path of the group. `override` and the command line exchange the option of a group
wherever it is named; what the command line adds stands last. Before Hydra 1.1 the groups of the primary file override
it, and a file without a package line stands at the top.
What code puts into the ConfigStore counts where no file is called so.
Not followed: options that a resolver works out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from trainsleuth.facts import ConfigValue, Index

from .hydra_version import is_before_new_order

MAX_DEPTH = 12  # from defaults list to defaults list
_ENTRY = re.compile(r"^defaults\.(?P<place>\d+)(?:\.(?P<group>.+?)(?:\.\d+)?)?$")
_HEADER = re.compile(r"^#\s*@package[ \t]+(\S+)", re.M)
_REFERRED = re.compile(r"\$\{([\w/@.]+)\}")
_NONE = ("null", "None", "~")
_NOTHING = (*_NONE, "???", "")
_GLOBAL = "_global_"
HELD = "::"  # between a Python file and the name at its top that holds a table: "nets.py::SMALL"


class Part(NamedTuple):
    """A configuration file and the dotted key under which its values stand; "" at the top.

    `path` may name what a Python file holds, behind HELD. `taken` are the names that count of it, with those that they
    stand under; all of them when it is empty.
    """

    path: str
    package: str = ""
    taken: tuple[tuple[str, str], ...] = ()


def file_of(path: str) -> str:
    """Of a part: the file itself."""
    return path.partition(HELD)[0]


class Stored(NamedTuple):
    """What code puts into the ConfigStore; `path` is that of a `Part`, `package` "" where the call names none."""

    path: str
    package: str


class Entry(NamedTuple):
    """One line of a defaults list; `group` is "" for a file that is named outright, `option` then its path."""

    group: str
    option: str
    package: str | None = None  # as written behind "@"
    is_override: bool = False
    key: str = ""  # under which its file holds it
    is_optional: bool = False


SELF = Entry("", "_self_")


class Found(NamedTuple):
    """Where options are looked for: in folders, then among what is stored, by group and name ("net/small")."""

    roots: Sequence[str]
    stored: Mapping[str, Stored] = MappingProxyType({})


class Composed(NamedTuple):
    """The parts, later ones win; the groups that a choice can exchange; what is named and nobody has, by who names it."""

    parts: tuple[Part, ...]
    groups: frozenset[str]
    lost: tuple[tuple[str, str], ...]


def composed(
    index: Index, found: Found, primary: str, chosen: Mapping[str, tuple[str, ...]], added: Iterable[Entry] = ()
) -> Composed:
    """The configuration of the file `primary`.

    `chosen` has options by group ("model", "model@encoder"), none of a group that is taken out, `added` what the command
    line puts behind the primary defaults list.
    """
    one = _Composition(index, found, dict(chosen))
    parts = tuple(one.backwards(primary, "", "", tuple(added)))
    return Composed(parts[::-1], frozenset(one.met), tuple(dict.fromkeys(one.lost)))


class _Composition:
    """Defaults lists are walked from their ends: an override is known before what it exchanges is met."""

    def __init__(self, index: Index, found: Found, chosen: dict[str, tuple[str, ...]]) -> None:
        self._index = index
        self._roots, self._stored = found
        self._chosen = chosen
        self._is_old = is_before_new_order(index)
        self.met: set[str] = set()  # keys of groups
        self.lost: list[tuple[str, str]] = []

    def backwards(
        self, path: str, group: str, package: str, added: tuple[Entry, ...] = (), depth: int = 0
    ) -> Iterator[Part]:
        """The parts of the file at `path`, which is of `group`, the last first."""
        entries = [*entries_of(self._index.configs[path])]
        self._is_old &= bool(depth) or not any(one is SELF or one.is_override for one in entries)
        if SELF not in entries:
            entries.insert(0 if self._is_old and not depth else len(entries), SELF)
        entries += added
        exchanged: dict[str, tuple[str, ...]] = {}
        for entry in entries:
            if entry.is_override:
                key = _key(entry, group, package)
                exchanged[key] = (*exchanged.get(key, ()), entry.option)
        self._chosen = exchanged | self._chosen
        siblings = {entry.group: entry.option for entry in entries if entry.group}
        for entry in reversed(entries):
            if entry is SELF:
                yield Part(path, package)
            elif not entry.is_override and depth < MAX_DEPTH:
                yield from self._default(path, entry, group, package, siblings, depth)

    def _default(
        self, path: str, entry: Entry, group: str, package: str, siblings: Mapping[str, str], depth: int
    ) -> Iterator[Part]:
        options: tuple[str, ...] = (entry.option,)
        if entry.group:
            key = _key(entry, group, package)
            if key in self._chosen and key in self.met:
                return  # the last line of a list of options stands for all that were exchanged
            self.met.add(key)
            options = self._chosen.get(key, options)
        if options == (entry.option,) and entry.option in _NONE and entry.group:
            yield from self._left_out(path, entry, _path(entry.group, group), package)
        for option in reversed(options):
            yield from self._option(path, entry, self._said(option, siblings), group, package, depth)

    def _left_out(self, path: str, entry: Entry, group: str, package: str) -> Iterator[Part]:
        """A group of which nothing is taken: the line that says so counts as its value, where options have a place."""
        folders = tuple(f"{normal(f'{root}/{group}')}/" for root in self._roots)
        option = next((one for one in self._index.configs if one.startswith(folders)), None)
        if option is not None and package_line(self._index, option) != _GLOBAL:
            place = _within(package, _dotted(entry.group) if entry.package is None else entry.package)
            yield Part(path, taken=((entry.key, place),))

    def _said(self, option: str, siblings: Mapping[str, str]) -> str:
        """The name of an option that is made of those of other groups: ${data}_small"""

        def taken(match: re.Match[str]) -> str:
            chosen = self._chosen.get(match[1], ())
            return chosen[0] if chosen else siblings.get(match[1], match[0])

        return _REFERRED.sub(taken, option)

    def _option(self, named_by: str, entry: Entry, option: str, group: str, package: str, depth: int) -> Iterator[Part]:
        if option in _NOTHING:
            return
        name = f"{entry.group}/{option}" if entry.group else option
        full = _path(name, group)
        path = next(filter(None, (config_file(self._index, root, full) for root in self._roots)), None)
        if path is None and name.startswith("../"):  # above the first folder
            path = config_file(self._index, _folder(named_by), name)
        one = Stored(path, package_line(self._index, path)) if path is not None else self._stored.get(full)
        if one is None and not entry.is_optional:
            self.lost.append((file_of(named_by), full))
        if one is not None:
            inside = _path(entry.group, group) if entry.group else _folder(full)
            own = self._package(entry, one, option, inside)
            yield from self.backwards(one.path, inside, _within(package, own), depth=depth + 1)

    def _package(self, entry: Entry, one: Stored, option: str, group: str) -> str:
        """The package of an option, which is of `group`, within that of the file that names it."""
        own = entry.package
        if own is None and one.package not in ("", "_group_"):
            own = f"{_GLOBAL}.{one.package}"
        if own is None:
            own = _GLOBAL if self._is_old and not one.package else _dotted(entry.group or _folder(entry.option))
        return own.replace("_group_", _dotted(group)).replace("_name_", PurePosixPath(option).stem)


def entries_of(config: Mapping[str, ConfigValue]) -> Iterator[Entry]:
    """The defaults list of a file; one entry for each option of a list of options."""
    for name, found in config.items():
        match = _ENTRY.match(name)
        if match is None or match["group"] == "optional":
            continue
        words = (match["group"] or found.value).split()
        is_override, is_optional = (one in words[:-1] for one in ("override", "optional"))
        written, at, package = (words[-1] if words else "").partition("@")
        if match["group"] is None:
            yield SELF if written == "_self_" else Entry("", written, package if at else None)
        elif not written.startswith(("hydra/", "/hydra/")):
            yield Entry(
                written, found.value, package.rpartition(":")[2] if at else None, is_override, name, is_optional
            )


def package_line(index: Index, path: str) -> str:
    """What the first lines of a file say after `# @package`, "" for nothing."""
    match = _HEADER.search((index.repository.read(path) or "")[:2000])
    return match[1] if match is not None else ""


def config_file(index: Index, folder: str, name: str) -> str | None:
    """The configuration file called `name`, with or without its ending, in `folder`."""
    stem = normal(f"{folder}/{name}")
    return next((path for path in (stem, f"{stem}.yaml", f"{stem}.yml") if path in index.configs), None)


def normal(path: str) -> str:
    """A path without "." and "..", from the root of the repository."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)


def _key(entry: Entry, group: str, package: str) -> str:
    """By what an override names the group of an entry: its path, and its package where that is another."""
    path = _path(entry.group, group)
    own = _within(package, _dotted(entry.group) if entry.package is None else entry.package)
    return path if own == _dotted(path) else f"{path}@{own or _GLOBAL}"


def _path(written: str, group: str) -> str:
    """What a defaults list of a file of `group` means by a path: from that group, or from the top."""
    return normal(written if written.startswith("/") else f"{group}/{written}")


def _within(outer: str, own: str) -> str:
    """The package `own` of a file that is named by one of the package `outer`."""
    full = ".".join(filter(None, (outer, "" if own == "_here_" else own)))
    start = full.rfind(_GLOBAL)
    return full if start < 0 else full[start + len(_GLOBAL) + 1 :]


def _dotted(group: str) -> str:
    return normal(group).replace("/", ".")


def _folder(path: str) -> str:
    folder = str(PurePosixPath(path).parent)
    return "" if folder in (".", "/") else folder
