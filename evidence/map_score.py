"""Score the map against anatomies written by hand: evidence/maps/*.yaml, one repository each.

    python evidence/map_score.py CHECKOUTS [--budget 2000] [--misses]

CHECKOUTS is a folder that holds a checkout of each repository under its name ("nanoGPT"), at the commit
that its anatomy names. For each component, an anchor counts when the map shows a line within 5 of it in the
same file under that component. line: share of anchors; any: share of components with at least one; loop: share
of anchors of the training loop; each averaged over components, then over repositories. An absent component
that the map claims to have found counts as a false one.

An anatomy written before the map had ever seen its repository keeps the scores of that first run under `first`:
they are the honest ones, since whatever was missed then was looked into afterwards.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from trainsleuth.map import Map, map_repository

NEAR = 5  # lines
ANATOMIES = Path(__file__).resolve().parent / "maps"


class Score(NamedTuple):
    name: str
    line: float
    any: float
    loop: float | None  # None for a repository that trains nothing
    false: int
    misses: tuple[str, ...]
    first: Mapping[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--misses", action="store_true", help="print each anchor that is not shown")
    arguments = parser.parse_args()
    scores = list(_scores(arguments.checkouts, arguments.budget))
    print("| anatomy | line | any | loop | false | first line | any | loop |\n|---|---|---|---|---|---|---|---|")
    for score in scores:
        now = f"{score.line:.2f} | {score.any:.2f} | {_number(score.loop)} | {score.false}"
        first = " | ".join(_number(score.first.get(word)) for word in ("line", "any", "loop"))
        print(f"| {score.name} | {now} | {first} |")
    print(_summary(scores))
    if arguments.misses:
        print("\n".join(f"{score.name}: {miss}" for score in scores for miss in score.misses))
    return 0 if scores else 2


def _scores(checkouts: Path, budget: int) -> Iterator[Score]:
    for path in sorted(ANATOMIES.glob("*.yaml")):
        anatomy = yaml.safe_load(path.read_text())
        root = checkouts / anatomy["repository"].rpartition("/")[2]
        if not root.is_dir():
            print(f"{path.stem}: no checkout at {root}, left out", file=sys.stderr)
            continue
        _check(anatomy, root)
        found = map_repository(root, anatomy.get("scope"), anatomy.get("recipe"), budget)
        yield _score(path.stem, anatomy, found)


def _check(anatomy: dict[str, Any], root: Path) -> None:
    """Every anchor is a line of the checkout. Raises ValueError, so that a moved commit is not scored."""
    for name, anchors in anatomy["components"].items():
        for anchor in anchors:
            path, _, line = anchor.rpartition(":")
            lines = (root / path).read_text(errors="replace").count("\n") + 1 if (root / path).is_file() else 0
            if not 0 < int(line) <= lines:
                raise ValueError(f"{anatomy['repository']}: {name} {anchor} is not there; is it {anatomy['commit']}?")


def _score(name: str, anatomy: dict[str, Any], found: Map) -> Score:
    shares: dict[str, float] = {}
    misses: list[str] = []
    for component, anchors in anatomy["components"].items():
        missed = [anchor for anchor in anchors if not _is_shown(found, component, anchor)]
        shares[component] = 1 - len(missed) / len(anchors)
        misses += [f"{component} {anchor}" for anchor in missed]
    false = [one for one in anatomy.get("absent", ()) if found.components[one].status == "found"]
    misses += [f"{one} is absent and was claimed" for one in false]
    line = sum(shares.values()) / len(shares)
    touched = sum(share > 0 for share in shares.values()) / len(shares)
    return Score(name, line, touched, shares.get("training_loop"), len(false), tuple(misses), anatomy.get("first", {}))


def _is_shown(found: Map, component: str, anchor: str) -> bool:
    path, _, line = anchor.rpartition(":")
    return any(p.path == path and abs(p.line - int(line)) <= NEAR for p in found.components[component].places)


def _summary(scores: list[Score]) -> str:
    """Means over all, and of the first runs over those that have one."""
    columns = [_mean([getattr(score, word) for score in scores]) for word in ("line", "any", "loop")]
    columns.append(str(sum(score.false for score in scores)))
    columns += [_mean([score.first.get(word) for score in scores]) for word in ("line", "any", "loop")]
    seen = sum(bool(score.first) for score in scores)
    return f"| mean of {len(scores)}, first of {seen} | {' | '.join(columns)} |"


def _mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return _number(sum(known) / len(known) if known else None)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
