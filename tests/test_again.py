"""After a change: what failed before is run again, and its flip is told; a change that mends nothing is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from twins import NOTES, trainsleuth

pytest.importorskip("torch", reason="the programs train with torch: install the torch extra")

from small_programs import HEALTHY, SOFTMAX


def test_a_mended_program_flips_and_an_unmended_one_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    program = folder / "train.py"
    program.write_text(SOFTMAX, encoding="utf-8")
    words = ("probe", "--only", "loss_contract", "--steps", "10", "--format", "json", "--", "python", "train.py")
    first = trainsleuth(*words, cwd=folder)
    assert first.code == 1, first.output + first.errors

    unmended = trainsleuth("probe", "--again", first.json["run"], "--format", "json", cwd=folder)
    assert (unmended.code, [one["became"] for one in unmended.json["again"]]) == (1, ["still fails"])

    program.write_text(HEALTHY, encoding="utf-8")
    mended = trainsleuth("probe", "--again", "last", "--format", "json", cwd=tmp_path)
    assert (mended.code, [one["became"] for one in mended.json["again"]]) == (0, ["flipped"])
    assert mended.json["again"][0]["before"]["suspects"] == ["double-normalised-loss"]
    assert not (folder / NOTES).exists()


def test_a_run_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path / "home"))
    for run, words in (("20200101-000000-1-000", "holds no record"), ("last", "found anything")):
        answer = trainsleuth("probe", "--again", run, cwd=tmp_path)
        assert (answer.code, words in answer.errors) == (2, True), answer.errors
    both = trainsleuth("probe", "--again", "last", "--", "python", "train.py", cwd=tmp_path)
    assert (both.code, "leave out the --" in both.errors) == (2, True)
