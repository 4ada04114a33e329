"""Files that tell of data and set nothing: a record of each sequence, with its length and its rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .recipes import Setting

LEAST = 4  # records; fewer may be the settings of training, validation and test


def annotation_files(settings: Iterable[Setting]) -> Iterator[str]:
    """Paths of JSON files that hold records alone, all with the same keys, several each."""
    files: dict[str, dict[str, set[str]]] = {}
    for one in settings:
        if one.path.endswith(".json"):
            section, _, key = one.key.partition(".")
            files.setdefault(one.path, {}).setdefault(section, set()).add(key)
    for path, records in files.items():
        first = next(iter(records.values()))
        if len(records) >= LEAST and len(first) > 1 and all(keys == first for keys in records.values()):
            yield path
