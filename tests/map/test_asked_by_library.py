"""Loaders that GraphGym asks in turn for the data, and which of their arms the settings take."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import map_repository

FILES = {
    "main.py": """import own
import torch
from torch_geometric.graphgym.config import cfg, load_cfg
from torch_geometric.graphgym.loader import create_loader

load_cfg(cfg, "config.yaml")
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=cfg.rate)
for x in create_loader()[0]:
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
""",
    "own/__init__.py": "from . import data\n",
    "own/data.py": """from torch_geometric.graphgym.register import register_loader

from .sets import FarSet, NearSet


@register_loader("own_loader")
def load(format, name, dataset_dir):
    if format.startswith("Own-"):
        kind = format.split("-", 1)[1]
        if kind == "Near":
            return NearSet(dataset_dir)
        elif kind == "Far":
            return FarSet(dataset_dir)
""",
    "own/sets.py": "import torch\n\n\n"
    + "\n\n".join(
        f"class {name}(torch.utils.data.Dataset):\n    def __init__(self, folder):\n        self.folder = folder\n\n"
        "    def __getitem__(self, place):\n        return torch.ones(2) * place\n"
        for name in ("NearSet", "FarSet")
    ),
}


@pytest.mark.parametrize(("kind", "line"), [("Near", 11), ("Far", 13)])
def test_the_loader_runs_and_the_format_decides(tmp_path: Path, kind: str, line: int) -> None:
    config = f"rate: 0.1\ndataset:\n  format: Own-{kind}\n  name: first\n"
    found = map_repository(write({**FILES, "config.yaml": config}, tmp_path), "main.py", "config.yaml", budget=3000)
    assert {place.line for place in found.components["data"].places if place.role == "built"} == {line}
