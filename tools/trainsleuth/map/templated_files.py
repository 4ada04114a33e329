"""Configuration files whose paths code puts together from settings: join(configs, algo, env, env_id + ".yaml")."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from trainsleuth.facts import Function, Index
from trainsleuth.repository import is_under

from .reach import Reach
from .recipes import Setting

MAX_FOUND = 6  # of more it is not known which are read
LEAST_PARTS = 2  # folders and the name that settings give
_PUT_TOGETHER = re.compile(rb"""["'}](?:_?config)?(\.(?:ya?ml|json|toml))["']""")
_PLAIN = re.compile(r"(?=.*[A-Za-z])[\w.+-]{2,}")
_NO_NAMES = frozenset({"true", "false", "none", "null", "cuda", "cpu", "train", "test", "default"})


def templated_files(index: Index, reached: Reach, settings: Iterable[Setting]) -> tuple[str, ...]:
    """Those whose folders and name are values of settings, and those that lie in a folder that is called like the setting."""
    made = {one: one.source.found(_PUT_TOGETHER) for one in reached.distance if one.source.holds(_PUT_TOGETHER)}
    keys: dict[str, set[str]] = {}
    for one in settings if made else ():
        if _PLAIN.fullmatch(one.value) and one.value.lower() not in _NO_NAMES:
            keys.setdefault(one.value, set()).add(one.key.rpartition(".")[2].replace("-", "_"))
    suffixes = tuple({one.decode() for found in made.values() for one in found})
    told = {path: _told(path, keys) for path in index.configs if path.endswith(suffixes)} if keys else {}
    found = list(_nearest(made, {path: number for path, number in told.items() if number}))
    return tuple(found) if len(found) <= MAX_FOUND else ()


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
