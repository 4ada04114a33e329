"""Questions that a newcomer asks about a large repository, with answers read in its code: reading/*.yaml.

A reader who sees only the map of `scope` and `recipe`, and its expansions, at most 6,000 tokens together, answers
the twenty questions of a file; a person compares with `answer`. An answer is right when it says the same in the
main point; details in brackets need not be there. `first` is how many were right when the file was first tried, on
one map of 6,000 tokens; a file without it was not opened yet. `places` are lines of the commit that prove it, each with a piece
of the line; check_places.py checks that they hold.

    python evidence/reading.py NAME    prints the questions of reading/NAME.yaml without the answers
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anatomies import EVIDENCE, Places, read_places, read_subject

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
    recipe: str
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


def main() -> int:
    if len(sys.argv) != 2 or not (FOLDER / f"{sys.argv[1]}.yaml").is_file():
        print(__doc__, "\nNAME is one of", ", ".join(path.stem for path in sorted(FOLDER.glob("*.yaml"))))
        return 2
    asked = read_questions(FOLDER / f"{sys.argv[1]}.yaml")
    print(f"{asked.repository} {asked.commit}, scope {asked.scope}, recipe {asked.recipe}")
    print("\n".join(f"{number}. {one.ask}" for number, one in enumerate(asked.questions, 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
