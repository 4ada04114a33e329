"""Settings in Python that name functions of their own file, which the program calls later; numbers kept for the log."""

from __future__ import annotations

from pathlib import Path

import map_depth
from trainsleuth.map import Map, expand_component, map_repository

FILES = {
    "train.py": """import argparse

import torch
from detectron2.config import LazyConfig, instantiate


class NumberBuffer:
    def __init__(self, size):
        self.kept = torch.zeros(size)

    def append(self, value):
        self.kept[0] = value

    def mean(self):
        return self.kept.mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    cfg = LazyConfig.load(parser.parse_args().config)
    net, loader = instantiate(cfg.model), instantiate(cfg.loader)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr)
    history = NumberBuffer(10)
    for batch in loader:
        loss = net(batch).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
        print(history.mean())


if __name__ == "__main__":
    main()
""",
    "nets.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
    "rows.py": "import torch\n\n\nclass Rows(torch.utils.data.Dataset):\n    def __getitem__(self, at):\n        return at\n",
    "configs/small.py": """from detectron2.config import LazyCall as L

from nets import Net
from rows import Rows


def build_model(width):
    return Net()


def build_loader(rows):
    return rows


def build_rows():
    return Rows()


lr = 0.1
model = L(build_model)(width=8)
loader = L(build_loader)(rows=L(build_rows)())
""",
}
COMMAND = "python train.py configs/small.py"


def _mapped(root: Path) -> Map:
    return map_repository(map_depth.write(FILES, root), scope="train.py", recipe=COMMAND)


def test_the_classes_that_functions_of_the_settings_make(tmp_path: Path) -> None:
    made = _mapped(tmp_path)
    assert "nets.py" in {one.path for one in made.components["model"].places}
    assert "rows.py" in {one.path for one in made.components["data"].places}
    assert "class Net" in expand_component(tmp_path, "run", scope="train.py", recipe=COMMAND, budget=2000).text


def test_a_buffer_that_only_says_a_mean_is_no_data(tmp_path: Path) -> None:
    _mapped(tmp_path)
    shown = expand_component(tmp_path, "run", scope="train.py", recipe=COMMAND, budget=2000).text
    assert "for batch in loader" in shown
    assert "NumberBuffer" not in shown
