"""Configuration files whose paths code puts together from settings: join(configs, algo, env, env_id + ".yaml")."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from trainsleuth.facts import Function, Index
from trainsleuth.repository import is_under

from ..calling.reach import Reach
from .recipes import Setting

MAX_FOUND = 6  # of more it is not known which are read
LEAST_PARTS = 2  # folders and the name that settings give
_PUT_TOGETHER = re.compile(rb"""(?:["'}]|%s)(?:_?config)?(\.(?:ya?ml|json|toml))["']""")
_PLAIN = re.compile(r"(?=.*[A-Za-z])[\w.+-]{2,}")
_NO_NAMES = frozenset({"true", "false", "none", "null", "cuda", "cpu", "train", "test", "default"})


def templated_files(index: Index, reached: Reach, settings: Iterable[Setting]) -> tuple[str, ...]:
    """Those whose folders and name are values of settings, and those that lie in a folder that is called like the setting;
    in a folder of which the command names one outright, --config=qmix, that alone.
    """
    made = {one: one.source.found(_PUT_TOGETHER) for one in reached.distance if one.source.holds(_PUT_TOGETHER)}
    keys: dict[str, set[str]] = {}
    every = list(settings) if made else []
    for one in every:
        if _PLAIN.fullmatch(one.value) and one.value.lower() not in _NO_NAMES:
            keys.setdefault(one.value, set()).add(one.key.rpartition(".")[2].replace("-", "_"))
    suffixes = tuple({one.decode() for found in made.values() for one in found})
    able = [path for path in index.configs if path.endswith(suffixes)] if keys else []
    outright = list(_named_outright(able, every))
    homes = {os.path.dirname(path) for path in outright}
    told = {path: _told(path, keys) for path in able if os.path.dirname(path) not in homes}
    found = [*_nearest(made, {path: number for path, number in told.items() if number}), *outright]
    return tuple(found) if len(found) <= MAX_FOUND else ()


def _named_outright(paths: Iterable[str], settings: Iterable[Setting]) -> Iterator[str]:
    """The only file of the name that the command gives an option for a configuration, or of one that consists of several of
    its words: GIN-cora.yaml of --backbone GIN --dataset cora.
    """
    by_stem: dict[str, list[str]] = {}
    for path in paths:
        by_stem.setdefault(PurePosixPath(path).stem, []).append(path)
    every = list(settings)
    words = {one.value for one in every if not one.path and _PLAIN.fullmatch(one.value)} - _NO_NAMES
    joined = [found for stem, found in by_stem.items() if _is_joined(stem, words)]
    yield from joined[0] if len(joined) == 1 and len(joined[0]) == 1 else ()
    for one in every:
        found = by_stem.get(one.value, []) if not one.path and _CONFIGURES.search(one.key) else []
        yield from found if len(found) == 1 else ()


def _is_joined(stem: str, words: Iterable[str]) -> bool:
    held = sorted((one for one in words if one in stem), key=len, reverse=True)
    left, used = stem, 0
    for one in held:
        if one in left:
            left, used = left.replace(one, "", 1), used + 1
    return used >= LEAST_PARTS and not left.strip("-_.")


_CONFIGURES = re.compile(r"(?:^|[_-])(?:config|cfg|conf)(?:[_-]?(?:name|file))?$", re.I)


def _told(path: str, keys: Mapping[str, set[str]]) -> int:
    """How many of its last parts settings give; 0 where they do not give enough."""
    pure = PurePosixPath(path)
    names = (*pure.parts[:-1], pure.stem)
    told = next((number for number, name in enumerate(reversed(names)) if name not in keys), len(names))
    if told >= LEAST_PARTS and len(set().union(*(keys[name] for name in names[-told:]))) >= LEAST_PARTS:
        return told
    called = names[-told - 1] if 0 < told < len(names) else ""
    return told if _singular(called) in {_singular(one) for one in keys.get(pure.stem, ())} else 0


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")


def _nearest(makers: Iterable[Function], fits: Mapping[str, int]) -> Iterator[str]:
    """Of several that are called alike the one of which most is told, then that which lies nearest to the code."""
    homes = [os.path.dirname(one.path) for one in makers]
    alike: dict[str, list[str]] = {}
    for path in fits:
        alike.setdefault(path.rpartition("/")[2], []).append(path)
    for paths in alike.values():
        yield max(paths, key=lambda one: (fits[one], max(_shared(one, home) for home in homes), -one.count("/"), one))


def _shared(path: str, home: str) -> int:
    return len(os.path.commonpath((path, home))) + is_under(path, home or ".") if home else 0
