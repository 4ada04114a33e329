"""One name in factories of several kinds: each setting chooses from that of its own kind."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.facts import Class
from trainsleuth.map import read_anatomy

FILES = {
    "train.py": """import torch
import yaml

import parts
from library_of_runners import Runner

runner = Runner()
runner.player_factory.register_builder("swift", lambda **given: parts.SwiftPlayer(**given))
runner.player_factory.register_builder("calm", lambda **given: parts.CalmPlayer(**given))
runner.builder.model_factory.register_builder("swift", lambda network, **given: parts.SwiftModel(network))
with open("config.yaml") as file:
    cfg = yaml.safe_load(file)
net = runner.load(cfg["params"])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
""",
    "parts.py": "import torch\n\n\n"
    + "\n\n".join(
        f"class {name}(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        for name in ("SwiftPlayer", "CalmPlayer", "SwiftModel")
    ),
    "config.yaml": "params:\n  model:\n    name: swift\n",
}


def test_the_only_name_of_a_factory_is_that_of_its_kind(tmp_path: Path) -> None:
    program = read_anatomy(write(FILES, tmp_path), "train.py", "python train.py").program
    assert program is not None
    chosen = [one.target.name for one in program.choices if isinstance(one.target, Class)]
    assert chosen == ["SwiftModel"]
