"""A data set that is loaded once and used whole: no loader hands out batches of it."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.map import map_repository

TRAIN = """
import torch

from reading import cited
from shapes import wide

edges, features = cited("cora")
features = features.to("cpu")
net = torch.nn.Linear(4, wide(2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def train():
    opt.zero_grad()
    out = net(features)
    loss = (out[edges] ** 2).mean()
    loss.backward()
    opt.step()


for _ in range(3):
    train()
"""


def test_what_the_network_is_given_leads_to_where_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "reading.py").write_text(
        "import torch\n\n\ndef cited(name):\n    return torch.arange(3), torch.rand(8, 4)\n"
    )
    (tmp_path / "shapes.py").write_text("def wide(size):\n    return size\n")
    data = map_repository(tmp_path).text.split("# data")[1].split("# model")[0]
    assert "edges, features = cited" in data and "def cited(name):" in data
    assert "wide" not in data
