"""A launcher composes the settings of a program that it starts: the classes that they name are run by that program."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.map import map_repository

FILES = {
    "infra/launch.py": """import os

import hydra


@hydra.main(config_path="../conf", config_name="config.yaml")
def main(cfg):
    command = f"cd {cfg.out} && {cfg.python} train.py"
    os.system(command)


if __name__ == "__main__":
    main()
""",
    "conf/config.yaml": "out: .\npython: python\nloss:\n  source: OwnLoss\n",
    "losses.py": """class OwnLoss:
    def __init__(self, net):
        self.net = net

    def accumulate(self, x):
        self.net(x).mean().backward()
""",
    "train.py": """import torch
from losses import OwnLoss

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters())
loss = OwnLoss(net)
for x in []:
    optimizer.zero_grad()
    loss.accumulate(x)
    optimizer.step()
""",
}


def test_what_settings_of_a_launcher_name_runs_in_the_program_that_it_starts(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = map_repository(tmp_path, "infra/launch.py", "python infra/launch.py")
    assert found.entry == "train.py"
    assert "infra/launch.py starts no training by itself: train.py is mapped, which it starts" in found.text
