"""A package that lists its folder for `import *`: what registers there runs, and a table of another library gives it."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.map import map_repository

MAIN = """import own
from graphlib_of_others.config import cfg, load_cfg
from graphlib_of_others.register import train_dict

if __name__ == "__main__":
    load_cfg("config.yaml")
    train_dict[cfg.train.mode](cfg.loaders)
"""
LISTS = """import glob
from os.path import basename, dirname, join

__all__ = [basename(one)[:-3] for one in glob.glob(join(dirname(__file__), "*.py"))]
"""
STEPS = """import torch
from graphlib_of_others.register import register_train


@register_train("{name}")
def {name}(loaders):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loaders[0]:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""


def test_what_is_registered_in_a_listed_folder_trains(tmp_path: Path) -> None:
    files = {
        "main.py": MAIN,
        "own/__init__.py": "from .steps import *\n",
        "own/steps/__init__.py": LISTS,
        "own/steps/slow.py": STEPS.format(name="slow"),
        "own/steps/fast.py": STEPS.format(name="fast"),
        "config.yaml": "train:\n  mode: fast\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = map_repository(tmp_path, "main.py", "config.yaml")
    assert found.trains
    loop = found.components["training_loop"]
    assert (loop.status, {place.path for place in loop.places if place.role == "backward"}) == (
        "found",
        {"own/steps/fast.py"},
    )
