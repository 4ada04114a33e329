"""Every anatomy and every file of reading questions under evidence/ is well-formed, and bad ones are refused."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from small_programs import HEALTHY
from trainsleuth.map import expand_component

EVIDENCE = Path(__file__).parents[1] / "evidence"
sys.path.append(str(EVIDENCE))
ANATOMY: Any = importlib.import_module("anatomies")
READING: Any = importlib.import_module("reading")
SHOWN: Any = importlib.import_module("shown")
HEAD = f"repository: owner/name\ncommit: {'a1' * 20}\n"


def written(folder: Path, text: str) -> Path:
    (folder / "one.yaml").write_text(text)
    return folder / "one.yaml"


@pytest.mark.parametrize("path", sorted(EVIDENCE.glob("maps/**/*.yaml")), ids=lambda path: path.stem)
def test_each_anatomy_is_well_formed(path: Path) -> None:
    assert ANATOMY.read_anatomy(path).components


@pytest.mark.parametrize("path", sorted(EVIDENCE.glob("reading/*.yaml")), ids=lambda path: path.stem)
def test_each_file_of_questions_is_well_formed(path: Path) -> None:
    assert READING.read_questions(path).name == path.stem


def test_what_an_answer_shows_is_told_from_what_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{HEALTHY}" + "print(loss)\n" * 9)
    shown = SHOWN.Shown(expand_component(tmp_path, "ask Which optimizer is used?", budget=200).text)
    assert shown.holds("train.py:10", "") and shown.holds("train.py:1", "torch.optim.Adam(model.parameters()")
    assert not shown.holds("train.py:25", "print(loss)")
    sheet = SHOWN.Shown(
        "# run of a.py\nA is big/a.yaml\n  lr=1 A:3, steps=9 :8, read a.py:5\na.py f :2, called at b.py:7\n"
    )
    assert sheet.holds("big/a.yaml:8", "") and sheet.holds("src/a.py:2", "")
    assert not any(sheet.holds(place, "") for place in ("a.py:7", "b.py:7", "a.py:8"))


def test_no_repository_is_in_two_sets() -> None:
    sets = [{one.repository for one in ANATOMY.read_anatomies(folder)} for folder in ANATOMY.SETS.values()]
    assert all(sets) and len(set().union(*sets)) == sum(map(len, sets))


def test_each_anatomy_is_in_a_set() -> None:
    assert {path.parent for path in EVIDENCE.glob("maps/**/*.yaml")} == set(ANATOMY.SETS.values())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("repository: name\n", "owner/name"),
        ("repository: owner/name\ncommit: main\n", "40 digits"),
        (HEAD + "components: {loop: [a.py:1]}\n", "must name each of"),
        (HEAD + "components: {loss: [a.py:1]}\nabsent: [loss]\n", "at most once"),
        (HEAD + "components: {loss: []}\n", "got none"),
        (HEAD + "components: {loss: [a.py:0]}\n", "got a.py:0"),
        (HEAD + "components: {loss: {/a.py:1: x}}\n", "got /a.py:1"),
        (HEAD + "components: {loss: [a.py:1]}\nlicence: MIT\n", "licence"),
    ],
)
def test_a_wrong_anatomy_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=complaint):
        ANATOMY.read_anatomy(written(tmp_path, text))


@pytest.mark.parametrize(
    ("question", "number", "complaint"),
    [
        ("{ask: what %d, answer: that, places: {a.py:1: x}}", 19, "got 19"),
        ("{ask: what, answer: that, places: {a.py:1: x}}", 20, "20 different"),
        ("{ask: what %d, answer: that}", 20, "needs ask, answer and places"),
        ("{ask: what %d, answer: that, places: {}}", 20, "got none"),
        ("{ask: what %d, answer: that, places: {a.py:1: x}}", 20, "missing 2 required"),
    ],
)
def test_wrong_questions_are_refused(question: str, number: int, complaint: str, tmp_path: Path) -> None:
    asked = "".join(f"- {question % one if '%d' in question else question}\n" for one in range(number))
    with pytest.raises(ValueError, match=complaint):
        READING.read_questions(written(tmp_path, f"{HEAD}questions:\n{asked}"))


def test_a_place_must_hold_what_is_said_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("for epoch in range(3):\n    step()\n")
    places = {"a.py:1": "step", "a.py:2": "step", "a.py:9": "", "b.py:1": ""}
    assert list(ANATOMY.wrong_places(places, tmp_path)) == [
        "a.py:1 does not hold 'step': 'for epoch in range(3):'",
        "a.py:9 is not there",
        "b.py:1 is not there",
    ]
