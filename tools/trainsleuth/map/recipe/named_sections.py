"""Sections beside each other of which a setting names one: model_name=small beside models.small.class, models.large.class."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from trainsleuth.facts import Class, Index


def passed_over(settings: Sequence[tuple[str, str]], class_keys: Collection[str]) -> tuple[str, ...]:
    """How keys of the sections begin that are not named: "models.large."; nothing where none of them is.

    Such sections say each what class they are of, by one of `class_keys`.
    """
    groups: dict[str, set[str]] = {}
    for key, _ in settings:
        section, _, last = key.rpartition(".")
        parent, _, name = section.rpartition(".")
        if parent and last in class_keys:
            groups.setdefault(parent, set()).add(name)
    found: list[str] = []
    for parent, names in groups.items():
        named = names & {value for key, value in settings if len(names) > 1 and _asks(key, parent)}
        found += [f"{parent}.{name}." for name in sorted(names - named) if len(named) == 1]
    return tuple(found)


def _asks(key: str, parent: str) -> bool:
    """model or model_name, of models."""
    kind = parent.rpartition(".")[2].removesuffix("s")
    return key.rpartition(".")[2] in (kind, f"{kind}_name", f"{kind}_type")


def unnamed(index: Index, classes: Mapping[str, Class], values: Iterable[str]) -> dict[str, Class]:
    """Of sections at the top that each name a class, those that are passed over: train.type=kvsall beside
    kvsall.class_name and sampling.class_name. Only among classes below one of the project; nothing where none is named.
    """
    named = classes.keys() & set(values)
    below: dict[Class, set[str]] = {}
    for section, cls in classes.items():
        for base in index.lineage(cls)[1:]:
            below.setdefault(base, set()).add(section)
    nearest: dict[str, set[str]] = {}
    for beside in below.values():
        for section in beside:
            known = nearest.get(section)
            nearest[section] = beside if known is None or 1 < len(beside) < len(known) or len(known) < 2 else known
    return {
        section: classes[section]
        for section, beside in nearest.items()
        if section not in named and len(beside & named) == 1
    }
