"""Score the map against anatomies written by hand (anatomies.py says what they are).

    python evidence/map_score.py CHECKOUTS [CHECKOUTS ...] [--set SET] [--budget 2000] [--misses]

CHECKOUTS are folders that hold a checkout of each repository under its name ("nanoGPT"), at the commit that its
anatomy names. For each component, an anchor counts when the map shows a line within 5 of it in the same file
under that component. line: share of anchors; any: share of components with at least one; loop: share of
anchors of the training loop; each averaged over components, then over repositories. False ones are absent components
that the map claims to have found, a repository that trains nothing and is not told so, and another library than
torch that is not named; where another library trains, nothing else is scored. A map that is refused scores 0.

SET is tuned, untouched, untouched2 to untouched21, or all. The twenty-one named untouched, the blind halves in the order
in which they were written, are for measuring: whoever works on the map does not run them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from anatomies import SETS, Anatomy, checkout, read_anatomies, split_place, wrong_places
from trainsleuth.map import Map, map_repository
from trainsleuth.repository import RepositoryError

NEAR = 5  # lines


class Score(NamedTuple):
    """Shares are None where there is nothing to score: no loop, or another library than torch."""

    name: str
    line: float | None
    any: float | None
    loop: float | None
    false: int
    misses: tuple[str, ...]
    first: Mapping[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--set", choices=[*SETS, "all"], default="tuned")
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--misses", action="store_true", help="print each anchor that is not shown")
    arguments = parser.parse_args()
    complete = True
    for name in SETS if arguments.set == "all" else [arguments.set]:
        scores = list(_scores(SETS[name], arguments.checkouts, arguments.budget))
        complete &= bool(scores)
        print(f"\n{name}\n\n{_table(scores)}")
        if arguments.misses:
            print("\n".join(f"{score.name}: {miss}" for score in scores for miss in score.misses))
    return 0 if complete else 2


def _scores(folder: Path, checkouts: list[Path], budget: int) -> Iterator[Score]:
    for anatomy in read_anatomies(folder):
        root = checkout(anatomy.repository, checkouts)
        if root is None:
            print(f"{anatomy.name}: no checkout of {anatomy.repository}, left out", file=sys.stderr)
            continue
        for places in anatomy.components.values():
            for wrong in wrong_places(places, root):
                raise SystemExit(f"{anatomy.name}: {wrong}; is {root} at {anatomy.commit}?")
        try:
            found = map_repository(root, anatomy.scope, anatomy.recipe, budget)
        except RepositoryError as error:
            yield Score(anatomy.name, 0.0, 0.0, 0.0, 0, (f"refused: {error}",), anatomy.first)
            continue
        yield _score(anatomy, found)


def _score(anatomy: Anatomy, found: Map) -> Score:
    false = tuple(_false(anatomy, found))
    if anatomy.framework:
        return Score(anatomy.name, None, None, None, len(false), false, anatomy.first)
    shares: dict[str, float] = {}
    misses: list[str] = []
    for component, anchors in anatomy.components.items():
        missed = [anchor for anchor in anchors if not _is_shown(found, component, anchor)]
        shares[component] = 1 - len(missed) / len(anchors)
        misses += [f"{component} {anchor}" for anchor in missed]
    line = sum(shares.values()) / len(shares)
    touched = sum(share > 0 for share in shares.values()) / len(shares)
    loop = shares.get("training_loop")
    return Score(anatomy.name, line, touched, loop, len(false), (*misses, *false), anatomy.first)


def _false(anatomy: Anatomy, found: Map) -> Iterator[str]:
    yield from (f"{one} is absent and was claimed" for one in anatomy.absent if found.components[one].status == "found")
    if found.trains and not anatomy.trains:
        yield "trains nothing and was not told so"
    if anatomy.framework not in found.framework:
        yield f"trains with {anatomy.framework} and was not told so, but {found.framework!r}"


def _is_shown(found: Map, component: str, anchor: str) -> bool:
    path, cell, line = split_place(anchor)
    places = found.components[component].places
    return any((p.path, p.cell) == (path, cell) and abs(p.line - line) <= NEAR for p in places)


def _table(scores: list[Score]) -> str:
    """A row for each anatomy, then the means over all, and those of the first runs over the ones that have one."""
    rows = ["| anatomy | line | any | loop | false | first line | any | loop |", "|---|---|---|---|---|---|---|---|"]
    for score in scores:
        now = [_number(share) for share in (score.line, score.any, score.loop)]
        first = [_number(score.first.get(word)) for word in ("line", "any", "loop")]
        rows.append(f"| {score.name} | {' | '.join([*now, str(score.false), *first])} |")
    means = [_mean([getattr(score, word) for score in scores]) for word in ("line", "any", "loop")]
    means.append(str(sum(score.false for score in scores)))
    means += [_mean([score.first.get(word) for score in scores]) for word in ("line", "any", "loop")]
    seen = sum(bool(score.first) for score in scores)
    rows.append(f"| mean of {len(scores)}, first of {seen} | {' | '.join(means)} |")
    return "\n".join(rows)


def _mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return _number(sum(known) / len(known) if known else None)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
