"""Copies of one project beside each other, and how commands and files of a repository are named."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP, write
from trainsleuth.map import expand_component, map_repository

LOSS = """
class Loss:
    def accumulate(self, x):
        raise NotImplementedError


class {name}(Loss):
    def __init__(self, net):
        self.net = net

    def accumulate(self, x):
        self.net(x).mean().backward()
"""
TRAIN = """
import util
from training import loop

loop.run(loss_kwargs=dict(class_name="training.loss.{name}"))
"""
RUN = """
import torch
import util


def run(loss_kwargs):
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = util.construct(net, **loss_kwargs)
    for _ in range(3):
        opt.zero_grad()
        loss.accumulate(torch.ones(4, 2))
        opt.step()
"""
UTIL = """
import importlib


def construct(*args, class_name=None, **kwargs):
    module, _, name = class_name.rpartition(".")
    return getattr(importlib.import_module(module), name)(*args, **kwargs)
"""


def project(folder: str, name: str) -> dict[str, str]:
    return {
        f"{folder}/train.py": TRAIN.format(name=name),
        f"{folder}/util.py": UTIL,
        f"{folder}/training/loop.py": RUN,
        f"{folder}/training/loss.py": LOSS.format(name=name),
        f"{folder}/training/networks.py": "import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n",
        f"{folder}/training/data.py": "def data():\n    return []\n",
    }


def test_the_project_of_the_scope_is_mapped_and_not_its_copy(tmp_path: Path) -> None:
    root = write({**project("first", "PlainLoss"), **project("second", "OtherLoss")}, tmp_path)
    for folder in ("first", "second"):
        loop = map_repository(root, scope=f"{folder}/train.py").components["training_loop"]
        assert loop.status == "found"
        assert {place.path.partition("/")[0] for place in loop.places} == {folder}
        assert {f"{folder}/training/loss.py", f"{folder}/training/loop.py"} <= {place.path for place in loop.places}


PLAIN = "import argparse\n\nimport torch\nimport yaml\n\nparser = argparse.ArgumentParser()\n"
OF_FILE = (
    PLAIN + "parser.add_argument('config')\nargs = parser.parse_args()\ncfg = yaml.safe_load(open(args.config))\n"
    "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=cfg['lr'])\n" + STEP
)


def test_a_folder_with_a_double_plus(tmp_path: Path) -> None:
    root = write({"train.py": OF_FILE, "configs/net++/a.yaml": "lr: 0.7\n", "configs/b.yaml": "lr: 0.2\n"}, tmp_path)
    text = expand_component(root, "run", recipe="python train.py configs/net++/a.yaml").text
    assert "lr=0.7" in text


def test_the_script_that_a_command_was_copied_from(tmp_path: Path) -> None:
    options = "".join(f"parser.add_argument('--{name}')\n" for name in ("max_epochs", "batch_size", "lr"))
    program = (
        PLAIN + options + "args = parser.parse_args()\nnet = torch.nn.Linear(2, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=float(args.lr))\n" + STEP
    )
    script = "#!/bin/bash\npython train.py \\\n  --lr 0.3 \\\n  --batch_size 8 \\\n  --max_epochs 5\n"
    root = write({"train.py": program, "scripts/run.sh": script}, tmp_path)
    made = map_repository(root, recipe="python train.py --lr 0.3 --batch_size 8 --max_epochs 5")
    shown = {(place.path, place.line) for part in made.components.values() for place in part.places}
    assert ("scripts/run.sh", 3) in shown


def test_a_data_set_that_a_script_makes(tmp_path: Path) -> None:
    script = (
        "import datasets\n\n\nclass Tasks(datasets.GeneratorBasedBuilder):\n"
        "    def _split_generators(self, manager):\n        return []\n\n"
        "    def _generate_examples(self, path):\n        yield 0, {}\n"
    )
    program = (
        "import torch\nfrom datasets import load_dataset\n\ndata = load_dataset('src/tasks.py')\n"
        "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEP
    )
    data = map_repository(write({"train.py": program, "src/tasks.py": script}, tmp_path)).components["data"]
    assert {("src/tasks.py", 4), ("src/tasks.py", 5), ("src/tasks.py", 8)} <= {(p.path, p.line) for p in data.places}


OPTION = (
    PLAIN + "parser.add_argument('--optim', default=None)\nparser.add_argument('--epochs', default=31, type=int)\n\n\n"
    "def given(args, name):\n    return getattr(args, name) is not None\n\n\n"
    "def main():\n    a = parser.parse_args()\n    cfg = yaml.safe_load(open('base.yaml'))\n"
    "    if given(a, 'optim'):\n        cfg.OPTIM = a.optim\n    train(a, cfg)\n\n\n"
    "def train(a, cfg):\n    net = torch.nn.Linear(2, 1)\n    if cfg.OPTIM == 'sgd':\n"
    "        opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    elif cfg.OPTIM == 'adamw':\n"
    "        opt = torch.optim.AdamW(net.parameters(), lr=0.1)\n    for epoch in range(a.epochs):\n"
    "        loss = net(torch.ones(4, 2)).mean()\n        opt.zero_grad()\n        loss.backward()\n        opt.step()\n\n\nmain()\n"
)


def test_an_option_that_nobody_gives_changes_no_setting(tmp_path: Path) -> None:
    root = write({"train.py": OPTION, "base.yaml": "OPTIM: adamw\n"}, tmp_path)
    text = expand_component(root, "run", recipe="python train.py").text
    assert "torch.optim.AdamW" in text and "torch.optim.SGD" not in text
    assert "epochs=31" in text, "what a parser gives holds options under any name"


def test_a_name_that_an_argument_hands_on_is_worth_its_default(tmp_path: Path) -> None:
    program = (
        "import fire\nfrom transformers import AutoModel, Trainer, TrainingArguments\n\n\n"
        "def train(rate: float = 3e-4, epochs: int = 7):\n    model = AutoModel.from_pretrained('x')\n"
        "    Trainer(model=model, args=TrainingArguments('out', learning_rate=rate, num_train_epochs=epochs)).train()\n\n\n"
        "if __name__ == '__main__':\n    fire.Fire(train)\n"
    )
    text = expand_component(write({"train.py": program}, tmp_path), "run").text
    assert "learning_rate=rate (3e-4" in text and "num_train_epochs=epochs (7" in text


def test_weights_that_a_network_gets_from_another_are_no_checkpoint(tmp_path: Path) -> None:
    program = (
        "import torch\n\nnet, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)\ntarget.load_state_dict(net.state_dict())\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEP
    )
    assert map_repository(write({"train.py": program}, tmp_path)).components["checkpointing"].status == "absent"


def test_a_file_that_starts_nothing_is_said_to(tmp_path: Path) -> None:
    files = {
        "nets.py": "import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n",
        "train.py": "import torch\nfrom nets import Net\n\nnet = Net(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + STEP,
    }
    root = write(files, tmp_path)
    assert (
        "nets.py starts no training by itself: train.py is mapped, which loads it"
        in map_repository(root, "nets.py").text
    )
    assert "starts no training" not in map_repository(root, "train.py").text
    said = expand_component(root, "ask what is the capital of France?").text
    assert "nothing found" in said
    assert "like it: train.py" in expand_component(root, "open trian.py").text
