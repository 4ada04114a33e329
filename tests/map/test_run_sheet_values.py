"""The run on one sheet, where code and launch scripts decide: what is idle, off, worked out, put together, launched."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import argparse
import math

import torch

from lib.data import make_loader
from lib.optim import REGISTRY, optimizer_settings


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opt", default="sgd")
    parser.add_argument("--lr", type=float, default=None)
    parser.add_argument("--base-lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--amp-dtype", default="float16")
    parser.add_argument("--dataset", default="")
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--mixup", type=float, default=0.0)
    parser.add_argument("--mixup-prob", type=float, default=0.5)
    parser.add_argument("--teacher", default=None)
    parser.add_argument("--teacher-loss-weight", type=float, default=0.25)
    return parser.parse_args()


class Smoothed(torch.nn.Module):
    def forward(self, logits, target):
        return logits.log_softmax(-1).mean()


def validate(net, loader, loss_fn):
    for batch, target in loader:
        loss = loss_fn(net(batch), target)
    return loss


def main():
    args = parse()
    loader = make_loader(args.dataset)
    net = torch.nn.Linear(4, 2)
    mixing = args.mixup > 0
    if mixing:
        train_loss_fn = torch.nn.KLDivLoss(args.mixup_prob)
    elif args.smoothing:
        train_loss_fn = Smoothed()
    else:
        train_loss_fn = torch.nn.CrossEntropyLoss()
    train_loss_fn = train_loss_fn.to("cpu")
    val_loss_fn = torch.nn.CrossEntropyLoss().to("cpu")
    if args.teacher is not None:
        teacher_loss_weight = args.teacher_loss_weight
    if not args.lr:
        args.lr = args.base_lr * len(loader)
    optimizer = REGISTRY.create(net.parameters(), **optimizer_settings(args))
    total_steps = args.epochs * math.ceil(len(loader) / 2)
    scaler = torch.amp.GradScaler(enabled=args.amp)
    for epoch in range(args.epochs):
        num_steps = epoch * len(loader)
        for batch, target in loader:
            with torch.autocast("cuda", enabled=args.amp, dtype=getattr(torch, args.amp_dtype)):
                loss = train_loss_fn(net(batch), target)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        validate(net, loader, val_loss_fn)


if __name__ == "__main__":
    main()
"""
OPTIM = """import torch


class Info:
    def __init__(self, name, opt_class, defaults=None):
        self.name, self.opt_class, self.defaults = name, opt_class, defaults or {}


class AdamQ(torch.optim.Adam):
    pass


class Registry:
    def __init__(self):
        self.known = {}

    def add(self, info):
        self.known[info.name] = info

    def create(self, params, opt, lr, momentum):
        info = self.known[opt]
        return info.opt_class(params, lr=lr, **info.defaults)


REGISTRY = Registry()
for one in [
    Info(name="sgd", opt_class=torch.optim.SGD),
    Info(name="adamq", opt_class=AdamQ, defaults={"eps": 0.5}),
]:
    REGISTRY.add(one)


def optimizer_settings(args):
    return {"opt": args.opt, "lr": args.lr, "momentum": args.momentum}
"""
DATA = """import torch
from torchvision import transforms


class Folder(torch.utils.data.Dataset):
    def __init__(self, change):
        self.change = change


class Remote(torch.utils.data.Dataset):
    def __init__(self, change):
        self.change = change


def train_transform(flip=0.5):
    steps = [transforms.Resize(32)]
    steps.append(transforms.RandomCrop(24))
    if flip > 0:
        steps += [transforms.RandomHorizontalFlip(flip)]
    return transforms.Compose(steps)


def val_transform():
    return transforms.Compose([transforms.Resize(24), transforms.CenterCrop(24), transforms.ToTensor(), Blur()])


def make_loader(name):
    name = name.lower()
    if name.startswith("hub/"):
        dataset = Remote(train_transform())
    else:
        dataset = Folder(train_transform())
    return torch.utils.data.DataLoader(dataset, batch_size=8)
"""
FILES = {
    "train.py": TRAIN,
    "lib/__init__.py": "",
    "lib/optim.py": OPTIM,
    "lib/data.py": DATA,
    "launch.sh": '#!/bin/bash\nCOUNT=$1\nshift\ntorchrun --nproc_per_node=$COUNT train.py "$@"\n',
}
COMMAND = "./launch.sh 4 --opt adamq --lr 0.3 --amp"


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = map_depth.write(FILES, tmp_path_factory.mktemp("values"))
    return expand_component(root, "run", scope="train.py", recipe=COMMAND, budget=6000).text


