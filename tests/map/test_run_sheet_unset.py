"""The run sheet tells what a class of settings gives for an attribute that nothing set, and what constants decide."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

PROGRAM = {
    "train.py": """import argparse

import torch
from settings import Settings
from words import HINGE


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cf")
    parser.add_argument("--norm", type=float, default=argparse.SUPPRESS)
    parser.add_argument("--kind", default=argparse.SUPPRESS)
    config = Settings(parser.parse_args())
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=config.momentum)
    for step in range(10):
        out = model(torch.ones(1, 2))
        if config.kind == HINGE:
            loss = torch.nn.functional.hinge_embedding_loss(out, torch.ones(1, 2))
        else:
            loss = torch.nn.functional.mse_loss(out, torch.ones(1, 2))
        optimizer.zero_grad()
        loss.backward()
        if config.norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), config.norm)
        optimizer.step()


if __name__ == "__main__":
    main()
""",
    "settings.py": """from words import SQUARED


class Settings:
    def __init__(self, args):
        for name, value in vars(args).items():
            setattr(self, f"_{name}", value)

    @property
    def norm(self):
        if hasattr(self, "_norm"):
            assert self._norm > 0
            return self._norm
        return 5.0

    @property
    def kind(self):
        if hasattr(self, "_kind"):
            return self._kind
        return SQUARED

    @property
    def momentum(self):
        return 0.9
""",
    "words.py": 'HINGE = "hinge"\nSQUARED = "squared"\n',
}
COMMAND = "python train.py --cf a.yaml"


def _sheet(folder: Path, command: str, **changed: str) -> str:
    map_depth.write({**PROGRAM, **changed}, folder)
    return expand_component(folder, "run", recipe=command, budget=2000).text


def test_a_property_says_what_counts_where_nothing_set_its_attribute(tmp_path: Path) -> None:
    assert "settings.py: norm=5.0 :14" in _sheet(tmp_path, COMMAND)
    assert "norm=2 the command" in _sheet(tmp_path, f"{COMMAND} --norm 2")


@pytest.mark.parametrize(
    "body",
    [
        'return self._norm if hasattr(self, "_norm") else 5.0',
        'return getattr(self, "_norm", 5.0)',
        'if not hasattr(self, "_norm"):\n            return 5.0\n        return self._norm',
        'if hasattr(self, "_norm"):\n            return self._norm\n        else:\n            return 5.0',
        'if hasattr(self, "_norm") and self._norm:\n            return float(self._norm)\n        return 5.0',
    ],
)
def test_it_may_be_written_in_many_ways(tmp_path: Path, body: str) -> None:
    old = PROGRAM["settings.py"]
    written = 'if hasattr(self, "_norm"):\n            assert self._norm > 0\n            return self._norm\n        return 5.0'
    assert written in old
    assert "norm=5.0 :" in _sheet(tmp_path, COMMAND, **{"settings.py": old.replace(written, body)})


def test_a_property_of_several_answers_says_nothing(tmp_path: Path) -> None:
    old = PROGRAM["settings.py"].replace(
        "        return 5.0", "        if self.kind:\n            return 4.0\n        return 5.0"
    )
    sheet = _sheet(tmp_path, COMMAND, **{"settings.py": old})
    assert "norm=5" not in sheet and "norm=4" not in sheet


def test_constants_of_another_file_decide_which_arm_runs(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, COMMAND)
    assert "mse_loss" in sheet and "hinge_embedding_loss" not in sheet
    other = _sheet(tmp_path, f"{COMMAND} --kind hinge")
    assert "hinge_embedding_loss" in other and "mse_loss" not in other


def test_a_constant_that_code_sets_again_decides_nothing(tmp_path: Path) -> None:
    again = PROGRAM["words.py"] + "\n\ndef swap():\n    global HINGE\n    HINGE = 'squared'\n"
    sheet = _sheet(tmp_path, COMMAND, **{"words.py": again})
    assert "mse_loss" in sheet and "hinge_embedding_loss" in sheet


@pytest.mark.parametrize(("folder", "is_meant"), [("notes", False), ("conf", True)])
def test_a_file_of_settings_is_named_with_the_folders_before_it(tmp_path: Path, folder: str, is_meant: bool) -> None:
    told = PROGRAM["train.py"].replace(
        "    model = torch",
        f'    extra = json.load(open(pathlib.Path(root) / "{folder}" / "default.json"))\n    model = torch',
    )
    told = told.replace("import argparse\n", "import argparse\nimport json\nimport pathlib\n", 1)
    sheet = _sheet(tmp_path, COMMAND, **{"train.py": told, "app/conf/default.json": '{"width": 77, "title": "an app"}'})
    assert ("width=77" in sheet) is is_meant
