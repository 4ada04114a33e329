"""Defaults of a class of settings are none of the run where a saved model brings its own values."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

CONFIG = """from transformers import PretrainedConfig


class NetConfig(PretrainedConfig):
    def __init__(self, hidden_size=4096, num_layers=32, dropout=0.0, heads=8, width=64, bias=True, depth=2, **kwargs):
        self.dropout, self.heads, self.width, self.bias, self.depth = dropout, heads, width, bias, depth
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        super().__init__(**kwargs)
"""
NET = """import torch
from configuration_net import NetConfig
from transformers import PreTrainedModel


class NetBase(PreTrainedModel):
    config_class = NetConfig


class Net(NetBase):
    def __init__(self, config):
        super().__init__(config)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(config.hidden_size, 1) for _ in range(config.num_layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
TRAIN = """import argparse

import torch
from net import Net, NetConfig


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", default="saved/small")
    args = parser.parse_args()
    net = MADE
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.ones(8, 4, 2):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("Net(NetConfig())", True),
        ("Net.from_pretrained(args.path)", False),
        ("Net(NetConfig.from_pretrained(args.path))", False),
        ("Net.from_pretrained(args.path, config=NetConfig())", True),
    ],
)
def test_what_a_saved_model_brings_is_not_told_from_its_class(tmp_path: Path, made: str, is_told: bool) -> None:
    write({"configuration_net.py": CONFIG, "net.py": NET, "train.py": TRAIN.replace("MADE", made)}, tmp_path)
    text = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert [one in text for one in ("hidden_size=4096", "num_layers=32")] == [is_told, is_told], text
