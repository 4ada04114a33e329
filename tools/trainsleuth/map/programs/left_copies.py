"""Packages that nothing outside of them imports: an older copy that was left beside the one in use."""

from __future__ import annotations

from collections.abc import Iterable

from trainsleuth.facts import Function, Index


def in_use(index: Index, copies: Iterable[Function]) -> list[Function]:
    """Of functions that are the same thing in several places, those in packages that other code imports; all if none."""
    found = list(copies)
    folders = {one.path.rpartition("/")[0] for one in found}
    if len(folders) < 2:
        return found
    used = {folder for folder in folders if not folder or _is_imported(index, folder)}
    return [one for one in found if one.path.rpartition("/")[0] in used] or found


def _is_imported(index: Index, folder: str) -> bool:
    inside = f"{folder}/"
    return any(
        imported.startswith(inside)
        for path, file in index.files.items()
        if not path.startswith(inside)
        for imported in index.names.imported(file)
    )
