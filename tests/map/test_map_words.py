"""What a name in the code or a word of the command is not: it says nothing of a component, a choice or a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import map_repository

SGD = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
OPTIONS = "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\n"
PRESETS = (
    OPTIONS + "parser.add_argument('--cfg', required=True)\nargs = parser.parse_args()\n"
    "presets = dict(faces=dict(rate=0.2))\nchosen = presets[args.cfg]\nnet = torch.nn.Linear(2, 1)\n" + SGD + STEP
)


@pytest.mark.parametrize(
    ("given", "is_said"), [("faces", False), ("other", True), ("faces.yaml", True), ("configs/faces", True)]
)
def test_a_configuration_that_nothing_reads(tmp_path: Path, given: str, is_said: bool) -> None:
    root = write({"train.py": PRESETS, "configs/other.yaml": "rate: 0.3\n"}, tmp_path)
    made = map_repository(root, recipe=f"python train.py --cfg={given}")
    assert ("is seen to be read" in made.text) is is_said


def test_text_that_is_evaluated_is_no_evaluation(tmp_path: Path) -> None:
    program = (
        OPTIONS + "parser.add_argument('--runner', default='Runner')\nargs = parser.parse_args()\n\n\n"
        "class Runner:\n    def train(self):\n        net = torch.nn.Linear(2, 1)\n        "
        + (SGD + STEP).replace("\n", "\n        ")
        + "\n\nrunner = eval(args.runner)()\nrunner.train()\n"
    )
    made = map_repository(write({"train.py": program}, tmp_path))
    line = program.split("\n").index("runner = eval(args.runner)()") + 1
    assert line not in {place.line for place in made.components["evaluation"].places}
    assert made.components["training_loop"].status == "found"


@pytest.mark.parametrize(("used", "is_said"), [("torch.ones(2) - size", False), ("size()", True)])
def test_numbers_that_an_option_spells_are_no_choice(tmp_path: Path, used: str, is_said: bool) -> None:
    program = (
        OPTIONS + "parser.add_argument('--size')\nargs = parser.parse_args()\n\n\n"
        "class Small(torch.nn.Linear):\n    pass\n\n\nclass Large(torch.nn.Linear):\n    pass\n\n\n"
        f"size = eval(args.size)\nnet = torch.nn.Linear(2, 1)\nused = {used}\n" + SGD + STEP
    )
    made = map_repository(write({"train.py": program}, tmp_path))
    assert ("picks one of 2 by 'size'" in made.text) is is_said


@pytest.mark.parametrize(("rate", "is_said"), [("1e-5", False), ("fast", True)])
def test_the_text_of_a_number_picks_nothing(tmp_path: Path, rate: str, is_said: bool) -> None:
    program = (
        "import torch\nimport yaml\n\n\nclass Small(torch.nn.Linear):\n    pass\n\n\n"
        "class Large(torch.nn.Linear):\n    pass\n\n\nconfig = yaml.safe_load(open('config.yaml'))\n"
        "net = torch.nn.Linear(2, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=eval(config['rate']))\n" + STEP
    )
    made = map_repository(write({"train.py": program, "config.yaml": f"rate: '{rate}'\n"}, tmp_path))
    assert ("picks one of 2 by 'rate'" in made.text) is is_said


@pytest.mark.parametrize("asked", ["config['exp']['script'].split('.py')[0]", "config['exp']['script']"])
def test_a_function_of_a_module_that_a_piece_of_a_setting_names(tmp_path: Path, asked: str) -> None:
    files = {
        "README.md": "    python run_exp.py cfg/base.cfg\n",
        "run_exp.py": "import configparser\nimport importlib\nimport sys\n\nconfig = configparser.ConfigParser()\n"
        f"config.read(sys.argv[1])\nscript = {asked}\nmodule = importlib.import_module('core')\n"
        "run = getattr(module, script)\nfor chunk in range(3):\n    run(chunk)\n",
        "core.py": "import torch\n\n\n"
        + "".join(
            f"def {name}(chunk):\n    net = torch.nn.Linear(2, 1)\n    "
            + (SGD + STEP).replace("\n", "\n    ")
            + "\n\n\n"
            for name in ("run_one", "run_all")
        ),
        "cfg/base.cfg": "[exp]\nscript = run_all\n",
    }
    loop = map_repository(write(files, tmp_path), recipe="cfg/base.cfg").components["training_loop"]
    of_all = files["core.py"].split("\n").index("def run_all(chunk):") + 1
    assert loop.status == "found"
    assert all(place.line >= of_all for place in loop.places if place.path == "core.py")
