"""A class that getattr asks a module for: taken over by a star, or of a module that each arm imports under one name."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import map_repository

STARTS = "import argparse\n\nimport torch\n{0}\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--net')\n"
AT_ONCE = (
    STARTS.format("import nets")
    + "args = parser.parse_args()\nchosen = getattr(nets, args.net)\nnet = chosen()\n"
    + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + STEP
)
IN_ARMS = AT_ONCE.replace("import nets", "from build import builder").replace(
    "getattr(nets, args.net)", "builder(args)"
)
BUILD = (
    "def builder(args):\n    if args.ready:\n        import torchvision.models as nets\n\n"
    "        return nets.__dict__[args.net]\n    else:\n        import nets\n\n        return getattr(nets, args.net)\n"
)
NET = (
    "import torch\n\n\nclass {0}(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
    "def {1}():\n    return {0}(depth=2)\n"
)
NETS = {"nets/flat.py": NET.format("Flat", "plain_1"), "nets/deep/tower.py": NET.format("Tower", "high_2")}
STARS = {
    "nets/__init__.py": "from .flat import *\nfrom .deep import *\n",
    "nets/deep/__init__.py": "from .tower import *\n",
}
BY_NAME = {
    "nets/__init__.py": "from .flat import plain_1\nfrom .deep import high_2\n",
    "nets/deep/__init__.py": "from .tower import high_2\n",
}


@pytest.mark.parametrize("gathered", [STARS, BY_NAME])
@pytest.mark.parametrize("code", [{"train.py": AT_ONCE}, {"train.py": IN_ARMS, "build.py": BUILD}])
def test_the_class_behind_the_name_that_is_given_is_the_model(
    code: dict[str, str], gathered: dict[str, str], tmp_path: Path
) -> None:
    made = map_repository(write(code | gathered | NETS, tmp_path), recipe="python train.py --net high_2")
    paths = {place.path for place in made.components["model"].places}
    assert "nets/deep/tower.py" in paths and "nets/flat.py" not in paths


JOINED = AT_ONCE.replace("chosen = getattr(nets, args.net)", "args.net = str.upper(args.net.strip())").replace(
    "net = chosen()", 'net = getattr(nets, args.net + "_First")()'
)


def test_a_name_that_is_put_together_of_a_setting_is_asked_for(tmp_path: Path) -> None:
    others = {"nets.py": NET.format("HIGH_First", "one") + "\n\n" + NET.format("PLAIN_First", "two")}
    made = map_repository(write({"train.py": JOINED} | others, tmp_path), recipe="python train.py --net high")
    lines = {place.line for place in made.components["model"].places if place.path == "nets.py"}
    second = others["nets.py"].count("\n", 0, others["nets.py"].index("class PLAIN")) + 1
    assert lines and max(lines) < second
