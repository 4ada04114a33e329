"""What the runtime tells of a program's parts: odd data sets, factories, losses of one's own, configurations."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth.launcher import Run
from trainsleuth.map import draw, read_anatomy
from trainsleuth.observing import SHARE, observation
from trainsleuth.observing.joining import differences, joined
from trainsleuth.observing.records import Seen
from trainsleuth.observing.seeing import files, parts, settings
from trainsleuth.observing.telling import lines
from trainsleuth.trace import Trace
from twins import HERE, copied

EXPERIMENT = {"listeners": ["trace", "losses", "components"], "steps": 2}


def told(host: Host, folder: Path, text: str) -> Trace:
    """The events of a program; no listener may have fallen silent."""
    program = folder / "train.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, EXPERIMENT)
    assert trace.hooks_missing == {} and trace.steps == 2, ended
    return trace


def of(trace: Trace, component: str, role: str) -> list[Seen]:
    return [one for one in parts(trace) if (one.component, one.role) == (component, role)]


def line(text: str, words: str) -> int:
    return next(number for number, one in enumerate(text.split("\n"), 1) if words in one)


DATA = """\
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset


class Rows(Dataset):
    def __init__(self):
        self.dataset = torch.randn(40, 4)  # a tensor under a name that wrappers use

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, place):
        return {"x": self.dataset[place], "keep": self.dataset[place] > 0, "z": torch.complex(*self.dataset[place][:2])}


class Loader(DataLoader):
    def __init__(self, data, **given):
        super().__init__(data, collate_fn=gather, **given)


def gather(rows):
    return torch.utils.data.default_collate(rows)


class Scale(nn.Module):
    def forward(self, inputs):
        return inputs / 2


def make(kind, *given, **named):
    return kind(*given, **named)


@torch.no_grad()
def validate():
    net.eval()
    for batch in held_out:
        net(batch["x"])
    net.train()


whole = ConcatDataset([Rows(), Rows()])
loader = make(Loader, Subset(whole, range(60)), batch_size=8)  # train loader
held_out = DataLoader(Rows(), batch_size=20)
net, scale = nn.Linear(4, 1), Scale()
opt = make(torch.optim.Adam, net.parameters(), lr=0.01)


class Warm(torch.optim.lr_scheduler.LRScheduler):
    def get_lr(self):
        return [0.01]


schedule = Warm(opt)
validate()
for epoch in range(3):
    for batch in loader:
        loss = (net(scale(batch["x"])) - 1).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    schedule.step()
"""


def test_loaders_data_sets_and_what_factories_made(host: Host, tmp_path: Path) -> None:
    trace = told(host, tmp_path, DATA)
    (data,) = of(trace, "data", "dataset")
    assert data.name.endswith("Subset") and data.facts["examples"] == 60
    assert data.facts["holds"] == ["ConcatDataset", f"Rows (train.py:{line(DATA, 'class Rows')})"]
    (loader,) = of(trace, "data", "loader")
    assert (loader.name, loader.line) == ("Loader", line(DATA, "return kind("))
    assert loader.facts["via"][0] == f"train.py:{line(DATA, '# train loader')}"
    assert loader.facts["collate"] == f"gather (train.py:{line(DATA, 'def gather')})"
    assert [one.line for one in of(trace, "data", "loader class")] == [line(DATA, "class Loader")]
    (batch,) = of(trace, "data", "batch")
    assert [(one["name"], one["dtype"], one["shape"]) for one in batch.facts["tensors"]] == [
        ("x", "float32", [8, 4]),
        ("keep", "bool", [8, 4]),
        ("z", "complex64", [8]),
    ]
    (validation,) = of(trace, "evaluation", "loader")
    assert validation.line == line(DATA, "held_out = ") and validation.facts["batch_size"] == 20
    seen = observation(Run(("python", "train.py"), "", tmp_path, "stopped", "", events=trace.told))
    assert seen.order.startswith("batch > forward > zero_grad > backward > step (")
    (evaluates,) = of(trace, "evaluation", "evaluation call")
    assert evaluates.line == line(DATA, 'net(batch["x"])')


def test_transforms_are_no_models_and_own_classes_are_found(host: Host, tmp_path: Path) -> None:
    trace = told(host, tmp_path, DATA)
    assert [one.name for one in of(trace, "model", "class")] == ["torch.nn.modules.linear.Linear"]
    (loss,) = of(trace, "loss", "loss")
    assert (loss.name, loss.line) == ("written by hand (MeanBackward0)", line(DATA, "loss = (net"))
    (schedule,) = of(trace, "optimizer_scheduler", "scheduler")
    assert (schedule.name, schedule.line) == ("Warm", line(DATA, "schedule = Warm"))
    (optimizer,) = of(trace, "optimizer_scheduler", "optimizer")
    assert optimizer.line == line(DATA, "return kind(") and optimizer.facts["groups"][0]["lr"] == 0.01


CONFIGURED = """\
import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import torch

