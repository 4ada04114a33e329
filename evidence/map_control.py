"""What the score of the map is worth: the same maps with lines drawn at random, without those shown by a word, and to the line.

    python evidence/map_control.py CHECKOUTS [CHECKOUTS ...] [--set SET] [--budget 2000]

CHECKOUTS and SET as in map_score.py. Drawn at random: as many lines for each component, from the same files. Useful is the
share of shown lines that lie near a place of the anatomy; it says what a reader looks at in vain, or the anatomy left out.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from anatomies import SETS, Anatomy, checkout, read_anatomies, split_place
from map_score import NEAR
from trainsleuth.map import Map, map_repository
from trainsleuth.map.drawing.source_text import lines_of
from trainsleuth.map.records import Place
from trainsleuth.repository import Repository, RepositoryError

SEED = 0
Shown = Mapping[str, Sequence[Place]]
COLUMNS = ("map", "random", "whole lines", "within one line", "lines", "useful", "whole", "useful")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--set", choices=SETS, default="tuned")
    parser.add_argument("--budget", type=int, default=2000)
    arguments = parser.parse_args()
    rows = [
        _row(anatomy, root, found)
        for anatomy, root, found in _maps(SETS[arguments.set], arguments.checkouts, arguments.budget)
    ]
    if not rows:
        print("no checkout of any anatomy was found", file=sys.stderr)
        return 2
    print(f"| maps | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}")
    print(f"| {len(rows)} | {' | '.join(f'{sum(column) / len(rows):.2f}' for column in zip(*rows, strict=True))} |")
    return 0


def _maps(folder: Path, checkouts: list[Path], budget: int) -> Iterator[tuple[Anatomy, Path, Map]]:
    for anatomy in read_anatomies(folder):
        root = checkout(anatomy.repository, checkouts)
        if root is not None and not anatomy.framework:
            try:
                yield anatomy, root, map_repository(root, anatomy.scope, anatomy.recipe, budget)
            except RepositoryError as error:
                print(f"{anatomy.name}: {error}", file=sys.stderr)


def _row(anatomy: Anatomy, root: Path, found: Map) -> tuple[float, ...]:
    shown = {name: found.components[name].places for name in anatomy.components}
    whole = {name: [place for place in places if not place.brief] for name, places in shown.items()}
    drawn = {name: list(_drawn(Repository(root), places)) for name, places in shown.items()}
    return (
        _score(anatomy, shown),
        _score(anatomy, drawn),
        _score(anatomy, whole),
        _score(anatomy, shown, near=1),
        sum(map(len, shown.values())),
        _useful(anatomy, shown),
        sum(map(len, whole.values())),
        _useful(anatomy, whole),
    )


def _drawn(repository: Repository, places: Iterable[Place]) -> Iterator[Place]:
    chance = random.Random(SEED)
    for place in places:
        lines = len(lines_of(repository, place.path))
        yield place if place.cell is not None else place._replace(line=chance.randint(1, max(1, lines)))


def _score(anatomy: Anatomy, shown: Shown, near: int = NEAR) -> float:
    """The share of anchors with a line of `shown` within `near`, averaged over the components."""
    shares = [
        sum(any(_is_near(place, anchor, near) for place in shown[name]) for anchor in anchors) / len(anchors)
        for name, anchors in anatomy.components.items()
    ]
    return sum(shares) / len(shares)


def _useful(anatomy: Anatomy, shown: Shown) -> float:
    near = [
        any(_is_near(place, anchor, NEAR) for anchor in anchors)
        for name, anchors in anatomy.components.items()
        for place in shown[name]
    ]
    return sum(near) / max(1, len(near))


def _is_near(place: Place, anchor: str, near: int) -> bool:
    path, cell, line = split_place(anchor)
    return (place.path, place.cell) == (path, cell) and abs(place.line - line) <= near


if __name__ == "__main__":
    sys.exit(main())
