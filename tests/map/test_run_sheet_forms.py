"""The run on one sheet where a trainer of one file trains, validates and saves by forms of its own."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import argparse
import re

import torch
import yaml
from keepers import EMACheckpoint, ModelCheckpoint
from solver import Solver


def load_config(path):
    return yaml.safe_load(open(path))


def main(cfg):
    cfg["train"]["num_gpus"] = len(visible())
    if cfg["train"]["recompute"] and cfg["train"]["num_gpus"] > 1:
        cfg["train"]["recompute"] = False
    if cfg["train"]["precision"] == "bf16":
        precision = "bf16-mixed"
    elif cfg["train"]["precision"] == "fp16":
        precision = "16-mixed"
    strategy = "auto"
    if len(visible()) > 1:
        strategy = "ddp"
    net = torch.nn.Linear(2, 2)
    groups = [
        {"params": [p for n, p in net.named_parameters() if not re.match(".*bias", n)], "lr": cfg["train"]["lr"]},
        {"params": [p for n, p in net.named_parameters() if re.match(".*bias", n)], "weight_decay": 0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=cfg["train"]["lr"])
    if cfg["train"]["ema"]:
        kept = EMACheckpoint
    else:
        kept = ModelCheckpoint
    checkpointer = kept(every_n_epochs=1, folder=cfg["results"]["folder"], and_more_of_the_same=True, filename="net_{epoch:03d}", save_top_k=-1)
    fabric = Fabric(
        devices=visible(),
        precision=precision,
        strategy=strategy,
    )
    train_loader = torch.utils.data.DataLoader(cfg["data"]["images"], batch_size=cfg["data"]["batch_size"], num_workers=8, drop_last=True)
    val_loader = torch.utils.data.DataLoader(cfg["data"]["images"], batch_size=1)
    Solver(cfg, net, optimizer, checkpointer).train(train_loader, val_loader)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    main(load_config(parser.parse_args().config))
"""
SOLVER = """import torch


class Solver:
    def __init__(self, cfg, net, optimizer, keeper):
        self.cfg, self.net, self.optimizer, self.keeper = cfg, net, optimizer, keeper
        self.accu_count = 0
        if cfg.results.keep and cfg.train.lr > net.most:
            cfg.results.keep = False

    def train(self, train_loader, val_loader):
        for epoch in range(self.cfg["train"]["epochs"]):
            self.net.train()
            self.one_epoch(train_loader)
            self.net.eval()
            with torch.no_grad():
                loss = self.one_epoch(val_loader, state="val")
            self.validation_end(loss)

    def one_epoch(self, loader, state="train", scale=1.0):
        total = 0.0
        for batch in loader:
            if self.cfg["train"]["ema"] and state == "never":
                scale = 8.0
            loss = self.net(batch).mean() * scale
            if state == "train":
                loss.backward()
                self.accu_count += 1
                if self.accu_count == self.cfg["train"]["rounds"]:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    self.accu_count = 0
            total += loss.detach()
        return total

    def validation_end(self, loss):
        self.log("val_loss", loss)

    def load_checkpoint(self, path):
        state = torch.load(path)
        self.net.set_rate(state["train"]["lr"])
"""
RECIPE = """network: SmallNet
train:
  num_gpus: 1
  recompute: true
  precision: bf16
  epochs: 3
  lr: 0.1
  rounds: 4
  ema: true
data:
  images: "???"
  labels: "???"
  batch_size: 4
results:
  folder: out
  keep: true
"""
FILES = {
    "train/train.py": TRAIN,
    "train/solver.py": SOLVER,
    "train/keepers.py": "class ModelCheckpoint:\n    pass\n\n\nclass EMACheckpoint(ModelCheckpoint):\n    pass\n",
    "train/recipe.yaml": RECIPE,
    "train/run.sh": "gpus=4,6\nCUDA_VISIBLE_DEVICES=$gpus torchrun --nproc_per_node=2 train.py --config recipe.yaml\n",
    "shown/models.py": "import torch\n\n\nclass SmallNet(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write(FILES, tmp_path_factory.mktemp("forms"))


@pytest.fixture(scope="module")
def sheet(root: Path) -> str:
    return expand_component(root, "run", scope="train/train.py", recipe="train/recipe.yaml", budget=6000).text


@pytest.fixture(scope="module")
def narrow(root: Path) -> str:
    """Without room for whole statements."""
    return expand_component(root, "run", scope="train/train.py", recipe="train/recipe.yaml", budget=500).text


def test_a_setting_that_code_writes_anew_is_told_with_what_it_becomes(sheet: str) -> None:
    assert "num_gpus=1 A:3 (may become len(visible()) train.py:15)" in sheet
    assert "keep=true :16 (may become False solver.py:9 when (results.keep and train.lr > net.most))" in sheet
    assert "recompute=true" in sheet and "(may become False" in sheet


def test_words_that_a_name_may_hold_are_told_but_not_those_of_branches_that_are_not_taken(sheet: str) -> None:
    assert "precision: bf16-mixed (:19)" in sheet and "16-mixed (:21)" not in sheet
    assert "strategy: auto (:22) or ddp (:24)" in sheet


def test_a_namesake_that_the_program_does_not_load_is_not_its_network(sheet: str) -> None:
    assert "models.py" not in sheet


def test_a_keeper_that_stands_for_one_of_two_classes_saves_and_names_its_files(sheet: str, narrow: str) -> None:
    assert "files: net_{epoch:03d}" in sheet
    assert 'checkpointer = kept(every_n_epochs=1, …, filename="net_{epoch:03d}", save_top_k=-1)' in narrow
    assert 'and_more_of_the_same=True, filename="net_{epoch:03d}", save_top_k=-1)' in sheet


def test_what_a_group_without_decay_holds_is_told(sheet: str) -> None:
    assert "without decay: " in sheet and "if re.match('.*bias', n)] · in main()" in sheet


def test_a_pass_over_held_out_data_is_evaluation_whatever_it_is_called(sheet: str) -> None:
    told = sheet[sheet.index("# evaluated") :]
    assert 'loss = self.one_epoch(val_loader, state="val") · each epoch' in told
    assert "told as val_loss" in told


def test_a_step_that_waits_for_a_count_accumulates(sheet: str) -> None:
    assert "accumulation" not in sheet[sheet.find("nothing found") :].partition("\n")[0]
    assert 'if self.accu_count == self.cfg["train"]["rounds"]:' in sheet


def test_arguments_that_are_asked_for_are_told_of_a_long_call(sheet: str, narrow: str) -> None:
    assert "DataLoader(…, drop_last=True)" in narrow
    assert "num_workers=8, drop_last=True)" in sheet


def test_values_that_the_recipe_leaves_open_stand_together(sheet: str) -> None:
    assert "to be given: data.images " in sheet and ", .labels :" in sheet


def test_the_devices_of_a_launch_script_are_told(root: Path) -> None:
    sheet = expand_component(root, "run", scope="train/train.py", recipe="train/run.sh", budget=3000).text
    assert "CUDA_VISIBLE_DEVICES=4,6 the command" in sheet and "nproc_per_node=2" in sheet


def test_what_a_checkpoint_holds_is_no_setting_and_what_may_be_assigned_anew_is_no_default(root: Path) -> None:
    asked = ("ask load_checkpoint set_rate lr of the state", "ask scale of the loss in one_epoch")
    told = [
        expand_component(root, one, scope="train/train.py", recipe="train/recipe.yaml", budget=500).text
        for one in asked
    ]
    assert 'set_rate(state["train"]["lr"])' in told[0] and "state.train.lr =" not in told[0]
    assert "* scale" in told[1] and "scale = 8.0 (" not in told[1] and "scale = 1.0 (" not in told[1]


LIGHTNING = """import pytorch_lightning as pl
import torch


class Wrapped(torch.optim.Optimizer):
    def __init__(self, optimizer, decay):
        self.optimizer = optimizer


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 1)

    def training_step(self, batch, index):
        return self.inner(batch).mean()

    def validation_step(self, batch, index):
        self.log("val_score", self.inner(batch).mean())

    def predict_step(self, batch, index):
        return self.inner(batch)

    def test_step(self, batch, index):
        return self.inner(batch).mean()

    def configure_optimizers(self):
        if self.trainer.kind == "adam":
            optimizer = torch.optim.Adam(self.parameters(), lr=0.1)
        return Wrapped(optimizer, decay=eval("0.9"))


if __name__ == "__main__":
    pl.Trainer(max_epochs=3).fit(Net(), torch.utils.data.DataLoader(torch.ones(4, 2)))
"""


def test_what_a_framework_runs_only_for_other_commands_is_not_told_of_training(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": LIGHTNING}, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe="python train.py", budget=2000).text
    assert "def predict_step" not in sheet and "def test_step" not in sheet
    assert "told as val_score" in sheet
    evaluated = sheet[sheet.index("# evaluated") :].partition("\n#")[0]
    assert "eval(" not in evaluated.replace(".eval()", "")


def test_the_optimizer_is_told_before_what_wraps_it(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": LIGHTNING}, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe="python train.py", budget=2000).text
    first = sheet[sheet.index("# optimizer") :].split("\n")[1]
    assert "optimizer = torch.optim.Adam(self.parameters(), lr=0.1)" in first
