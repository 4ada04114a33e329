"""A nested setting is read by a holder called nearly like its section where the one that names it runs in no reached code."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component, read_anatomy

SETTINGS = "optimizer_config:\n  lr: 1e-6\nsteps: 10\nfrozen_layers: []\n"
TRAIN = """import hydra
import torch


def make(model, HOLDER):
    return torch.optim.AdamW(model.parameters(), lr=HOLDER.lr)


@hydra.main(config_path="conf", config_name="run")
def main(cfg):
    model = torch.nn.Linear(2, 2)
    for name in cfg.frozen_layers:
        getattr(model, name).requires_grad_(False)
    optimizer = make(model, cfg.optimizer_config)
    for _ in range(cfg.steps):
        loss = model(torch.ones(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
OTHER = "def show(cfg):\n    print(cfg.optimizer_config.lr)\n"


def lines(root: Path, holder: str) -> list[int]:
    files = {"train.py": TRAIN.replace("HOLDER", holder), "conf/run.yaml": SETTINGS, "other.py": OTHER}
    map_depth.write(files, root)
    truth = read_anatomy(root, None, "python train.py optimizer_config.lr=2e-5", 2000).truth
    assert truth is not None
    key = next(one for one in truth.keys if one.name == "optimizer_config.lr")
    return [use.line for use in key.reads if use.path == "train.py"]


@pytest.mark.parametrize("holder", ["optim_config", "optimizer_cfg"])
def test_a_holder_called_nearly_like_the_section(tmp_path: Path, holder: str) -> None:
    assert lines(tmp_path, holder) == [6]


@pytest.mark.parametrize("holder", ["cfg", "model_config", "optimizer"])
def test_any_other_holder_is_none(tmp_path: Path, holder: str) -> None:
    assert lines(tmp_path, holder) == []


def test_an_empty_list_of_a_file_is_a_setting(tmp_path: Path) -> None:
    lines(tmp_path, "optimizer")
    text = expand_component(tmp_path, "run", recipe="python train.py", budget=2000).text
    assert "frozen_layers=[] " in next(line for line in text.splitlines() if "requires_grad_" in line)
