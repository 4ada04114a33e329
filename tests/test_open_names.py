"""`open NAME`: which of several definitions is meant, and what its decorators say."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

SCORE = "def score(answer, truth):\n    return {}\n"


@pytest.fixture
def games(tmp_path: Path) -> Path:
    for name, value in (("alley", 1), ("bowls", 2), ("chess", 3)):
        (tmp_path / "games" / name).mkdir(parents=True)
        (tmp_path / "games" / name / "rules.py").write_text(SCORE.format(value))
    (tmp_path / "train.py").write_text(
        "import argparse\nimport functools\nimport torch\nfrom games.alley import rules\n\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--game', default='alley')\n"
        "parser.add_argument('--lr', type=float, default=0.1)\nargs = parser.parse_args()\n\n\n"
        "@functools.lru_cache(maxsize=4)\ndef made(size):\n    return torch.nn.Linear(size, size)\n\n\n"
        "net = made(2)\nopt = torch.optim.SGD(net.parameters(), lr=args.lr)\ncriterion = torch.nn.MSELoss()\n" + STEP
    )
    return tmp_path


def _opened(games: Path, what: str) -> str:
    return expand_component(games, f"open {what}", recipe="python train.py --game bowls", budget=300).text


def test_of_definitions_that_do_not_run_the_one_that_a_setting_names_comes_first(games: Path) -> None:
    assert "return 2" in _opened(games, "score")


def test_the_end_of_a_path_chooses(games: Path) -> None:
    for place in ("chess/rules.py:score", "games/chess/rules.py:score"):
        text = _opened(games, place)
        assert "return 3" in text and "also" not in text
    assert "no definition" in _opened(games, "ess/rules.py:score")


def test_a_decorator_stands_with_its_function(games: Path) -> None:
    assert "@functools.lru_cache(maxsize=4)" in _opened(games, "made")
