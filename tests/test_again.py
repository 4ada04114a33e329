"""After a change: what failed before is run again, and its flip is told; a change that mends nothing is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twins import NOTES, Answer

pytest.importorskip("torch", reason="the programs train with torch: install the torch extra")

from small_programs import HEALTHY, SOFTMAX
from trainsleuth.again import flips
from trainsleuth.finding import Finding
from trainsleuth.probing import ProbeReport


def test_a_mended_program_flips_and_an_unmended_one_does_not(tmp_path: Path, warm: Callable[..., Answer]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    program = folder / "train.py"
    program.write_text(SOFTMAX, encoding="utf-8")
    words = ("probe", "--only", "loss_contract", "--steps", "10", "--format", "json", "--", "python", "train.py")
    first = warm(*words, cwd=folder)
    assert first.code == 1, first.output + first.errors

    unmended = warm("probe", "--again", first.json["run"], "--format", "json", cwd=folder)
    assert (unmended.code, [one["became"] for one in unmended.json["again"]]) == (1, ["still fails"])

    program.write_text(HEALTHY, encoding="utf-8")
    mended = warm("probe", "--again", "last", "--format", "json", cwd=tmp_path)
    assert (mended.code, [one["became"] for one in mended.json["again"]]) == (0, ["flipped"])
    assert mended.json["again"][0]["before"]["suspects"] == ["double-normalised-loss"]
    assert not (folder / NOTES).exists()


FULL = {"steps": 200, "processes": 2, "hooks": ["trace", "losses"], "whole": False}


@pytest.mark.parametrize(
    ("now", "became", "words"),
    [
        ({}, "flipped", ""),
        ({"steps": 185}, "flipped", ""),
        ({"steps": 20}, "open", "only 20 steps were seen now, 200 before"),
        ({"steps": 20, "whole": True}, "flipped", ""),
        ({"processes": 1}, "open", "only 1 processes trained now, 2 before"),
        ({"hooks": ["trace"]}, "open", "the hook losses did not take now"),
    ],
)
def test_a_pass_of_a_run_that_sees_less_is_no_flip(now: dict[str, Any], became: str, words: str) -> None:
    failed = Finding(
        by="probe:loss_contract", outcome="fail", message="", severity="error", suspects=("double-normalised-loss",)
    )
    passed = Finding(by="probe:loss_contract", outcome="pass", message="all is well")
    report = ProbeReport((passed,), {}, (), (), seen={"observe": {**FULL, **now}})
    (flip,) = flips([failed], report, {"observe": FULL})
    assert flip.became == became
    assert words in str(flip)


def test_a_run_that_is_not_there(tmp_path: Path, warm: Callable[..., Answer]) -> None:
    for run, words in (("20200101-000000-1-000", "holds no record"), ("last", "found anything")):
        answer = warm("probe", "--again", run, cwd=tmp_path)
        assert (answer.code, words in answer.errors) == (2, True), answer.errors
    both = warm("probe", "--again", "last", "--", "python", "train.py", cwd=tmp_path)
    assert (both.code, "leave out the --" in both.errors) == (2, True)
