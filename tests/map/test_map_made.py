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
        self.steps = 0
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit(self, *args, **kwargs):
        self.begin(*args, **kwargs)
        for epoch in range(self.epochs):
            if isinstance(self.plugin, PipelinePlugin) and self.plugin.stages > 1:
                for number, batch in enumerate(self.loader):
                    self.plugin.run(batch)
            else:
                for batch in self.loader:
                    loss = self.net(batch).mean()
                    loss.backward()
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    self.steps += 1
            if self.steps > 0 and self.steps % 500 == 0:
                self.keep(epoch)
            self.evaluate()
            if isinstance(self.plugin, (PipelinePlugin, DataParallelPlugin)):
                torch.save(self.net.state_dict(), "parallel.pt")

    def begin(self, loader, eval_loader):
        self.loader = loader
        self.eval_loader = eval_loader

    def keep(self, epoch):
        torch.save({"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}, f"epoch_{epoch}.pt")

    def evaluate(self):
        if self.eval_loader is None:
            return
        self.net.eval()
        for batch in self.eval_loader:
            print(self.net(batch).mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plugin", default="ddp")
    parser.add_argument("--eval_dataset", nargs="+", default=[])
    args = parser.parse_args()
    if args.plugin == "ddp":
        plugin = DataParallelPlugin()
    elif args.plugin == "sharded":
        plugin = ShardedPlugin()
    else:
        plugin = PipelinePlugin(stages=2)
    other = PipelinePlugin(stages=1)
    trainer = NetTrainer(torch.nn.Linear(2, 1), plugin=plugin, epochs=3)
    eval_loader = None
    if args.eval_dataset:
        eval_loader = torch.load(args.eval_dataset[0])
    trainer.fit(loader=[torch.ones(4, 2)] * 3, eval_loader=eval_loader)
    torch.save(trainer.net.state_dict(), "last.pt")


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
    assert "for batch in self.loader" in sheet
    assert "for number, batch" not in sheet
    assert "parallel.pt" not in sheet


def test_the_arm_of_the_class_that_they_make_is_shown(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "pipeline")
    assert "for number, batch in enumerate(self.loader)" in sheet
    assert "parallel.pt" in sheet


def test_the_sheet_says_what_each_save_stands_under_and_what_keeps_evaluation_from_running(tmp_path: Path) -> None:
    lines = _sheet(tmp_path, "sharded").splitlines()
    saves = [line for line in lines if "torch.save" in line]
    assert any(
        "each epoch that is due, after its batches" in line and "self.steps % 500 == 0" in line for line in saves
    ), saves
    assert any("last.pt" in line and "after training" in line for line in saves), saves
    assert any("off:" in line and "self.eval_loader" in line and "eval_dataset = []" in line for line in lines), lines
    assert any("plugin = ShardedPlugin()" in line and "args.plugin == 'sharded'" in line for line in lines), lines
