"""Questions that a newcomer asks about a large repository, with answers read in its code: reading/*.yaml.

A reader who sees only the map of `scope` and `recipe`, and its expansions, at most 6,000 tokens together, answers
the twenty questions of a file; a person compares with `answer`. An answer is right when it says the same in the
main point; details in brackets need not be there. `first` is how many were right when the file was first tried, on
one map of 6,000 tokens; a file without it was not opened yet. `places` are lines of the commit that prove it, each with a piece
of the line; check_places.py checks that they hold.

    python evidence/reading.py NAME    prints the questions of reading/NAME.yaml without the answers
    python evidence/reading.py --score CHECKOUTS [CHECKOUTS ...] [--only NAME ...] [--misses]

`--score` measures by rule what a person does better: of how many questions the places are shown by the run sheet of
1,200 tokens, by `ask` with the question's own words in 240, and by both; all places of a question, and at least half
of them. It is a proxy: an answer is a value and not a line, some places prove what another line says as well, and a
reader asks in other words when the first did not help. CHECKOUTS are folders as check_places.py takes them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from anatomies import EVIDENCE, Places, checkout, read_places, read_subject
from shown import Shown
from trainsleuth.map import read_anatomy
from trainsleuth.map.expansion import Asker, drawn, pages_of, plan

QUESTIONS = 20  # in a file
FOLDER = EVIDENCE / "reading"


@dataclass(frozen=True)
class Question:
    ask: str
    answer: str
    places: Places


@dataclass(frozen=True)
class Questions:
    """Twenty questions on one program of one repository."""

    name: str
    repository: str
    commit: str
    scope: str
    recipe: str | None  # None where the program of the scope sets all itself
    questions: tuple[Question, ...]
    first: int | None = None


def read_all_questions() -> Iterator[Questions]:
    for path in sorted(FOLDER.glob("*.yaml")):
        yield read_questions(path)


def read_questions(path: Path) -> Questions:
    """Raises ValueError that names what is wrong."""
    plain = read_subject(path)
    questions = []
    for number, one in enumerate(plain.get("questions") or (), 1):
        where = f"{path}: question {number}"
        if set(one) != {"ask", "answer", "places"} or not (one["ask"] and one["answer"]):
            raise ValueError(f"{where}: needs ask, answer and places, got {', '.join(one)}")
        questions.append(Question(one["ask"], one["answer"], read_places(one["places"], where)))
    if len(questions) != QUESTIONS or len({one.ask for one in questions}) != QUESTIONS:
        raise ValueError(f"{path}: needs {QUESTIONS} different questions, got {len(questions)}")
    plain["questions"] = tuple(questions)
    try:
        return Questions(path.stem, **plain)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from None


class Score(NamedTuple):
    """Of one question the places that the sheet shows, and those that `ask` shows, of all of them."""

    question: Question
    sheet: frozenset[str]
    asked: frozenset[str]

    def counts(self) -> Iterator[str]:
        """Which of "sheet all", "asked half", ... the question counts for."""
        every = len(self.question.places)
        for name, seen in (("sheet", self.sheet), ("asked", self.asked), ("both", self.sheet | self.asked)):
            yield from (name + what for what, least in ((" all", every), (" half", every / 2)) if len(seen) >= least)


def scores(asked: Questions, root: Path) -> Iterator[Score]:
    anatomy = read_anatomy(root, asked.scope, asked.recipe, 4 * SHEET)
    asker = Asker(pages_of(anatomy), anatomy.index.repository)
    planned = plan(anatomy, None, ("run",))
    sheet = Shown(drawn(planned, asker, ("run",), SHEET).text)
    for one in asked.questions:
        answer = Shown(drawn(planned, asker, (f"ask {one.ask}",), ANSWER).text)
        seen = (
            frozenset(place for place, piece in one.places.items() if by.holds(place, piece)) for by in (sheet, answer)
        )
        yield Score(one, *seen)


SHEET, ANSWER = 1200, 240  # tokens
COLUMNS = ("sheet all", "sheet half", "asked all", "asked half", "both all", "both half")


def print_scores(only: Sequence[str], folders: Sequence[Path], with_misses: bool) -> None:
    total: Counter[str] = Counter()
    print(f"{'':28}{''.join(f'{name:>12}' for name in COLUMNS)}      CPU s")
    for asked in read_all_questions():
        root = checkout(asked.repository, folders)
        if root is None or (only and asked.name not in only):
            continue
        start = time.process_time()
        found = list(scores(asked, root))
        took = time.process_time() - start
        count = Counter(name for one in found for name in one.counts())
        total.update(count)
        total["asked"] += len(found)
        print(f"{asked.name:28}{''.join(f'{count[name]:12}' for name in COLUMNS)}{took:11.1f}", flush=True)
        for one in found if with_misses else ():
            missed = [
                f"{place} {piece}" for place, piece in one.question.places.items() if place not in one.sheet | one.asked
            ]
            print("\n      ".join([f"    {one.question.ask}", *missed]) if missed else "", end="\n" if missed else "")
    print(f"{'of ' + str(total['asked']):28}{''.join(f'{total[name]:12}' for name in COLUMNS)}")


def main() -> int:
    names = [path.stem for path in sorted(FOLDER.glob("*.yaml"))]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=names)
    parser.add_argument("--score", type=Path, nargs="+", metavar="CHECKOUTS")
    parser.add_argument("--only", nargs="+", choices=names, default=[])
    parser.add_argument("--misses", action="store_true", help="the places that neither shows")
    given = parser.parse_args()
    if given.score:
        print_scores(given.only, given.score, given.misses)
    elif given.name:
        asked = read_questions(FOLDER / f"{given.name}.yaml")
        print(f"{asked.repository} {asked.commit}, scope {asked.scope}, recipe {asked.recipe}")
        print("\n".join(f"{number}. {one.ask}" for number, one in enumerate(asked.questions, 1)))
    else:
        parser.error("give a NAME, or --score CHECKOUTS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
