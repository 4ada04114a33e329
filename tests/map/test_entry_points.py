"""A class that is registered by where it lies counts as run when a setting gives its id."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

FILES = {
    "train.py": "import argparse\n\nimport torch\n\nimport envs\nfrom envs.registry import make\n\n"
    "parser = argparse.ArgumentParser()\nparser.add_argument('--env_id', default='maze')\nargs = parser.parse_args()\n"
    "env = make(args.env_id)\nnet = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
    "criterion = torch.nn.MSELoss()\n" + STEP,
    "envs/__init__.py": "from envs.registry import register\n\nregister(id='maze', entry_point='envs.maze.env:Maze')\n"
    "register(id='pole', entry_point='envs.pole.env:Pole')\n",
    "envs/registry.py": "import importlib\n\nKNOWN = {}\n\n\ndef register(id, entry_point):\n    KNOWN[id] = entry_point\n\n\n"
    "def make(name):\n    module, _, word = KNOWN[name].partition(':')\n"
    "    return getattr(importlib.import_module(module), word)()\n",
}
ENV = "from envs.{0}.scores import reward_of\n\n\nclass {1}:\n    def step(self, action):\n        return reward_of(action)\n"
for name, cls, worth in (("maze", "Maze", "3.0"), ("pole", "Pole", "7.0")):
    FILES[f"envs/{name}/__init__.py"] = ""
    FILES[f"envs/{name}/env.py"] = ENV.format(name, cls)
    FILES[f"envs/{name}/scores.py"] = (
        f'def reward_of(action):\n    """The reward.\n\n    Args:\n        action: what was done\n    """\n'
        f"    return {worth} * float(action)\n"
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("chosen", "shown", "other"), [("maze", "3.0", "7.0"), ("pole", "7.0", "3.0")])
def test_ask_reaches_what_the_chosen_class_calls(program: Path, chosen: str, shown: str, other: str) -> None:
    command = f"python train.py --env_id {chosen}"
    said = expand_component(program, "ask what is the reward of an action?", recipe=command, budget=250).text
    assert f"return {shown} * float(action)" in said and f"return {other}" not in said


def test_an_id_that_nobody_registers_chooses_nothing(program: Path) -> None:
    said = expand_component(program, "ask what is the reward?", recipe="python train.py --env_id lake", budget=250).text
    assert "float(action)" not in said