def test_what_a_script_starts_gets_its_arguments_behind_a_shift_and_tells_its_processes(sheet: str) -> None:
    assert "nproc_per_node=4 the command" in sheet
    assert "lr=0.3" in sheet and "data=4" not in sheet


def test_a_name_is_told_with_the_record_that_code_has_of_it(sheet: str) -> None:
    assert "opt=adamq the command (Info opt_class=AdamQ, defaults={'eps': 0.5} optim.py:28)" in sheet


def test_a_default_that_only_idle_code_reads_is_not_told(sheet: str) -> None:
    assert not any(f"{name}=" in sheet for name in ("base_lr", "mixup_prob", "teacher_loss_weight"))
    assert "mixup=0.0" in sheet and "smoothing=0.1" in sheet


def test_a_weak_word_counts_where_code_of_the_topic_reads_it(sheet: str) -> None:
    optimizer = sheet[sheet.index("# optimizer") : sheet.index("# length")]
    assert "momentum=0.9 default" in optimizer
    assert "amp_dtype=float16 default" in sheet


def test_the_loss_is_what_the_settings_leave_and_not_that_of_validation(sheet: str) -> None:
    loss = sheet[sheet.index("# loss") : sheet.index("# model") if "# model" in sheet else None]
    assert "train_loss_fn = Smoothed() · when args.smoothing" in loss
    assert not any(one in loss for one in ("KLDivLoss", ".to(", "val_loss_fn", "loss = loss_fn("))


def test_an_arm_for_a_text_that_an_empty_one_does_not_begin_with_is_not_told(sheet: str) -> None:
    assert "dataset = Folder(" in sheet and "dataset = Remote(" not in sheet


def test_transforms_that_code_puts_into_a_list_are_told_in_order_but_not_those_of_validation(sheet: str) -> None:
    first = "in code data.py:16 transforms.Resize(32) · :17 transforms.RandomCrop(24)"
    assert f"{first} · :19 transforms.RandomHorizontalFlip(flip) if flip > 0" in sheet
    assert "CenterCrop" not in sheet


def test_a_number_of_steps_that_code_works_out_is_told_and_a_count_is_not(sheet: str) -> None:
    assert "computed: train.py:57 total_steps = args.epochs * math.ceil(len(loader) / 2)" in sheet
    assert "num_steps =" not in sheet


