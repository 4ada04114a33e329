"""Check every place of the anatomies (maps/) and of the reading questions (reading/) against checkouts.

    python evidence/check_places.py CHECKOUTS [CHECKOUTS ...]

CHECKOUTS are folders that hold checkouts of the repositories under their names ("nanoGPT"), at the commits
that the files name; a repository that is not there is left out, and said so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from anatomies import SETS, Places, checkout, read_anatomies, wrong_places
from reading import read_all_questions


class Subject(NamedTuple):
    name: str
    repository: str
    places: list[Places]


def subjects() -> Iterator[Subject]:
    for folder in SETS.values():
        for anatomy in read_anatomies(folder):
            yield Subject(anatomy.name, anatomy.repository, list(anatomy.components.values()))
    for asked in read_all_questions():
        yield Subject(f"reading {asked.name}", asked.repository, [one.places for one in asked.questions])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    folders = parser.parse_args().checkouts
    wrong = 0
    for subject in subjects():
        root = checkout(subject.repository, folders)
        if root is None:
            print(f"{subject.name}: no checkout, left out")
            continue
        found = [line for places in subject.places for line in wrong_places(places, root)]
        wrong += len(found)
        print(f"{subject.name}: {'; '.join(found) or f'{sum(map(len, subject.places))} places hold'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
