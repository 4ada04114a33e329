"""Code that is called as a setting says: --model er means the class Er, or the one in er.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from trainsleuth.facts import Class, Function, Index

NO_NAMES = frozenset({"true", "false", "none", "null", "train", "model", "data", "base", "default", "python", "main", "run", "trainer"})  # fmt: skip
_WORD = re.compile(r"[A-Za-z][\w-]*")
_ROLE = re.compile(r"(?:trainer|model|module|algo|algorithm|agent|policy|learner|runner|method|system|net|network|task|workflow|solver|experiment)$")  # fmt: skip
OWN, FOLDER = 2, 1  # what a name weighs that is the code's own, or that of a folder
SAID, PIECE = 4.0, 2.0  # a word of the command or the recipe's name, and a piece of it, beside one of the settings


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Names in settings and commands as they are compared with those of classes and files."""
    found = (plain(word) for text in texts for word in _WORD.findall(text[:2000]))
    return frozenset(word for word in found if len(word) > 1 and word not in NO_NAMES)


def weighed(words: Iterable[str], recipe: str | None, command: str) -> dict[str, float]:
    """`words` of the settings, and heavier ones of the recipe's path and the command: ppo of configs/ppo_pointnav.yaml."""
    stem = PurePosixPath(recipe).stem if recipe is not None and not command else ""
    pieces = words_of(re.split(r"[\W_]+", stem))
    said = words_of([command, stem])
    return {**dict.fromkeys(words, 1.0), **dict.fromkeys(pieces, PIECE), **dict.fromkeys(said, SAID)}


def plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def is_named(cls: Class, words: Collection[str]) -> bool:
    """A setting holds the name of the class, with or without its role, its label, or the name of its file."""
    return bool(words) and any(one in words for one in (*_names(cls), plain(PurePosixPath(cls.path).stem)))


def _names(cls: Class) -> Iterator[str]:
    """PPOTrainer: ppotrainer, ppo; and what a decorator says: @register("ppo-v2")."""
    name = plain(cls.name)
    yield name
    yield _ROLE.sub("", name)
    yield from map(plain, marks(cls))


def marks(code: Class | Function) -> Iterator[str]:
    """What decorators are given besides: ppo of @register("ppo")."""
    for decorator in code.decorators:
        for part in decorator.parts[1:]:
            given = part.parts[0] if part.kind == "keyword" else part
            if given.kind == "string":
                yield given.text


def named_by(index: Index, function: Function, words: Mapping[str, float]) -> float:
    """How much the names of a function, its class and those below, its file and folders have of `words`, by their weights."""
    owner = index.class_of(function)
    path = PurePosixPath(function.path)
    own = {plain(function.name), plain(path.stem)}
    for cls in (owner, *index.subclasses(owner)) if owner is not None else ():
        own.update(_names(cls))
    folders = {plain(part) for part in path.parent.parts} - own
    return OWN * sum(words.get(one, 0) for one in own) + FOLDER * sum(words.get(one, 0) for one in folders)


def best_named(index: Index, functions: Iterable[Function], words: Mapping[str, float]) -> list[Function]:
    """Those that the words name best; all where they name none."""
    rank = {one: named_by(index, one, words) for one in functions}
    most = max(rank.values(), default=0)
    return [one for one, named in rank.items() if named == most]