SETTINGS = """from dataclasses import dataclass, field
from typing import Dict, Optional


@dataclass
class MixedConfig:
    enable: bool = field(default=True)
    param_dtype: str = field(default="bfloat16")


@dataclass
class ShardConfig:
    mixed_precision: MixedConfig = field(default_factory=MixedConfig)


@dataclass
class AcceleratorConfig:
    shard_config: ShardConfig = field(default_factory=ShardConfig)


@dataclass
class WandbConfig:
    enable: bool = field(default=False)
    project: str = field(default="runs")


@dataclass
class RecomputeConfig:
    enable: bool = field(default=False)


@dataclass
class TrainArguments:
    lr: float = field(default=1e-3)
    epochs: int = field(default=1)
    accelerator: AcceleratorConfig = field(default_factory=AcceleratorConfig)
    wandb: WandbConfig = field(default_factory=WandbConfig)
    gradient_checkpointing: RecomputeConfig = field(default_factory=RecomputeConfig)


@dataclass
class ModelArguments:
    width: int = field(default=4)
    lora_config: Optional[Dict] = field(default_factory=dict)


@dataclass
class Arguments:
    model: ModelArguments = field(default_factory=ModelArguments)
    train: TrainArguments = field(default_factory=TrainArguments)


def parse_args(root):
    import sys

    import yaml

    return root(**yaml.safe_load(open(sys.argv[1])))
"""
TRAINER = """import torch


class LoraNet(torch.nn.Module):
    def __init__(self, inner, config):
        super().__init__()
        self.inner = inner
        for parameter in inner.parameters():
            parameter.requires_grad = False

    def forward(self, batch):
        return self.inner(batch)


class BaseTrainer:
    def __init__(self, args):
        self.args = args
        self.surely_not_run()

    def build(self):
        self.net = torch.nn.Linear(self.args.model.width, 2)
        self.add_lora()
        if self.args.train.gradient_checkpointing.enable:
            self.net.gradient_checkpointing_enable()
        if self.args.train.accelerator.shard_config.mixed_precision.enable:
            self.dtype = getattr(torch, self.args.train.accelerator.shard_config.mixed_precision.param_dtype)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=self.args.train.lr)

    def add_lora(self):
        lora_config = self.args.model.lora_config
        if not bool(lora_config):
            return
        self.net = LoraNet(self.net, lora_config)

    def loss_of(self, batch):
        loss = torch.nn.functional.mse_loss(self.net(batch), batch)
        return loss

    def log(self, loss):
        if self.args.train.wandb.enable:
            import wandb

            wandb.log({"loss": loss})

    def step(self, batch):
        loss = self.loss_of(batch)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.log(loss)


class RewardTrainer(BaseTrainer):
    def loss_of(self, batch):
        loss = torch.nn.functional.cross_entropy(self.net(batch), batch)
        return loss


class TextTrainer:
    base: BaseTrainer

    def __init__(self, args):
        self.base = BaseTrainer.__new__(BaseTrainer)
        self.base.args = args
        self.base.build()

    def train(self, batches):
        for epoch in range(self.base.args.train.epochs):
            for batch in batches:
                self.base.step(batch)
"""
SECTIONS = {
    "train.py": "import torch\nfrom lib.settings import Arguments, parse_args\nfrom lib.trainer import TextTrainer\n\n\n"
    'if __name__ == "__main__":\n    args = parse_args(Arguments)\n'
    "    TextTrainer(args).train([torch.ones(2, 4)])\n",
    "lib/__init__.py": "",
    "lib/settings.py": SETTINGS,
    "lib/trainer.py": TRAINER,
    "run.yaml": "train:\n  lr: 0.2\n  wandb:\n    project: mine\n  gradient_checkpointing:\n    enable: true\n"
    "  accelerator:\n    shard_config:\n      mixed_precision:\n        enable: true\n",
}


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write(SECTIONS, tmp_path_factory.mktemp("sections"))


def asked(root: Path, what: str) -> str:
    return expand_component(root, what, scope="train.py", recipe="run.yaml", budget=6000).text


def test_a_switch_is_told_with_its_section_and_a_section_that_is_off_by_default_only_so(sections: Path) -> None:
    sheet = asked(sections, "run")
    assert "mixed_precision.enable=true run.yaml:10, param_dtype=bfloat16 default" in sheet
    assert "# memory\n  gradient_checkpointing.enable=true" in sheet
    assert "wandb.enable=False default" in sheet
    assert "project=mine" not in sheet


def test_what_an_empty_section_returns_from_is_not_told(sections: Path) -> None:
    sheet = asked(sections, "run")
    assert "requires_grad" not in sheet and "LoraNet" not in sheet


def test_only_the_class_that_is_made_runs_its_methods(sections: Path) -> None:
    sheet = asked(sections, "run")
    assert "mse_loss" in sheet and "cross_entropy" not in sheet


CODEC = {
    **map_depth.BASES,
    "nets/codecs.py": "from mmengine.registry import CODECS\n\n\n@CODECS.register_module()\nclass Blurred:\n"
    "    def __init__(self, sigma, cut=3):\n        self.sigma, self.cut = sigma, cut\n\n"
    "    def encode(self, points):\n        blurred_target = points / self.sigma\n        return blurred_target\n\n\n"
    "@CODECS.register_module()\nclass Sharp:\n    def encode(self, points):\n        return points\n",
    "nets/stages.py": "from mmengine.registry import CODECS, TRANSFORMS\n\n\n@TRANSFORMS.register_module()\nclass Target:\n"
    "    def __init__(self, encoder):\n        self.encoder = CODECS.build(encoder)\n\n"
    "    def transform(self, results):\n        results['target'] = self.encoder.encode(results['points'])\n        return results\n",
    "configs/head.py": "_base_ = ['./_base_/schedule.py']\ncodec = dict(type='Blurred', sigma=2)\n"
    "train_pipeline = [dict(type='Target', encoder=codec), dict(type='Target', encoder=codec)]\n"
    "model = dict(head=dict(type='Head', width=7))\n",
}


