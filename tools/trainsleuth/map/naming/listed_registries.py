"""Registries that are files: registry.yaml with models: [{name: dpo, path: kit.models.dpo.Model}, ...]"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Class, Index
from trainsleuth.facts.memo import kept_per_index

from ..recipe.choices import dotted
from ..recipe.recipes import Choice, Setting

_FILE = re.compile(r"(?:^|/)[^/]*(?:registry|registries|catalog|zoo)[^/]*\.(?:ya?ml|json|toml)$", re.I)
_ENTRY = re.compile(
    r"(?:(?P<kind>[\w.-]+)\.)?(?P<number>\d+)\.(?P<what>name|id|path|class|target|_target_|entry_point)"
)
_NAMES = ("name", "id")


class _Listed(NamedTuple):
    kind: str  # "model", of a list called models; "" at the top of the file
    cls: Class


def listed_in_files(index: Index, given: Iterable[Setting]) -> Iterator[Choice]:
    """What settings in force choose by the name of an entry: model.name: dpo."""
    entries = _entries(index)
    for setting in {one.key: one for one in given}.values() if entries else ():
        for one in entries.get(setting.value.strip("'\""), ()):
            if not one.kind or any(_is_of(word, one.kind) for word in setting.key.split(".")[-2:]):
                yield Choice(setting.path, setting.line, setting.key, setting.value, one.cls)


def _is_of(word: str, kind: str) -> bool:
    """model of a list called models, and policy_model."""
    return word == kind or word.endswith(f"_{kind}")


@kept_per_index
def _entries(index: Index) -> Mapping[str, list[_Listed]]:
    found: dict[str, list[_Listed]] = {}
    for path in index.configs:
        if _FILE.search(path) is None:
            continue
        told: dict[tuple[str, str], dict[str, str]] = {}
        for key, value in index.configs[path].items():
            if (match := _ENTRY.fullmatch(key)) is not None:
                told.setdefault((match["kind"] or "", match["number"]), {})[match["what"]] = value.value
        for (kind, _), entry in told.items():
            name = next((entry[one] for one in _NAMES if one in entry), "")
            classes = (dotted(index, text) for what, text in entry.items() if what not in _NAMES and "." in text)
            for cls in classes:
                if name and isinstance(cls, Class):
                    found.setdefault(name, []).append(_Listed(kind.rpartition(".")[2].removesuffix("s"), cls))
    return found
