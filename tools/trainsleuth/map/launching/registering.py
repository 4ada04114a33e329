"""The file in which a library's own training program finds what it trains, where the command names no package to load.

Such code is copied into a checkout of the library: python fairseq/fairseq_cli/hydra_train.py --config-name own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from trainsleuth.facts import Class, External, Index
from trainsleuth.facts.memo import kept_per_index

from .launch_targets import script_of

_PROGRAM = re.compile(r"[\w./${}-]*train(?:_model)?(?:\.py)?")
_ROLES = ("task", "recipe", "trainer", "runner", "model")  # what leads to the rest, first


def registered_in(index: Index, cls: Class) -> Iterator[tuple[str, str]]:
    """The libraries in whose registries a class is put, with the registry: ("fairseq", "register_task")."""
    for decorator in cls.decorators:
        if decorator.last.startswith("register"):
            meant = index.resolve(index.files[cls.path].body, decorator.callee or decorator.text)
            if isinstance(meant, External):
                yield meant.name.partition(".")[0], decorator.last


def registering_file(index: Index, folder: str, text: str) -> str | None:
    """Of the classes put into registries of the library whose program is started: the task's file, else the model's."""
    words = (word for word in text.split() if "train" in word and _PROGRAM.fullmatch(word))
    program = next(words, None)
    named = {part for part in re.split(r"[/.-]|_(?!\w*\.py)", program or "") if part}
    if program is None or named.isdisjoint(_packages(index)) or script_of(index, folder, program) is not None:
        return None
    found = Counter((role, path) for library, role, path in _registered(index) if library in named)
    return min(found, key=lambda one: (one[0], -found[one], one[1]))[1] if found else None


@kept_per_index
def _packages(index: Index) -> frozenset[str]:
    """Top packages of others that the code imports from."""
    own = {path.partition("/")[0].removesuffix(".py") for path in index.files}
    return frozenset(one.module.partition(".")[0] for file in index.files.values() for one in file.imports) - own


@kept_per_index
def _registered(index: Index) -> list[tuple[str, int, str]]:
    """Library, place of the role among those that lead to the rest, and file, of every class in a library's registry."""
    return [
        (library, role, cls.path)
        for file in index.files.values()
        for cls in file.classes.values()
        for library, registry in registered_in(index, cls)
        if (role := next((at for at, one in enumerate(_ROLES) if one in registry), None)) is not None
    ]
