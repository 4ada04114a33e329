"""A script that makes its settings object at its top, in a folder of recipes: what it gives it is in force."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

SCRIPT = """from lib.configs import AudioConfig, SmallNetConfig
from lib.net import Net
from lib.fit import fit

audio_config = AudioConfig(rate=22050)
config = SmallNetConfig(
    audio=audio_config,
    batch_size=24,
    reduction=6,
    second_decoder=True,
    epochs=70,
)
model = Net(config)
fit(model, config)
"""
CONFIGS = """from dataclasses import dataclass


@dataclass
class AudioConfig:
    rate: int = 16000


@dataclass
class BaseConfig:
    batch_size: int = 32
    epochs: int = 5
    lr: float = 0.003


@dataclass
class NetConfig(BaseConfig):
    audio: AudioConfig = None
    model: str = "net"
    reduction: int = 2
    second_decoder: bool = False


@dataclass
class SmallNetConfig(NetConfig):
    model: str = "small-net"
"""
NET = """import torch


class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.name = config.model
        self.first = torch.nn.Linear(config.reduction, 1)
        if config.second_decoder:
            self.second = torch.nn.Linear(config.reduction, 1)

    def forward(self, rows):
        return self.first(rows)
"""
FIT = """import torch


def fit(model, config):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    for epoch in range(config.epochs):
        loss = model(torch.ones(config.batch_size, config.reduction)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
PATH = "recipes/small/train_small.py"
OTHER = "spare_config = SmallNetConfig(batch_size=48, reduction=8, second_decoder=False, epochs=90, lr=0.1)\n"
ALIKE = OTHER.replace("spare_config", "config")


def written(folder: Path, more: str = "") -> Path:
    script = SCRIPT.replace("model = Net", f"{more}model = Net")
    return map_depth.write({PATH: script, "lib/configs.py": CONFIGS, "lib/net.py": NET, "lib/fit.py": FIT}, folder)


def expand(repository: Path, what: str) -> str:
    return expand_component(repository, what, scope=PATH, recipe=f"python {PATH}", budget=1500).text


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("entry"))


def test_arguments_are_in_force_over_the_defaults_of_the_class_and_its_bases(repository: Path) -> None:
    text = expand(repository, "run")
    assert "batch_size=24" in text and "epochs=70" in text and "reduction=6" in text
    assert "batch_size=32" not in text and "epochs=5" not in text and "reduction=2" not in text
    assert "lr=0.003 default" in text  # left out


def test_a_feature_that_an_argument_switches_on_is_on(repository: Path) -> None:
    text = expand(repository, "open lib/net.py:5")
    assert "# off" not in text
    assert "config.reduction = 6" in text


def test_a_variable_of_the_script_is_no_setting_of_that_name(repository: Path) -> None:
    text = expand(repository, "open lib/net.py:5")
    assert "config.model = small-net" in text
    assert "model=Net(" not in expand(repository, "run")


@pytest.mark.parametrize("more", (OTHER, ALIKE))
def test_of_two_objects_of_a_class_neither_is_in_force(tmp_path: Path, more: str) -> None:
    text = expand(written(tmp_path, more), "open lib/net.py:5")
    assert "# off" not in text
    assert "config.reduction = " not in text
