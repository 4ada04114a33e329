"""Sections beside each other of which a setting names one: model_name=small beside models.small.class, models.large.class."""

from __future__ import annotations

from collections.abc import Collection, Sequence


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