def test_what_a_name_in_a_recipe_stands_for_is_called_and_told(tmp_path: Path) -> None:
    root = map_depth.write(CODEC, tmp_path)
    sheet = expand_component(root, "run", scope="tools/train.py", recipe="configs/head.py", budget=6000).text
    assert "Blurred codecs.py:5 by type A:2: sigma=2 :2; default cut=3" in sheet
    asked = expand_component(root, "ask how is the target encoded", scope="tools/train.py", recipe="configs/head.py")
    assert "codecs.py Blurred.encode :9" in asked.text
    assert "Sharp" not in asked.text


STATES = {
    "train.py": """import json

import torch


def groups(net):
    decay, no_decay = [], []
    for name, parameter in net.named_parameters():
        if parameter.ndim <= 1 or name.endswith(".bias"):
            no_decay.append(parameter)
        else:
            decay.append(parameter)
    return [{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}]


class Saver:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.extension = ".pth"

    def save(self, epoch, best):
        state = {"epoch": epoch, "optimizer": self.optimizer.state_dict(), "extra": {"rng": torch.get_rng_state()}}
        state["model"] = self.net.state_dict()
        if best:
            torch.save(state, "best" + self.extension)
        json.dump({"epoch": epoch, "model": "Linear"}, open("about.json", "w"))


def main():
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(groups(net))
    saver = Saver(net, optimizer)
    for epoch in range(3):
        for batch in torch.ones(5, 2, 4):
            loss = net(batch).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if batch.ndim <= 1:
                continue
        saver.save(epoch, True)


main()
"""
}


def test_what_a_checkpoint_holds_its_file_and_what_has_no_decay_are_told(tmp_path: Path) -> None:
    sheet = expand_component(map_depth.write(STATES, tmp_path), "run", budget=6000).text
    assert "a checkpoint holds epoch, optimizer, extra (rng), model train.py:25" in sheet
    assert "files: best.pth train.py:25" in sheet
    assert 'without decay: train.py:9 if parameter.ndim <= 1 or name.endswith(".bias"): · in groups()' in sheet
    assert sheet.count("without decay") == 1 and sheet.count("a checkpoint holds") == 1


def test_a_group_with_a_decay_of_its_own_is_not_one_without(tmp_path: Path) -> None:
    made = (
        "plain = [one for name, one in net.named_parameters() if not 'bn' in name]\n"
        "norms = [one for name, one in net.named_parameters() if 'bn' in name]\n"
        "opt = torch.optim.SGD([{'params': plain, 'weight_decay': 0.0001}, {'params': norms}], lr=0.1)\n"
    )
    text = f"import torch\n\nnet = torch.nn.Linear(2, 1)\n{made}{map_depth.STEP}"
    sheet = expand_component(map_depth.write({"train.py": text}, tmp_path), "run").text
    assert sheet.count("without decay: ") == 1 and "without decay: train.py:5 norms" in sheet


def test_what_is_called_decayed_is_not_told_as_without(tmp_path: Path) -> None:
    made = (
        "decay_params = [one for one in net.parameters() if one.dim() >= 2]\n"
        "nodecay_params = [one for one in net.parameters() if one.dim() < 2]\n"
        "groups = [{'params': nodecay_params, 'weight_decay': 0.0}, dict(params=decay_params, weight_decay=0.1)]\n"
        "opt = torch.optim.SGD(groups, lr=0.1)\n"
    )
    text = f"import torch\n\nnet = torch.nn.Linear(2, 1)\n{made}{map_depth.STEP}"
    sheet = expand_component(map_depth.write({"train.py": text}, tmp_path), "run").text
    assert sheet.count("without decay: ") == 1 and "without decay: train.py:5 nodecay_params" in sheet
