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


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("open rules.py:scores", "has score :1"),
        ("open train.py:mode", "train.py has made :13"),
        ("open trian.py:made", "like it: train.py"),
        ("lines def in ruels.py", "like it: games/alley/rules.py"),
        ("open wholly_else.py:made", "in the files that were read\n"),
    ],
)
def test_what_is_not_there_is_told_with_what_is_like_it(games: Path, asked: str, said: str) -> None:
    text = expand_component(games, asked, recipe="python train.py --game bowls", budget=300).text
    assert said in text and "return" not in text


def test_of_a_class_that_lacks_a_method_its_methods_are_told(games: Path) -> None:
    (games / "hooks.py").write_text(
        "class Hook:\n    def after(self):\n        print(1)\n\n    def before(self):\n        pass\n"
    )
    source = (games / "train.py").read_text()
    (games / "train.py").write_text("from hooks import Hook\n" + source + "\n    Hook().after()\n")
    for where in ("Hook.afterr", "hooks.py:Hook.afterr"):
        assert "hooks.py has Hook.after :2, Hook.before :5" in _opened(games, where)
