"""What there is instead, where nothing is called as it was asked for: the names of a file, and files of like names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from .pages import Page

MAX_NAMES = 24  # definitions of a file, or methods of a class
MAX_FILES = 3
CUTOFF = 0.75  # of difflib: chckpoint.py is near to checkpoint.py


def files_like(files: Iterable[str], name: str) -> list[str]:
    """Paths whose last name is spelled nearly so."""
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    near = get_close_matches(name.rpartition("/")[2], by_name, MAX_FILES, CUTOFF)
    return [by_name[one][0] for one in near]


def like(paths: Sequence[str]) -> str:
    return f"; like it: {', '.join(paths)}" if paths else ""


def names_beside(pages: Sequence[Page], asked: str) -> str:
    """Of "Trainer.fitt" the methods of Trainer, where the pages of a file have it, else all that the file defines; the
    nearest first.
    """
    owner = asked.rpartition(".")[0]
    inside = [page for page in pages if owner and page.name.rpartition(".")[0].endswith(owner)]
    named = {page.name: page.line for page in (inside or pages) if page.name}
    if not named:
        return ""
    short = {name.rpartition(".")[2] if inside else name: name for name in named}
    near = get_close_matches(asked.rpartition(".")[2] if inside else asked, short, MAX_FILES, CUTOFF)
    told = [short[one] for one in near] + [name for name in named if name not in {short[one] for one in near}]
    more = f", {len(told) - MAX_NAMES} more" if len(told) > MAX_NAMES else ""
    return ", ".join(f"{name} :{named[name]}" for name in told[:MAX_NAMES]) + more
