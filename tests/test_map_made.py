"""Tests that ask what an object is an instance of, where the settings decide which one is made."""

from __future__ import annotations

from pathlib import Path

import map_depth
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch
from plugins import DataParallelPlugin, PipelinePlugin, ShardedPlugin


class Trainer:
    def __init__(self, plugin, epochs):
        self.plugin = plugin
        self.epochs = epochs


class NetTrainer(Trainer):
    def __init__(self, net, plugin, epochs):
        super().__init__(plugin=plugin, epochs=epochs)
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit(self, loader):
        for epoch in range(self.epochs):
            if isinstance(self.plugin, PipelinePlugin) and self.plugin.stages > 1:
                for number, batch in enumerate(loader):
                    self.plugin.run(batch)
            else:
                for batch in loader:
                    loss = self.net(batch).mean()
                    loss.backward()
                    self.optimizer.step()
                    self.optimizer.zero_grad()
            if isinstance(self.plugin, (PipelinePlugin, DataParallelPlugin)):
                torch.save(self.net.state_dict(), "parallel.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plugin", default="ddp")
    args = parser.parse_args()
    if args.plugin == "ddp":
        plugin = DataParallelPlugin()
    elif args.plugin == "sharded":
        plugin = ShardedPlugin()
    else:
        plugin = PipelinePlugin(stages=2)
    other = PipelinePlugin(stages=1)
    trainer = NetTrainer(torch.nn.Linear(2, 1), plugin=plugin, epochs=3)
    trainer.fit([torch.ones(4, 2)] * 3)


if __name__ == "__main__":
    main()
"""
PLUGINS = """class Plugin:
    def run(self, batch):
        raise NotImplementedError


class DataParallelPlugin(Plugin):
    pass


class ShardedPlugin(Plugin):
    pass


class PipelinePlugin(Plugin):
    def __init__(self, stages):
        self.stages = stages

    def run(self, batch):
        return batch
"""


def _sheet(tmp_path: Path, command: str) -> str:
    files = {"train.py": TRAIN, "plugins.py": PLUGINS, "run.sh": f"python train.py --plugin {command}\n"}
    repository = map_depth.write(files, tmp_path)
    return expand_component(repository, "run", budget=900, scope="train.py", recipe="run.sh").text


def test_the_arm_of_a_class_that_the_settings_do_not_make_is_not_shown(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "sharded")
    assert "for batch in loader" in sheet
    assert "for number, batch" not in sheet
    assert 'off: train.py:31 torch.save(self.net.state_dict(), "parallel.pt") · plugin = sharded' in sheet


def test_the_arm_of_the_class_that_they_make_is_shown(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "pipeline")
    assert "for number, batch in enumerate(loader)" in sheet
    assert "torch.save(self.net.state_dict()" in sheet
    assert "off:" not in sheet
