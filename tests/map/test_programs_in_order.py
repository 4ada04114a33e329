"""Of several programs the one that trains comes first, though no call of it is seen to lead to training."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import map_repository

TASK = """import torch


class Task:
    @classmethod
    def start(cls, settings):
        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=settings["lr"])
        for x in torch.ones(8, 4, 2):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
"""
BY_NAME = {
    "tasks.py": TASK,
    "train.py": "import importlib\nimport sys\n\nimport yaml\n\nwith open(sys.argv[2]) as file:\n    settings = yaml.safe_load(file)\n\n\n"
    "def main():\n    package, _, name = settings['task'].rpartition('.')\n"
    "    getattr(importlib.import_module(package), name).start(settings)\n\n\nif __name__ == '__main__':\n    main()\n",
    "infer.py": "import decode\nimport other\nimport tables\n\n\ndef main():\n    decode.decode(other, tables)\n\n\nif __name__ == '__main__':\n    main()\n",
    "decode.py": "def decode(*given):\n    return given\n",
    "other.py": "",
    "tables.py": "",
    "configs/small.yaml": "task: tasks.Task\nlr: 0.3\n",
    "README.md": "```\npython infer.py a.wav\n```\n\n```\npython infer.py b.wav --fast\n```\n\n```\npython infer.py --all\n```\n\n"
    "```\npython train.py --config configs/small.yaml\n```\n",
}


def test_a_program_that_infers_does_not_stand_before_one_that_trains_by_a_name_in_its_settings(tmp_path: Path) -> None:
    write(BY_NAME, tmp_path)
    found = map_repository(tmp_path)
    assert found.entry == "train.py"
    assert "python train.py --config configs/small.yaml" in found.text


LOADING = {
    "patches/main_extraction.py": "import argparse\n\nfrom net.run import Experiment\nfrom net import patches\n\n\ndef main():\n"
    "    parser = argparse.ArgumentParser()\n    parser.add_argument('--config')\n"
    "    patches.extract(parser.parse_args(), Experiment.name)\n\n\nif __name__ == '__main__':\n    main()\n",
    "net/__init__.py": "",
    "net/patches.py": "def extract(args, name):\n    return args, name\n",
    "net/run.py": "import torch\n\n\nclass Experiment:\n    name = 'small'\n\n    def start(self):\n        net = torch.nn.Linear(2, 1)\n"
    "        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n        for x in torch.ones(8, 4, 2):\n"
    "            optimizer.zero_grad()\n            net(x).mean().backward()\n            optimizer.step()\n",
    "net/segmentation/run_net.py": "from net.run import Experiment\n\n\ndef main():\n    Experiment().start()\n\n\n"
    "if __name__ == '__main__':\n    main()\n",
    "README.md": "```\npython patches/main_extraction.py --config a.yaml\n```\n\n```\npython patches/main_extraction.py --config b.yaml\n```\n\n"
    "```\npython patches/main_extraction.py --help\n```\n",
}


def test_a_program_that_extracts_does_not_stand_before_one_that_trains(tmp_path: Path) -> None:
    write(LOADING, tmp_path)
    assert map_repository(tmp_path).entry == "net/segmentation/run_net.py"
