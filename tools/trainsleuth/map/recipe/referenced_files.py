"""Files that a program reads under keys that are their paths: ${vq.default} beside a file vq/default.yaml, set nowhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from trainsleuth.facts import Index

from .composition import Part
from .recipes import Setting, refers_to

_SUFFIXES = (".yaml", ".yml")
MAX_HOPS = 3  # a file that is read so refers to others


def referenced_files(index: Index, parts: Sequence[Part], settings: Sequence[Setting]) -> tuple[Part, ...]:
    """Below the folders of the files that refer to such keys, and only where no file of theirs sets the key."""
    known = {part.path for part in parts}
    set_keys = {prefix for one in settings for prefix in _above(one.key)}
    found: list[Part] = []
    wanted = [(one.path, refers_to(one.value)) for one in settings if "${" in one.value]
    for _ in range(MAX_HOPS):
        fresh = [part for part in _named(index, dict.fromkeys(wanted), set_keys) if part.path not in known]
        known |= {part.path for part in fresh}
        found += dict.fromkeys(fresh)
        wanted = [
            (part.path, refers_to(value.value))
            for part in fresh
            for value in index.configs[part.path].values()
            if "${" in value.value
        ]
    return tuple(found)


def _named(index: Index, wanted: Collection[tuple[str, str]], set_keys: Collection[str]) -> Iterator[Part]:
    for path, key in wanted:
        if "." in key and key not in set_keys:
            for folder in (PurePosixPath(path).parent, *PurePosixPath(path).parent.parents):
                stem = folder / key.replace(".", "/")
                fits = [one for suffix in _SUFFIXES if (one := f"{stem}{suffix}") in index.configs]
                if fits:
                    yield Part(fits[0], key)
                    break


def _above(key: str) -> Iterator[str]:
    """model.lr is set by model.lr.first, too."""
    parts = key.split(".")
    yield from (".".join(parts[:cut]) for cut in range(1, len(parts) + 1))
