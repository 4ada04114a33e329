"""A user's loss over a plane: where it has no slope, where it breaks, and whether autograd agrees with its values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.answers.loss_surface import surface_answer
from trainsleuth.cli import main
from trainsleuth.loss_surface import Ask, Surface, SurfaceError, measure

pytest.importorskip("torch")

LOSSES = """
import torch
import torch.nn.functional as F
from torch import nn

def clamped(prediction, target):
    return F.cross_entropy(prediction, target).clamp(max=3)

def half_detached(prediction, target):
    return (prediction - target).pow(2).sum() - 2 * (prediction.detach() - target).pow(2).sum()

def logarithm(prediction, target):
    return prediction.log().sum()

class Twice(nn.Module):
    def forward(self, prediction, target):
        print("a word of the user's own")
        return F.cross_entropy(prediction.softmax(1), target)
"""
CLASS_0 = "torch.tensor([0])"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "losses.py").write_text(LOSSES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def surface(name: str, **asked: Any) -> Surface:
    return measure(Ask(f"losses.py:{name}", points=9, **asked))


def test_a_clamp_leaves_a_part_without_a_slope(folder: Path) -> None:
    one = surface("clamped", target=CLASS_0)
    assert 0.1 < one.share("flat") < 0.4
    assert one.share("disagrees") < 0.05
    assert one.lowest is not None
    assert one.lowest.at == (5.0, -5.0)


def test_a_detached_term_disagrees_with_the_values(folder: Path) -> None:
    assert surface("half_detached").share("disagrees") > 0.9


def test_a_double_softmax_ends_on_its_floor(folder: Path) -> None:
    one = surface("Twice", target=CLASS_0)
    assert one.lowest is not None
    assert one.lowest.value == pytest.approx(0.3133, abs=1e-3)
    assert one.share("disagrees") == 0


def test_a_map_in_characters() -> None:
    flat = [[1.0, [0.0], [0.0]]] * 3
    one = Surface.of(Ask("losses.py:rounded", (1,), axes=(0,)), {"ticks": [-1, 0, 1], "rows": flat})
    answer = surface_answer(one)
    assert answer.code == 1
    assert "no gradient at 100.0% of the points" in answer.text()
    assert "  ..." in answer.text()


def test_the_command_says_and_alarms(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["loss-surface", "--points", "9"]
    assert main([*words, "losses.py:logarithm", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["shares"]["not finite"] > 0.6


def test_what_cannot_be_evaluated_says_why(folder: Path) -> None:
    with pytest.raises(SurfaceError, match=r"losses.py:nothing could not be evaluated: .*has no attribute 'nothing'"):
        measure(Ask("losses.py:nothing"))


def test_axes_have_to_be_places_of_the_prediction(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["loss-surface", "losses.py:clamped", "--axes", "0,7"]) == 2
    assert "two different places below 2" in capsys.readouterr().err
    assert main(["loss-surface", "losses.py:clamped", "--range", "3:1"]) == 2
    assert not (folder / "home").exists()
