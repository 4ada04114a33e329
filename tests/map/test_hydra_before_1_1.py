"""Before Hydra 1.1 the groups of a defaults list override the file that names them, whatever place they have in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import read_anatomy

FILES = {
    "train.py": """import hydra
import torch


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.optim.lr)
    for step in range(cfg.steps):
        opt.zero_grad()
        net(torch.ones(cfg.env.batch, 2)).sum().backward()
        opt.step()


if __name__ == "__main__":
    main()
""",
    "conf/config.yaml": "steps: 5\nenv:\n  batch: 1\n  name: none\noptim:\n  lr: 0.1\n"
    "defaults:\n  - env: small\n  - optim: sgd\n",
    "conf/env/small.yaml": "# @package _global_\nsteps: 7\nenv:\n  batch: 2\n",
    "conf/env/large.yaml": "# @package _global_\nsteps: 9\nenv:\n  batch: 4\n",
    "conf/optim/sgd.yaml": "# @package _group_\nlr: 0.3\n",
    "conf/optim/plain.yaml": "optim:\n  lr: 0.7\n",
}
OLD, NEW = {"requirements.txt": "torch\nhydra-core==1.0.6\n"}, {"requirements.txt": "hydra-core==1.1.1\n"}
FIRST = {"conf/config.yaml": FILES["conf/config.yaml"].replace("defaults:\n", "defaults:\n  - _self_\n")}
LAST = {"conf/config.yaml": FILES["conf/config.yaml"] + "  - _self_\n"}


@pytest.mark.parametrize(
    ("more", "given", "expected"),
    [
        (OLD, "", ("7", "2", "0.3")),
        (OLD, "env=large", ("9", "4", "0.3")),
        (OLD, "env=large steps=3 optim=plain", ("3", "4", "0.7")),  # without a package line at the top
        ({"environment.yml": "dependencies:\n  - pip:\n    - hydra-core~=1.0.3\n"}, "", ("7", "2", "0.3")),
        (NEW, "env=large", ("5", "1", "0.1")),
        ({}, "env=large", ("5", "1", "0.1")),
        ({**OLD, "setup.py": "requires = ['hydra-core==1.3.2']\n"}, "env=large", ("5", "1", "0.1")),
        ({**NEW, **FIRST}, "env=large", ("9", "4", "0.3")),
        ({**OLD, **LAST}, "env=large", ("5", "1", "0.1")),  # written for a newer one
    ],
)
def test_what_the_project_requires_decides(
    tmp_path: Path, more: dict[str, str], given: str, expected: tuple[str, ...]
) -> None:
    root = write({**FILES, **more}, tmp_path)
    truth = read_anatomy(root, "train.py", f"python train.py {given}".strip(), 2000).truth
    assert truth is not None
    values = {key.name: key.value for key in truth.keys}
    assert tuple(values[name] for name in ("steps", "env.batch", "optim.lr")) == expected
