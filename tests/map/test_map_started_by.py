"""What a launch script starts, in the forms that repositories were lost by; and what is found behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import Map, expand_component, map_repository
from trainsleuth.map.build import find_program, read_index
from trainsleuth.map.configuration import truth_of
from trainsleuth.repository import Repository, RepositoryError

TRAIN = """\
import torch

def main():
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
        for x, y in torch.load("data.pt"):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()

if __name__ == "__main__":
    main()
"""
OTHER = "if __name__ == '__main__':\n    print(1)\n"


def _map(root: Path, files: dict[str, str], scope: str | None = None, recipe: str | None = None) -> Map:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return map_repository(root, scope, recipe)


STARTED = {
    "behind a launcher of the project's own": "python -u tools/dist_launch.py --nproc_per_node=2 part1/go.py lr=0.1\n",
    "behind a variable without a slash": "python ${WORKSPACE}part1/go.py --fold 1\n",
    "in a copy that variables name": "python ${OUT}/${DAY}_${NAME}/copy/part1/go.py --steps 5\n",
    "in a folder below the home of its author": "cd ~/project/part1/\npython go.py --steps 5\n",
    "in a folder that is changed to": "cd ../part1\nfor T in 1 2\ndo\n\tpython go.py --steps $T\ndone\n",
    "between what prepares and what reads results": (
        "python prepare_data.py\npython -W ignore ../part1/go.py --lr 0.1 --epochs 9 \\\n  --batch 8\n"
        "python ./results.py --path out\n"
    ),
}


@pytest.mark.parametrize("name", STARTED)
def test_a_script_given_as_the_scope_is_what_it_starts(name: str, tmp_path: Path) -> None:
    beside = {f"{folder}/go.py": OTHER for folder in ("part2", "part3")}
    more = {"jobs/prepare_data.py": OTHER, "jobs/results.py": OTHER, "tools/dist_launch.py": OTHER}
    found = _map(tmp_path, {"part1/go.py": TRAIN, **beside, **more, "jobs/run.sh": STARTED[name]}, "jobs/run.sh")
    assert found.trains
    assert [place.path for place in found.components["training_loop"].places] == ["part1/go.py"] * len(
        found.components["training_loop"].places
    )


def test_a_launch_script_in_python_is_read_with_its_template_filled(tmp_path: Path) -> None:
    launcher = (
        "import os\n\nepochs = 150\nfor rate in [0.01, 0.1]:\n"
        "    text = 'python go.py --epochs {} --lr {} --name {}'.format(epochs, rate, os.getcwd())\n    os.system(text)\n"
    )
    found = _map(tmp_path, {"a/go.py": TRAIN, "b/go.py": OTHER, "a/base.py": launcher}, recipe="a/base.py")
    assert found.trains
    assert "python go.py --epochs 150 --lr 0.01 --name {}" in found.text


def test_the_trainer_of_an_unknown_library_is_run(tmp_path: Path) -> None:
    found = _map(
        tmp_path, {"train.py": "from deeplib import make_trainer\n\ntrainer = make_trainer('a')\ntrainer.run()\n"}
    )
    assert (found.trains, found.framework) == (True, "deeplib")


def test_a_module_whose_name_is_joined_is_found(tmp_path: Path) -> None:
    files = {
        "train.py": TRAIN.replace("torch.nn.Linear(2, 1)", "build({'kind': 'plain', 'name': 'wide'})").replace(
            "import torch\n", "import torch\nfrom build import build\n"
        ),
        "build.py": (
            "from importlib import import_module\n\ndef build(settings):\n"
            "    path = '.'.join(['nets', settings['kind'], settings['name']])\n    module = import_module(path)\n"
            "    for attribute in dir(module):\n        if attribute.lower() == settings['name']:\n"
            "            return getattr(module, attribute)()\n"
        ),
        "nets/plain/wide.py": "from torch import nn\n\nclass Wide(nn.Module):\n    def forward(self, x):\n        return x\n",
        "conf.yaml": "kind: plain\nname: wide\n",
    }
    found = _map(tmp_path, files, "train.py", "conf.yaml")
    assert ("nets/plain/wide.py", 3) in {(one.path, one.line) for one in found.components["model"].places}


def test_a_trainer_below_one_of_the_project_shows_where_the_library_goes_on(tmp_path: Path) -> None:
    files = {
        "main.py": "from engine import Base\n\nclass Trainer(Base):\n    pass\n\ntrainer = Trainer()\ntrainer.train()\n",
        "engine.py": (
            "from detectlib import SimpleTrainer\n\nclass Base(SimpleTrainer):\n    def __init__(self):\n"
            "        super().__init__()\n        self.register_hooks([])\n\n    def train(self):\n"
            "        super().train(0, 9)\n"
        ),
    }
    found = _map(tmp_path, files)
    lines = {(one.path, one.line) for one in found.components["training_loop"].places}
    assert {("engine.py", 3), ("engine.py", 6), ("engine.py", 8), ("engine.py", 9)} <= lines


def test_what_a_file_of_networks_tries_of_itself_is_no_evaluation(tmp_path: Path) -> None:
    nets = (
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n"
        "if __name__ == '__main__':\n    net = Net()\n    net.eval()\n    with torch.no_grad():\n        net(torch.ones(2))\n"
    )
    train = TRAIN.replace("torch.nn.Linear(2, 1)", "Net()").replace(
        "import torch\n", "import torch\nfrom nets import Net\n"
    )
    assert _map(tmp_path, {"train.py": train, "nets.py": nets}).components["evaluation"].status == "absent"


def test_both_loops_of_a_choice_are_shown(tmp_path: Path) -> None:
    train = (
        "import torch\n\nclass Trainer:\n    def __init__(self, net, stops):\n        self.net, self.stops = net, stops\n"
        "        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n\n    def epoch(self, loader):\n"
        "        for x in loader:\n            self.optimizer.zero_grad()\n            self.net(x).mean().backward()\n"
        "            self.optimizer.step()\n\n    def train(self, loader):\n        if not self.stops:\n"
        "            for number in range(9):\n                self.epoch(loader)\n        else:\n"
        "            for number in range(9):\n                self.epoch(loader)\n\n"
        "Trainer(torch.nn.Linear(1, 1), True).train([])\n"
    )
    found = _map(tmp_path, {"train.py": train})
    assert {16, 19} <= {one.line for one in found.components["training_loop"].places}


def test_the_forward_of_a_table_of_results_is_shown(tmp_path: Path) -> None:
    train = (
        "import torch\n\nclass Solver:\n    def __init__(self, net):\n        self.net, self.log = net, {}\n"
        "        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n\n    def forward(self, table):\n"
        "        table = self.net(table)\n        return table\n\n    def backward(self):\n"
        "        self.optimizer.zero_grad()\n        self.log['loss'].backward()\n        self.optimizer.step()\n\n"
        "    def feed(self, loader):\n        for table in loader:\n            table = self.forward(table)\n"
        "            self.log['loss'] = table['loss']\n            self.backward()\n\n"
        "class Net(torch.nn.Module):\n    def forward(self, table):\n        table['loss'] = table['x'].mean()\n        return table\n\n"
        "Solver(Net()).feed([])\n"
    )
    found = _map(tmp_path, {"train.py": train})
    assert 19 in {one.line for one in found.components["training_loop"].places}


def test_a_script_that_trains_and_evaluates_shows_what_evaluates(tmp_path: Path) -> None:
    evaluates = (
        "import torch\nfrom judge import Evaluator\n\ndef work():\n    Evaluator(torch.load('net.pt')).measure()\n\n"
        "if __name__ == '__main__':\n    work()\n"
    )
    judge = "class Evaluator:\n    def __init__(self, net):\n        self.net = net.eval()\n\n    def measure(self):\n        pass\n"
    script = "python train.py --lr 0.1 \\\n  --epochs 9\npython tools/eval.py --split val\n"
    files = {"train.py": TRAIN, "tools/eval.py": evaluates, "judge.py": judge, "run.sh": script}
    found = _map(tmp_path, files, recipe="run.sh").components["evaluation"]
    assert {("run.sh", 3), ("tools/eval.py", 4), ("judge.py", 1)} <= {(one.path, one.line) for one in found.places}


def test_a_variable_of_the_shell_decides_nothing(tmp_path: Path) -> None:
    train = (
        "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--model', default='none')\n"
        "parser.add_argument('--train', action='store_true')\nargs = parser.parse_args()\n\nclass Runner:\n"
        "    def fit(self, net):\n        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n        for x in []:\n"
        "            optimizer.zero_grad()\n            net(x).mean().backward()\n            optimizer.step()\n\n"
        "def main():\n    if args.model in ['wide', 'deep']:\n        runner = Runner()\n    else:\n        raise ValueError\n"
        "    if args.train:\n        runner.fit(torch.nn.Linear(1, 1))\n\nif __name__ == '__main__':\n    main()\n"
    )
    script = 'source $1\ncmd="python3 -m go \\\n  $2 \\\n  --model $model"\n$cmd\n'
    found = _map(tmp_path, {"go.py": train, "run.sh": script}, "run.sh")
    assert (found.trains, found.components["training_loop"].status) == (True, "found")
    started = found.text.partition("# config")[0]
    assert "--train" not in started  # the script does not hold it: whoever calls it may give it
    lines = expand_component(tmp_path, "lines backward in go.py", recipe="run.sh").text
    assert "backward()" in lines and "off" not in lines


def test_a_file_that_settings_stand_on_is_one_of_them(tmp_path: Path) -> None:
    files = {
        "configs/base.py": (
            "import torch\nfrom lightning.pytorch.callbacks import ModelCheckpoint\n\ntrainer = dict(max_steps=90, precision='bf16',\n"
            "    callbacks=[\n        ModelCheckpoint(save_top_k=-1),\n    ])\nif torch.cuda.is_available():\n"
            "    trainer['strategy'] = 'ddp'\n"
        ),
        "configs/small.py": "_base_ = ['./base.py']\nlr = 0.1\n",
        "train.py": (
            "import sys\nimport lightning as L\nfrom mmengine import Config\nfrom nets import Net\n\n"
            "cfg = Config.fromfile(sys.argv[1])\nL.Trainer(**cfg.trainer).fit(Net())\n"
        ),
        "nets.py": "import lightning as L\n\nclass Net(L.LightningModule):\n    def training_step(self, batch):\n        return batch\n",
    }
    found = _map(tmp_path, files, "train.py", "configs/small.py")
    assert "configs/base.py" in {one.path for one in found.components["config"].places}
    assert ("configs/base.py", 6) in {(one.path, one.line) for one in found.components["checkpointing"].places}


def test_a_function_of_a_script_gets_what_its_first_call_gives(tmp_path: Path) -> None:
    script = (
        'run_training() {\n  local settings="$1"\n  local name="$2"\n  launcher run --name "$name" \\\n'
        "    -- torchrun --nproc_per_node 4 -m go conf/$settings\n}\n\n"
        '# run_training "large.yaml" "first"\nrun_training "small.yaml" "second"\n'
    )
    train = TRAIN.replace(
        "import torch\n", "import sys\nimport torch\nimport yaml\n\ncfg = yaml.safe_load(open(sys.argv[1]))\n", 1
    )
    files = {
        "go.py": train.replace("lr=0.1", "lr=cfg['lr']"),
        "conf/small.yaml": "lr: 0.03\n",
        "conf/large.yaml": "lr: 0.3\n",
        "run.sh": script,
    }
    found = _map(tmp_path, files, recipe="run.sh")
    assert ("conf/small.yaml", 1) in {(one.path, one.line) for one in found.components["optimizer_scheduler"].places}
    assert "conf/large.yaml" not in found.text


def test_the_default_of_a_field_that_a_section_sets_is_not_off(tmp_path: Path) -> None:
    train = (
        "import sys\nfrom dataclasses import dataclass, field\nimport dacite\nimport torch\nimport yaml\n\n@dataclass\n"
        "class Corrector:\n    dry: bool = False\n    wet: bool = False\n\n    def build(self):\n        found = []\n"
        "        if self.dry:\n            found.append('dry')\n        if self.wet:\n            found.append('wet')\n"
        "        return found\n\n@dataclass\nclass Step:\n    corrector: Corrector = field(default_factory=Corrector)\n\n"
        "def main(path):\n    cfg = yaml.safe_load(open(path))\n    step = dacite.from_dict(Step, cfg['step']['config'])\n"
        "    print(step.corrector.build())\n    net = torch.nn.Linear(1, 1)\n"
        "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    for x in []:\n        optimizer.zero_grad()\n"
        "        net(x).mean().backward()\n        optimizer.step()\n\nif __name__ == '__main__':\n    main(sys.argv[1])\n"
    )
    for name, text in {"train.py": train, "conf.yaml": "step:\n  config:\n    corrector:\n      dry: true\n"}.items():
        (tmp_path / name).write_text(text)
    told = expand_component(tmp_path, "open train.py:12-18", "train.py", "conf.yaml", 300).text
    assert "if self.dry:\n" in told
    program = find_program(read_index(Repository(tmp_path)), "train.py", "conf.yaml")
    assert program is not None
    assert {"corrector.dry", "dry", "corrector", "config.corrector"} <= truth_of(program).set_further_down


def test_a_registry_that_is_a_file_chooses_by_the_name_of_an_entry(tmp_path: Path) -> None:
    net = "from torch import nn\n\nclass {}(nn.Module):\n    def forward(self, x):\n        return x\n"
    files = {
        "train.py": TRAIN.replace("torch.nn.Linear(2, 1)", "build(yaml.safe_load(open(sys.argv[1])))").replace(
            "import torch\n", "import sys\nimport torch\nimport yaml\nfrom kit.lookup import build\n", 1
        ),
        "kit/lookup.py": (
            "from importlib import import_module\nimport yaml\n\ndef build(settings):\n"
            "    entries = {one['name']: one['path'] for one in yaml.safe_load(open('kit/registry.yaml'))['models']}\n"
            "    module, name = entries[settings['model']['name']].rsplit('.', 1)\n"
            "    return getattr(import_module(module), name)()\n"
        ),
        "kit/registry.yaml": (
            "models:\n- name: wide\n  path: kit.nets.wide.WideNet\n- name: deep\n  path: kit.nets.deep.DeepNet\n"
        ),
        "kit/nets/wide.py": net.format("WideNet"),
        "kit/nets/deep.py": net.format("DeepNet"),
        "conf.yaml": "model:\n  name: deep\n",
    }
    found = _map(tmp_path, files, "train.py", "conf.yaml").components["model"].places
    assert "kit/nets/deep.py" in {one.path for one in found}
    assert "kit/nets/wide.py" not in {one.path for one in found}


def test_what_argparse_runs_for_another_subcommand_is_left_out(tmp_path: Path) -> None:
    cli = (
        "import argparse\nimport torch\nfrom train import main\n\ndef convert(args):\n"
        "    torch.save(torch.load(args.path), 'converted.pt')\n\ndef fit(args):\n    main()\n\n"
        "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n    subparsers = parser.add_subparsers()\n"
        "    one = subparsers.add_parser('fit')\n    one.set_defaults(func=fit)\n"
        "    other = subparsers.add_parser('convert')\n    other.add_argument('path')\n    other.set_defaults(func=convert)\n"
        "    args = parser.parse_args()\n    args.func(args)\n"
    )
    found = _map(tmp_path, {"train.py": TRAIN, "cli.py": cli}, recipe="python cli.py fit")
    assert "cli.py" not in {one.path for one in found.components["checkpointing"].places}
    assert {one.path for one in found.components["training_loop"].places} >= {"train.py"}


@pytest.mark.parametrize(
    "script",
    [
        "g() {\n" + "  echo $1 $@\n" * 20_000 + "}\ng " + "x " * 20_000 + "\n",
        "f() {\n" * 20_000,
        'f() {\n  f $1\n}\nf a "b c\n',
    ],
)
def test_a_script_of_many_functions_ends_soon(script: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "run.sh").write_text(script)
    with pytest.raises(RepositoryError, match=r"scope 'run\.sh'"):
        map_repository(tmp_path, "run.sh")


def test_a_recipe_is_of_the_program_that_a_command_starts_with_it(tmp_path: Path) -> None:
    readme = (
        "```\npython train.py --config configs/a.yaml\npython other/train_b.py --config configs/b.yaml --size c\n```\n"
    )
    files = {"train.py": TRAIN, "other/train_b.py": TRAIN, "README.md": readme}
    configs = {f"configs/{name}.yaml": "lr: 0.1\n" for name in "abc"}
    entries = {name: _map(tmp_path, {**files, **configs}, recipe=f"configs/{name}.yaml").text for name in "abc"}
    assert [
        f"entry {path}" in entries[name]
        for name, path in zip("abc", ("train.py", "other/train_b.py", "train.py"), strict=True)
    ] == [True] * 3