import hyper as hp

torch.manual_seed(0)
WIDTH = 4


@dataclass
class Options:
    rate: float = 0.5
    layers: list = field(default_factory=lambda: [1, 2])
    net: object = None


class Settings:
    def __init__(self, values):
        self._values = values

    @property
    def broken(self):
        raise RuntimeError("not yet")


class Trainer:
    def __init__(self, args, options, config):
        self.args, self.options, self.config = args, options, config
        self.opt = torch.optim.SGD(options.net.parameters(), lr=options.rate)
        self.opts = {"momentum": 0.9, "hook": print, "nested": {"clip": 1.0, "ids": list(range(50))}}

    def fit(self):
        for _ in range(3):
            loss = self.options.net(torch.ones(2, WIDTH)).square().mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


net = torch.nn.Linear(WIDTH, 1)
read = json.loads(Path(__file__).with_name("run.json").read_text())
args = argparse.Namespace(lr=0.1, wandb_api_key="hunter2", private_key="hunter2", max_tokens=7, tokenizer="bpe")
Trainer(args, Options(net=net), Settings(read)).fit()
"""


def test_configurations_are_told_without_secrets(host: Host, tmp_path: Path) -> None:
    (tmp_path / "hyper.py").write_text("depth = 3\n_hidden = 1\n")
    (tmp_path / "run.json").write_text('{"arch": {"type": "Net", "args": {"size": 8}}}')
    trace = told(host, tmp_path, CONFIGURED)
    told_once = [one for one in settings(trace) if one.path == "train.py"]
    held = {one.name: one.values for one in told_once}
    assert held["self.options"] == {"rate": 0.5, "layers": [1, 2]}
    hidden = {"wandb_api_key": "<hidden>", "private_key": "<hidden>"}
    assert held["self.args"] == {"lr": 0.1, **hidden, "max_tokens": 7, "tokenizer": "bpe"}
    assert held["self.config"]["_values.arch.args.size"] == 8
    assert held["self.opts"] == {"momentum": 0.9, "nested.clip": 1.0}
    assert held["hp"]["depth"] == 3
    assert held["constants of __main__"] == {"WIDTH": 4}
    assert "self.opt" not in held  # an optimizer is no configuration
    assert len(told_once) == len(held) == 6  # each object once, by the name nearest to the step
    assert files(trace) == ("run.json",)
    assert "hunter2" not in str(trace.told)


KEPT = """\
import torch

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
torch.save({"net": net.state_dict(), "epoch": 3}, "last.pt")
net.load_state_dict(torch.load("last.pt")["net"])


class Margin(torch.nn.Module):
    def forward(self, guess, target):
        return torch.nn.functional.relu(1 - guess * target).mean()


margin = Margin()
for _ in range(3):
    loss = margin(net(torch.ones(2, 2)), torch.ones(2, 1)) + 0.1 * net.weight.norm()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_losses_of_ones_own_and_checkpoints(host: Host, tmp_path: Path) -> None:
    trace = told(host, tmp_path, KEPT.replace('"last.pt"', repr(str(tmp_path / "last.pt"))))
    (loss,) = of(trace, "loss", "loss")
    assert (loss.name, loss.line) == ("Margin", line(KEPT, "loss = margin"))
    assert [one.line for one in of(trace, "loss", "class")] == [line(KEPT, "class Margin")]
    assert [one.line for one in of(trace, "loss", "sum")] == [line(KEPT, "loss = margin")]
    (saved,) = of(trace, "checkpointing", "saved by torch")
    assert saved.facts["keys"] == ["net", "epoch"] and saved.line == line(KEPT, "torch.save")
    assert [one.line for one in of(trace, "checkpointing", "loaded by torch")] == [line(KEPT, "torch.load")]


def test_a_registry_is_followed_to_what_runs(host: Host, tmp_path: Path) -> None:
    """What reading found through the recipe agrees with what ran: nothing is said to differ, at any budget."""
    root = copied(HERE / "runs" / "softmax_tail" / "healthy", tmp_path)
    trace, _ = host.run(root / "train.py", root, EXPERIMENT)
    seen = observation(Run(("python", "train.py"), "", root, "stopped", "", events=trace.told))
    anatomy = read_anatomy(root)
    assert seen.files == ("config.json",) and list(differences(anatomy, seen)) == []
    (optimizer,) = seen.of("optimizer_scheduler", "optimizer")
    assert optimizer.path == "registry.py" and optimizer.facts["via"][0].startswith("train.py:")
    for budget in (200, 300, 500, 1000, 2000):
        drawn = draw(joined(anatomy, seen), budget, lines(seen, [], int(budget * 4 * SHARE)))
        assert len(drawn.text) <= 4 * budget, budget
    assert [one.name for one in seen.of("model", "class")] == ["SmallUNet"] and " [ran] class SmallUNet" in drawn.text
