"""Programs for the checks, by check: FAILS must be found, SILENT must not."""

from __future__ import annotations

from collections.abc import Mapping


def mutants(table: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, str], dict[str, str]]:
    """Broken programs and their healthy originals, from (healthy source, text, what takes its place, text, ...)."""
    broken, healthy = {}, {}
    for name, (source, *changes) in table.items():
        wrong = source
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert wrong.count(old) == 1, f"{name}: {old!r} stands {wrong.count(old)} times in the original"
            wrong = wrong.replace(old, new)
        broken[name], healthy[f"original of {name}"] = wrong, source
    return broken, healthy
