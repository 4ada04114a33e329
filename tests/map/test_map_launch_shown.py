"""Which of several commands a map shows for the launch: one that trains, as whole as there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = (
    "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('mode', nargs='?')\n"
    "args, _ = parser.parse_known_args()\nnet = torch.nn.Linear(2, 1)\n"
    "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in range(9):\n    optimizer.zero_grad()\n"
    "    net(torch.ones(1, 2)).sum().backward()\n    optimizer.step()\n"
)


@pytest.mark.parametrize(
    "lines",
    [
        "python train.py --config a.yaml --render_only\n\npython train.py --config a.yaml",
        "python train.py --only-test\n\npython train.py --config a.yaml",
        "python train.py --mode test --config a.yaml\n\npython train.py --config a.yaml",
        "python train.py eval --config a.yaml\n\npython train.py --config a.yaml",
        "python train.py --resume x.pt \\ # a checkpoint\n  --eval\n\npython train.py --config a.yaml",
        "python train.py ${CONFIG}\n\npython train.py --config a.yaml",
        "python train.py --config <file>\n\npython train.py --config a.yaml",
        "bash tools/eval_all.sh\n\nbash run.sh",
    ],
)
def test_a_command_that_trains_and_is_whole_comes_first(lines: str, tmp_path: Path) -> None:
    files = {
        "train.py": TRAIN,
        "README.md": f"# Use\n\n```\n{lines}\n```\n",
        "run.sh": "python train.py --config a.yaml\n",
        "tools/eval_all.sh": "python train.py --config b.yaml\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert "launch: python train.py --config a.yaml (" in map_repository(tmp_path).text


@pytest.mark.parametrize(
    ("named", "is_said"),
    [("configs/lost.yaml", True), ("configs/there.yaml", False), ("there.yaml", False), ("${CONFIG}.yaml", False)],
)
def test_a_launch_that_names_a_file_that_is_not_there_says_so(named: str, is_said: bool, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/there.yaml").write_text("a: 1\n")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "README.md").write_text(f"# Use\n\n```\npython train.py {named}\n```\n")
    assert (f"(README.md:4), but {named} is not there" in map_repository(tmp_path).text) is is_said


def test_a_place_to_be_filled_in_keeps_its_closing_bracket(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "README.md").write_text("```\n$ python train.py -d <data_path>\n```\n")
    assert "launch: python train.py -d <data_path> (" in map_repository(tmp_path).text
