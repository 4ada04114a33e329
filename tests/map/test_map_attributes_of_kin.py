"""Attributes that a class sets in __init__, with kin that set them otherwise and that the command does not choose."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import expand_component

KIN = "".join(
    f"\n\nclass Trainer{name}(Trainer):\n    def __init__(self):\n        super().__init__()\n        self.rate = {rate}\n"
    f"        self.rounds = {rounds}\n"
    for name, rate, rounds in (("Short", 0.5, 5), ("Slow", 0.001, 9000), ("Fast", 0.75, 20), ("Long", 0.25, 4000), ("Odd", 0.3, 7))
)  # fmt: skip
FILES = {
    "run.py": "import argparse\n\nimport trainers\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--trainer', default='Trainer')\nargs = parser.parse_args()\n"
    "getattr(trainers, args.trainer)().fit()\n",
    "trainers.py": "import torch\n\n\nclass Trainer:\n    def __init__(self):\n        self.rate = 0.0625\n        self.rounds = 321\n"
    "        self.net = self.build()\n\n    def build(self):\n        return torch.nn.Linear(2, 1)\n\n    def fit(self):\n"
    "        opt = torch.optim.SGD(self.net.parameters(), lr=self.rate)\n        for epoch in range(self.rounds):\n"
    "            for x in torch.ones(8, 4, 2):\n                opt.zero_grad()\n                self.net(x).mean().backward()\n"
    "                opt.step()\n" + KIN + "\n\nclass TrainerWide(Trainer):\n    def build(self):\n        return torch.nn.Linear(2, 9)\n",
}  # fmt: skip


def test_what_kin_that_are_not_chosen_set_does_not_count(tmp_path: Path) -> None:
    root = write(FILES, tmp_path)
    sheet = expand_component(root, "run", recipe="python run.py --trainer TrainerWide", budget=2000).text
    assert "rate: 0.0625" in sheet and "rounds: 321" in sheet
    assert "9000" not in expand_component(root, "run", recipe="python run.py --trainer TrainerFast", budget=2000).text
