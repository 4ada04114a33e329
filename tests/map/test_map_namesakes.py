"""Functions of one name in files beside each other: the setting that is called like a file says which of them trains."""

from __future__ import annotations

from pathlib import Path

import map_depth
from trainsleuth.map import map_repository

STEP = """def train(net, opt, batches):
    for batch in batches:
        loss = net(batch).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
FILES = {
    "train.py": "import argparse\n\nimport torch\nfrom ways import setup\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--mode')\nargs = parser.parse_args()\ntrain, name = setup(args.mode)\nnet = torch.nn.Linear(2, 2)\n"
    "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor epoch in range(3):\n    train(net, opt, [torch.ones(1, 2)])\n",
    "ways/__init__.py": "def setup(mode):\n    if mode == 'near':\n        from .near import train\n    elif mode == 'far':\n"
    "        from .far import train\n    return train, mode\n",
    "ways/near.py": STEP,
    "ways/far.py": f"# another way\n{STEP}",
}


def _steps(folder: Path, command: str) -> set[str]:
    map_depth.write(FILES, folder)
    part = map_repository(folder, scope="train.py", recipe=command).to_dict()["components"]["training_loop"]
    assert not part["why"], part["why"]
    return {place["path"] for place in part["places"] if place["role"] == "backward"}


def test_a_function_that_is_given_back_among_others_is_followed(tmp_path: Path) -> None:
    assert _steps(tmp_path, "python train.py --mode near") == {"ways/near.py"}
    assert _steps(tmp_path, "python train.py --mode far") == {"ways/far.py"}


def test_a_setting_that_is_called_like_none_of_them_leaves_all(tmp_path: Path) -> None:
    assert _steps(tmp_path, "python train.py --mode other") == {"ways/near.py", "ways/far.py"}
