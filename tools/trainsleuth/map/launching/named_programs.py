"""Programs that a recipe names by a class in them, where a launcher starts their file: recipe: FinetuneRecipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from trainsleuth.facts import Class, Index
from trainsleuth.repository import is_python

from ..programs.running import has_guard
from ..programs.sidelines import NEVER
from ..recipe.choices import dotted
from ..recipe.composition import Part
from ..recipe.config_files import named_in
from ..recipe.recipes import CLASS_KEYS, Setting, settings
from .launch import Command, folder_of

_NAME = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w{3,}")


class Named(NamedTuple):
    """`setting` holds the name of `cls`, whose file is a program."""

    setting: Setting
    cls: Class


def named_program(index: Index, given: Sequence[Setting]) -> Named | None:
    """The only program of which a value at the top of the recipe names a class; the class of the recipe as a whole, where
    it says one, and no other.
    """
    on_top = [one for one in given if _is_on_top(one.key) and _NAME.fullmatch(one.value)]
    whole = [one for one in on_top if one.key in CLASS_KEYS and isinstance(dotted(index, one.value), Class)]
    found = list(_named(index, whole or on_top))
    return found[0] if len({one.cls.path for one in found}) == 1 else None


def documented(index: Index, started: Iterable[Command]) -> Command | None:
    """The first command of a document whose own settings name a program, other than the file that it starts."""
    shown = (
        one for one in started if one.target and one.text and one.path.endswith(DOCUMENTS) and _NAMES_ONE in one.text
    )
    for one in islice(shown, MAX_SHOWN):
        for path in named_in(index, one.text, folder_of(one)):
            if is_python(path):
                continue
            named = named_program(index, tuple(settings(index, [Part(path)])))
            if named is not None and named.cls.path != one.target:
                return one
    return None


DOCUMENTS = (".md", ".rst")
MAX_SHOWN = 12
_NAMES_ONE = "conf"  # --config-name, -f configs/a.yaml


def _is_on_top(key: str) -> bool:
    """A key of its own, or of a section that only says its class: recipe, recipe._target_."""
    section, _, last = key.rpartition(".")
    return not section or ("." not in section and last in CLASS_KEYS)


def _named(index: Index, given: Sequence[Setting]) -> Iterator[Named]:
    called = {one.value for one in given if "." not in one.value}
    by_name: dict[str, list[Class]] = {}
    for cls in index.classes() if called else ():
        if cls.name in called and not NEVER.search(cls.path):
            by_name.setdefault(cls.name, []).append(cls)
    for one in given:
        alike = by_name.get(one.value, [])
        named = dotted(index, one.value) if one.value not in called else alike[0] if len(alike) == 1 else None
        if isinstance(named, Class) and has_guard(index, named.path) and _is_made_there(index, named):
            yield Named(one, named)


def _is_made_there(index: Index, cls: Class) -> bool:
    """Its file makes an object of it: else what stands under its guard is no program, but tries something."""
    return any(site.function.path == cls.path for site in index.calls(cls.name))
