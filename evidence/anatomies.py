"""What a reader must see of a public repository, written by hand: the truth that the map is scored against.

An anatomy (maps/*.yaml) names the repository, the commit, the `scope` and `recipe` to give the map, and for each
component its anchors, "path:line" ("path#cell:line" in a notebook). Where anchors are a mapping, the value is a piece of that line, so that a
wrong commit or a slip is caught (check_places.py). `absent` lists components that the repository does not have; a repository
that trains nothing has `trains: false`; one that trains in another library names it under `framework` and
need only be told so. `first` keeps the scores of the first run for an anatomy that was written before the map had
ever seen the repository; whatever was missed then was looked into afterwards.

The anatomies in maps/ were looked at while the map was built. Those in maps/untouched/ were written blind and
are kept for measuring; those in maps/untouched2/ to maps/untouched21/ are the second to the twenty-first blind half, written
later by readers who never ran the map on their repositories.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from trainsleuth.content import read_plain
from trainsleuth.map import COMPONENTS

EVIDENCE = Path(__file__).resolve().parent
BLIND = ("untouched", *(f"untouched{number}" for number in range(2, 22)))
SETS = {"tuned": EVIDENCE / "maps", **{name: EVIDENCE / "maps" / name for name in BLIND}}
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PLACE = re.compile(r"[^/:][^:]*:[1-9]\d*")
Places = Mapping[str, str]  # "path:line" -> a piece of that line, "" when it is not given


@dataclass(frozen=True)
class Anatomy:
    """One program of one repository. `framework` is "" for torch, else the library that trains instead of it."""

    name: str
    repository: str
    commit: str
    components: Mapping[str, Places]
    scope: str | None = None
    recipe: str | None = None
    framework: str = ""
    trains: bool = True
    absent: tuple[str, ...] = ()
    first: Mapping[str, float] = field(default_factory=dict)


def read_anatomies(folder: Path) -> Iterator[Anatomy]:
    """The anatomies of a folder by name. Raises ValueError for one that is not well-formed."""
    for path in sorted(folder.glob("*.yaml")):
        yield read_anatomy(path)


def read_anatomy(path: Path) -> Anatomy:
    """Raises ValueError that names what is wrong."""
    plain = read_subject(path)
    plain["components"] = {
        name: read_places(anchors, f"{path}: {name}") for name, anchors in plain["components"].items()
    }
    plain["absent"] = tuple(plain.get("absent", ()))
    try:
        anatomy = Anatomy(name=path.stem, **plain)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from None
    names = [*anatomy.components, *anatomy.absent]
    if len(names) != len(set(names)) or not set(names) <= set(COMPONENTS):
        raise ValueError(f"{path}: components and absent must name each of {', '.join(COMPONENTS)} at most once")
    return anatomy


def read_subject(path: Path) -> dict[str, Any]:
    """The file as it is; repository and commit are checked. Raises ValueError."""
    plain = read_plain(path)
    if not isinstance(plain, dict) or str(plain.get("repository")).count("/") != 1:
        raise ValueError(f"{path}: repository must be given as owner/name")
    if not _COMMIT.fullmatch(str(plain.get("commit"))):
        raise ValueError(f"{path}: commit must be the full hash of 40 digits")
    return plain


def read_places(plain: Any, where: str) -> Places:
    """A list or a mapping of places. Raises ValueError for none, or for one that is not path:line."""
    places = plain if isinstance(plain, dict) else dict.fromkeys(plain or (), "")
    wrong = [place for place in places if not _PLACE.fullmatch(str(place))]
    if wrong or not places:
        raise ValueError(f"{where}: places must be path:line, got {', '.join(map(str, wrong)) or 'none'}")
    return {str(place): str(piece) for place, piece in places.items()}


def checkout(repository: str, folders: Iterable[Path]) -> Path | None:
    """Where one of the folders holds a checkout under the repository's name ("nanoGPT")."""
    roots = (folder / repository.rpartition("/")[2] for folder in folders)
    return next((root for root in roots if root.is_dir()), None)


def split_place(place: str) -> tuple[str, int | None, int]:
    """Its path, the cell of a notebook ("a.ipynb#3:12" is the twelfth line of its third cell) and the line."""
    path, _, line = place.rpartition(":")
    path, _, cell = path.partition("#")
    return path, int(cell) if cell else None, int(line)


def _lines(path: Path, cell: int | None) -> Iterator[str]:
    text = path.read_text("utf-8", "replace")
    if cell is None:
        yield from text.split("\n")
    elif cell <= len(cells := json.loads(text)["cells"]):
        yield from "".join(cells[cell - 1]["source"]).split("\n")


def wrong_places(places: Places, root: Path) -> Iterator[str]:
    """Each place that is no line of the checkout, or whose line does not hold its piece."""
    for place, piece in places.items():
        path, cell, line = split_place(place)
        lines = list(_lines(root / path, cell)) if (root / path).is_file() else []
        if line > len(lines):
            yield f"{place} is not there"
        elif piece not in lines[line - 1]:
            yield f"{place} does not hold {piece!r}: {lines[line - 1].strip()!r}"
