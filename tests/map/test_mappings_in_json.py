"""A command that gives an option as a mapping in JSON, and names a class behind the package that code puts before it."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component

_METHOD = (
    "from torch import nn, optim\n\nfrom methods.base import Method\nfrom methods.{0}.net import {1}\n\n\n"
    "class {2}(Method):\n    def build(self):\n        return {1}(self.config.width)\n"
)
_NET = "from torch import nn\n\n\nclass {0}(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.head = nn.Linear(2, width)\n"
FILES = {
    "bench.py": "import argparse\nimport importlib\nimport json\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--settings', default='bench.json')\nparser.add_argument('--method-name', required=True)\n"
    "parser.add_argument('--method-args', default=None)\nparser.add_argument('--split-args', default=None)\n"
    "args = parser.parse_args()\nconfig = json.load(open(args.settings))\n"
    "if args.split_args is not None:\n    config['split_args'].update(json.loads(args.split_args))\n"
    "package, name = ('methods.' + args.method_name).rsplit('.', 1)\n"
    "method = getattr(importlib.import_module(package), name)(**json.loads(args.method_args))\nmethod.fit(config)\n",
    "bench.json": '{"split_args": {"ahead": 336, "share": 0.8}}\n',
    "methods/__init__.py": "",
    "methods/base.py": "import torch\nfrom torch import nn\n\n\nclass Config:\n    def __init__(self, **given):\n"
    "        for key, value in given.items():\n            setattr(self, key, value)\n\n\n"
    "class Method:\n    def __init__(self, **given):\n        self.config = Config(**given)\n\n"
    "    def optimizer(self, net):\n        return torch.optim.Adam(net.parameters(), lr=self.config.lr)\n\n"
    "    def fit(self, config):\n        net = self.build()\n        opt = self.optimizer(net)\n"
    "        ahead = config['split_args']['ahead']\n        " + STEP.replace("\n", "\n        ").rstrip() + "\n",
    "methods/tide/__init__.py": "from methods.tide.tide import Tide\n",
    "methods/tide/tide.py": _METHOD.format("tide", "TideNet", "Tide"),
    "methods/tide/net.py": _NET.format("TideNet"),
    "methods/wave/__init__.py": "from methods.wave.wave import Wave\n",
    "methods/wave/wave.py": _METHOD.format("wave", "Wave as WaveNet", "Wave").replace("return Wave as ", "return ")
    + "\n    def optimizer(self, net):\n        return optim.RMSprop(net.parameters(), lr=self.config.lr)\n",
    "methods/wave/net.py": _NET.format("Wave") + "        self.small = Wave(width // 2) if width > 8 else None\n",
}
COMMAND = (
    "python bench.py --split-args '{\"ahead\": 96}' --method-name tide.Tide"
    ' --method-args \'{"lr": 0.0005, "width": 4, "decoder": {"layers": 3}}\''
)


def _sheet(tmp_path: Path) -> str:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return expand_component(tmp_path, "run", scope="bench.py", recipe=COMMAND, budget=3000).text


def test_the_keys_of_a_mapping_are_those_of_the_command(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path)
    assert "lr=0.0005" in sheet and "layers=3" in sheet and "method_args=" not in sheet
    assert "ahead=96" in sheet and "ahead=336" not in sheet and "share=0.8" in sheet


def test_of_classes_below_one_base_that_counts_which_the_command_names_behind_a_package(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path)
    assert "torch.optim.Adam" in sheet and "RMSprop" not in sheet
    assert "TideNet" in sheet
