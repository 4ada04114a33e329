"""A file of settings in Python gives what it works out from its own numbers as a number."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import sys

import torch
from mmengine.config import Config


def main():
    cfg = Config.fromfile(sys.argv[1])
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, betas=cfg.betas)
    for step in range(cfg.total_iters):
        loss = model(torch.ones(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


def first_line(root: Path, recipe: str, topic: str) -> str:
    map_depth.write({"train.py": TRAIN, "configs/run.py": recipe}, root)
    text = expand_component(root, "run", recipe="python train.py configs/run.py", budget=2000).text
    return text.partition(f"# {topic}\n")[2].partition("\n")[0]


def test_numbers_are_worked_out_in_their_order(tmp_path: Path) -> None:
    recipe = "every = 4\nratio = every / (every + 1)\nlr = 0.002 * ratio\nbetas = (0, 0.99**ratio)\nevery = 8\ntotal_iters = 10 * every\n"
    line = first_line(tmp_path, recipe, "optimizer")
    assert "lr=0.0016 " in line
    assert "betas=(0, 0.991992)" in line
    assert "total_iters=80 " in first_line(tmp_path, recipe, "length")


@pytest.mark.parametrize("worked", ["base * world()", "base / 0", "2.0 ** 1000 * base", "other * 2"])
def test_what_cannot_be_worked_out_stays_as_written(tmp_path: Path, worked: str) -> None:
    recipe = f"from lib import world\n\nbase = 0.1\nother = base\nother += 1\nlr = {worked}\nbetas = (0, 0.9)\ntotal_iters = 5\n"
    line = first_line(tmp_path, recipe, "optimizer")
    assert "lr=" in line
    assert worked.split()[0] in line


PER_DEVICE = {
    "train.py": "import json\nimport sys\n\nimport torch\n\n\nclass Table(dict):\n    __getattr__ = dict.get\n"
    "    __setattr__ = dict.__setitem__\n\n\ndef train(h):\n    net = torch.nn.Linear(2, 1)\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=h.lr)\n"
    "    rows = torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=h.batch_size)\n    for x in rows:\n"
    "        opt.zero_grad()\n        net(x).mean().backward()\n        opt.step()\n\n\nh = Table(json.load(open(sys.argv[1])))\n"
    "if torch.cuda.is_available():\n    h.num_gpus = torch.cuda.device_count()\n"
    "    h.batch_size = int(h.batch_size / h.num_gpus)\ntrain(h)\n",
    "small.json": '{"lr": 0.1, "batch_size": 16, "num_gpus": 1}\n',
}


def test_a_table_called_h_that_code_changes_says_what_a_setting_may_become(tmp_path: Path) -> None:
    for name, text in PER_DEVICE.items():
        (tmp_path / name).write_text(text)
    sheet = expand_component(tmp_path, "run", recipe="python train.py small.json", budget=2000).text
    assert "batch_size=16" in sheet and "may become int(h.batch_size / h.num_gpus)" in sheet
