"""The sheet of a run whose command the caller gives: only what this command names counts."""

from __future__ import annotations

from map_depth import STEP
from trainsleuth.map import expand_component

COMMAND = "python train.py --batch 4 --lr 2e-4"

OPTIONS = {
    "train.py": "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--config')\n"
    "parser.add_argument('--batch', type=int, default=8)\nparser.add_argument('--lr', type=float, default=0.1)\n"
    "args = parser.parse_args()\nnet = torch.nn.Linear(2, args.batch)\n"
    "opt = torch.optim.SGD(net.parameters(), lr=args.lr)\n" + STEP,
    "launch/four.yaml": "num_processes: 4\nmixed_precision: bf16\nzero_stage: 3\n",
    "README.md": "```\nlauncher --config_file launch/four.yaml && python train.py --config launch/four.yaml --lr 1e-3\n```\n",
}


def _sheet(tmp_path, files, command=COMMAND, budget=3000):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return expand_component(tmp_path, "run", recipe=command, budget=budget).text


def test_a_configuration_that_only_another_command_names_does_not_count(tmp_path):
    sheet = _sheet(tmp_path, OPTIONS)
    assert "lr=2e-4 the command" in sheet
    assert "num_processes" not in sheet and "bf16" not in sheet


def test_a_configuration_that_the_given_command_names_counts(tmp_path):
    sheet = _sheet(tmp_path, OPTIONS, f"{COMMAND} --config launch/four.yaml")
    assert "num_processes=4" in sheet and "mixed_precision=bf16" in sheet
