"""What words of a command and of settings decide: classes found by their names, arms, modules, environments."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from test_map_started_by import _map
from trainsleuth.map import Map

GUARD = "\n\nif __name__ == '__main__':\n    main()\n"
BODY = STEP.replace("\n", "\n    ")
NETS = {
    name: f"import torch\n\nclass {name}(torch.nn.Module):\n    def __init__(self, width=2):\n        super().__init__()\n"
    "        self.layer = torch.nn.Linear(width, 1)\n\n    def forward(self, x):\n        return self.layer(x)\n"
    for name in ("SmallNet", "LargeNet")
}
OPTIMIZER = "    opt = torch.optim.SGD(net.parameters(), lr=0.1)"


def _shown(found: Map, part: str) -> set[str]:
    return {place.path for place in found.components[part].places}


def _lines(found: Map, part: str, path: str) -> set[int]:
    return {place.line for place in found.components[part].places if place.path == path}


CONFIGS = (
    "class Arch:\n    SMALL = 'small'\n    LARGE = 'large'\n\n\nclass BaseConfig:\n    arch = Arch.LARGE\n    epochs = 2\n\n"
    "    def create_model(self):\n        return build(self)\n\n\nclass ScalarConfig(BaseConfig):\n    pass\n\n\n"
    "def build(config: BaseConfig):\n    from nets.large import LargeNet\n    from nets.small import SmallNet\n\n"
    "    if config.arch == Arch.SMALL:\n        return SmallNet()\n    elif config.arch == Arch.LARGE:\n        return LargeNet()\n"
)
BY_CLASS = (
    "import argparse\nimport importlib\nimport inspect\n\nimport torch\nfrom base import BaseConfig\n\n\n"
    "def find(name) -> BaseConfig:\n    for path in ('one', 'two'):\n        module = importlib.import_module(f'configs.{path}')\n"
    "        for key, cls in inspect.getmembers(module):\n            if key == name:\n                return cls()\n\n\n"
    "def main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--model')\n    args = parser.parse_args()\n"
    f"    config = find(args.model)\n    net = config.create_model()\n{OPTIMIZER}{BODY}{GUARD}"
)


def test_a_class_of_settings_that_the_command_names_decides_arms(tmp_path: Path) -> None:
    files = {"train.py": BY_CLASS, "base.py": CONFIGS, "nets/__init__.py": "", "configs/__init__.py": ""}
    files |= {"nets/small.py": NETS["SmallNet"], "nets/large.py": NETS["LargeNet"]}
    files["configs/one.py"] = "from base import BaseConfig\n\n\nclass HelloWorld(BaseConfig):\n    arch = 'small'\n"
    files["configs/two.py"] = (
        "from base import ScalarConfig\n\n\nclass Other(ScalarConfig):\n    def create_model(self):\n        return None\n"
    )
    found = _map(tmp_path, files, "train.py", "python train.py --model HelloWorld")
    assert "nets/small.py" in _shown(found, "model") and "nets/large.py" not in _shown(found, "model")
    assert "configs/one.py" in _shown(found, "config") and "configs/two.py" not in _shown(found, "model")


MATCHED = {
    "match": "    match args.net:\n        case 'small' | 'tiny':\n            net = SmallNet()\n        case 'large':\n            net = LargeNet()\n        case _:\n            raise ValueError\n",
    "in a table of modules": "    net = getattr(importlib.import_module(MODULES[args.net]), args.cls)()\n",
    "in a loop over a module": "    module = importlib.import_module('nets.' + args.net)\n    made = None\n    for name, cls in module.__dict__.items():\n"
    "        if name.lower() == args.cls.lower():\n            made = cls\n    net = made()\n",
}


@pytest.mark.parametrize("form", MATCHED)
def test_a_word_of_the_command_chooses_the_network(tmp_path: Path, form: str) -> None:
    imports = (
        "from nets.small import SmallNet\nfrom nets.large import LargeNet\n"
        if form == "match"
        else "import importlib\n"
    )
    train = (
        f"import argparse\n\nimport torch\n{imports}\nMODULES = {{'small': 'nets.small', 'large': 'nets.large'}}\n\n\ndef main():\n"
        "    parser = argparse.ArgumentParser()\n    parser.add_argument('--net')\n    parser.add_argument('--cls')\n    args = parser.parse_args()\n"
        f"{MATCHED[form]}{OPTIMIZER}{BODY}{GUARD}"
    )
    files = {
        "train.py": train,
        "nets/__init__.py": "",
        "nets/small.py": NETS["SmallNet"],
        "nets/large.py": NETS["LargeNet"],
    }
    found = _map(tmp_path, files, "train.py", "python train.py --net small --cls SmallNet")
    assert "nets/small.py" in _shown(found, "model") and "nets/large.py" not in _shown(found, "model")


def test_a_command_of_click_gives_its_function_what_it_says(tmp_path: Path) -> None:
    cli = (
        "import importlib\n\nimport click\nimport torch\n\nMODULES = {'first': 'nets.first', 'second': 'nets.second'}\n\n\n"
        "def find(task, name):\n    module = importlib.import_module(MODULES[task])\n    return getattr(module, name)\n\n\n"
        "@click.command()\n@click.option('--task', default='second')\n@click.option('--model', default=None)\ndef main(task, model):\n"
        f"    name = model if model is not None else 'LargeNet'\n    made = find(task, name)\n    net = made()\n{OPTIMIZER}{BODY}{GUARD}"
    )
    files = {"train.py": cli, "nets/__init__.py": "", "nets/second/__init__.py": "from nets.large import LargeNet\n"}
    files |= {"nets/first/__init__.py": "from nets.small import SmallNet\nfrom nets.large import LargeNet\n"}
    files |= {"nets/small.py": NETS["SmallNet"], "nets/large.py": NETS["LargeNet"]}
    found = _map(tmp_path, files, "train.py", "python train.py --task first --model SmallNet")
    assert "nets/small.py" in _shown(found, "model") and "nets/large.py" not in _shown(found, "model")


def test_a_section_that_a_call_spreads_decides_what_its_function_makes(tmp_path: Path) -> None:
    runner = (
        "import hooks\nimport torch\nfrom nets import build_model\n\n\nclass Runner:\n    def __init__(self, config):\n        self.config = config\n"
        "        self.hooks = []\n        for name, section in config.modules.items():\n            self.net = build_model(part=name, **section['model'])\n"
        "        for key, given in self.config.hooks.items():\n            self.hooks.append(getattr(hooks, key)(given))\n\n"
        "    def train(self):\n        net = self.net\n        opt = torch.optim.SGD(net.parameters(), lr=0.1)\n        for step in range(9):\n"
        "            opt.zero_grad()\n            net(torch.ones(1, 2)).sum().backward()\n            opt.step()\n"
        "            for hook in self.hooks:\n                hook.after_step(self)\n"
    )
    train = (
        "import argparse\n\nimport runners\nfrom reading import parse_config\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('config')\n"
        f"    args = parser.parse_args()\n    config = parse_config(args.config)\n    runner = getattr(runners, config.runner)(config)\n    runner.train(){GUARD}"
    )
    nets = (
        "from small import SmallNet\nfrom large import LargeNet\n\n\ndef build_net(kind, **more):\n    if kind == 'small':\n        return SmallNet(**more)\n"
        "    if kind == 'large':\n        return LargeNet(**more)\n\n\ndef build_model(kind, part, **more):\n    if part == 'net':\n        return build_net(kind, **more)\n"
    )
    hooks = "import torch\n\n\nclass Saver:\n    def after_step(self, runner):\n        torch.save(runner.net.state_dict(), 'a.pt')\n\n\nclass Evaluator:\n    def after_step(self, runner):\n        runner.net.eval()\n"
    files = {"train.py": train, "runners.py": runner, "nets.py": nets, "hooks.py": hooks}
    files |= {"small.py": NETS["SmallNet"], "large.py": NETS["LargeNet"]}
    files["reading.py"] = "import yaml\n\n\ndef parse_config(path):\n    return yaml.safe_load(open(path))\n"
    files["configs/a.yaml"] = (
        "runner: Runner\nmodules:\n  net:\n    model:\n      kind: small\nhooks:\n  Saver:\n    every: 10\n"
    )
    found = _map(tmp_path, files, "train.py", "python train.py configs/a.yaml")
    assert "small.py" in _shown(found, "model") and "large.py" not in _shown(found, "model")
    assert 6 in _lines(found, "checkpointing", "hooks.py") and 11 not in _lines(found, "evaluation", "hooks.py")


def test_a_class_that_a_record_keeps_and_several_functions_hand_on_is_followed(tmp_path: Path) -> None:
    train = (
        "from dataclasses import dataclass\n\nimport torch\nfrom nets.large import LargeNet\nfrom nets.small import SmallNet\n\n\n@dataclass\nclass Options:\n"
        "    width: int\n    model_class: type\n\n\nclass Predictor(torch.nn.Module):\n    def __init__(self, model_class, model_kwargs):\n        super().__init__()\n"
        "        self.options = Options(2, model_class=model_class)\n        self.model = self.options.model_class(**model_kwargs)\n\n"
        "    def forward(self, x):\n        return self.model(x)\n\n\ndef choose(name):\n    if name == 'small':\n        model_class = SmallNet\n    else:\n"
        "        model_class = SmallNet\n    return model_class, {}\n\n\ndef load(model_class, model_kwargs):\n    return Predictor(model_class=model_class, model_kwargs=model_kwargs)\n\n\n"
        f"def main():\n    model_class, kwargs = choose('small')\n    net = load(model_class=model_class, model_kwargs=kwargs)\n{OPTIMIZER}{BODY}{GUARD}"
    )
    files = {
        "train.py": train,
        "nets/__init__.py": "",
        "nets/small.py": NETS["SmallNet"],
        "nets/large.py": NETS["LargeNet"],
    }
    assert {3, 8} <= _lines(_map(tmp_path, files, "train.py"), "model", "nets/small.py")


ENVIRONMENT = (
    "import torch\n\n\nclass WalkTask:\n    def reset(self):\n        return torch.zeros(2)\n\n    def step(self, action):\n        return self.compute_observations(), self.compute_reward()\n\n"
    "    def compute_observations(self):\n        return torch.ones(2)\n\n    def compute_reward(self):\n        return torch.ones(1)\n"
)


def test_an_environment_is_where_data_come_from_and_what_it_rewards_is_minimised(tmp_path: Path) -> None:
    train = (
        "import hydra\nimport torch\nfrom hydra.utils import instantiate\n\n\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n    env = instantiate(cfg.env)\n"
        f"    net = torch.nn.Linear(2, 1)\n{OPTIMIZER}\n    state = env.reset()\n    for step in range(9):\n        state, reward = env.step(net(state))\n"
        f"        loss = -reward.mean()\n        opt.zero_grad()\n        loss.backward()\n        opt.step(){GUARD}"
    )
    files = {"train.py": train, "worlds/__init__.py": "", "worlds/walk.py": ENVIRONMENT}
    files |= {
        "conf/base.yaml": "defaults:\n- env: walk\n- _self_\nseed: 1\n",
        "conf/env/walk.yaml": "_target_: worlds.walk.WalkTask\n",
    }
    found = _map(tmp_path, files, "train.py", "python train.py")
    assert {4, 8} <= _lines(found, "data", "worlds/walk.py") and 14 in _lines(found, "loss", "worlds/walk.py")


def test_hydra_s_folder_holds_what_belongs_to_the_run_and_what_conda_installs_sets_nothing(tmp_path: Path) -> None:
    train = (
        "import hydra\nimport json\nimport torch\nimport yaml\n\nOTHER = 'conf/tasks/second.yaml'\n\n\ndef tune():\n    return yaml.safe_load(open('conf/tasks/second.yaml')), yaml.safe_load(open('environment.yml'))\n\n\n"
        "def letters():\n    return json.load(open('letters.json'))\n\n\n@hydra.main(config_path='conf', config_name='base')\ndef main(cfg):\n    tune()\n    letters()\n"
        f"    net = torch.nn.Linear(2, cfg.tasks.width)\n{OPTIMIZER}{BODY}{GUARD}"
    )
    files = {"train.py": train, "conf/base.yaml": "defaults:\n- tasks: first\n", "conf/tasks/first.yaml": "width: 3\n"}
    files |= {"conf/tasks/second.yaml": "width: 4\n", "letters.json": '[[0, 64, "Common"], [65, 90, "Latin"]]\n'}
    files["environment.yml"] = "name: project\nchannels:\n- pytorch\ndependencies:\n- python=3.8\n"
    found = _map(tmp_path, files, "train.py", "python train.py")
    assert "conf/tasks/first.yaml" in _shown(found, "config")
    assert not _shown(found, "config") & {"conf/tasks/second.yaml", "environment.yml", "letters.json"}


def test_a_configuration_that_the_command_names_for_a_parser_by_hand_is_found(tmp_path: Path) -> None:
    main = (
        "import os\nimport sys\n\nimport torch\nimport yaml\n\n\ndef read(params, name, folder):\n    for one in params:\n        if one.split('=')[0] == name:\n"
        "            file = os.path.join(os.path.dirname(__file__), 'config', folder, '{}.yaml'.format(one.split('=')[1]))\n            return yaml.safe_load(open(file))\n\n\n"
        f"def main():\n    args = {{**read(sys.argv, '--config', 'algs'), **read(sys.argv, '--env-config', 'envs')}}\n    net = torch.nn.Linear(2, 1)\n{OPTIMIZER}{BODY}{GUARD}"
    )
    files = {
        "src/main.py": main,
        "src/config/algs/qmix.yaml": "parent: common\nagent: rnn\n",
        "src/config/algs/common.yaml": "parent: lowest\nlr: 0.5\n",
        "src/config/algs/lowest.yaml": "batch_size: 8\n",
        "src/config/algs/vdn.yaml": "lr: 0.1\n",
    }
    files |= {
        "src/config/envs/sc2.yaml": "env: sc2\nseed: 1\n",
        "src/config/envs/sc2_offline.yaml": "env: sc2\nseed: 2\n",
    }
    found = _map(tmp_path, files, "src/main.py", "python src/main.py --config=qmix --env-config=sc2_offline")
    shown = _shown(found, "config")
    assert {"src/config/algs/qmix.yaml", "src/config/envs/sc2_offline.yaml"} <= shown
    assert {"src/config/algs/common.yaml", "src/config/algs/lowest.yaml"} <= shown  # on which it builds
    assert not shown & {"src/config/algs/vdn.yaml", "src/config/envs/sc2.yaml"}


def test_where_labels_go_into_a_model_and_are_left_out_is_told_of_a_trainer_s_loss(tmp_path: Path) -> None:
    model = (
        "import torch\nfrom transformers import AutoModelForCausalLM, PreTrainedModel\n\n\nclass Wrapped(PreTrainedModel):\n    def __init__(self, config):\n        super().__init__(config)\n"
        "        self.inner = AutoModelForCausalLM.from_config(config)\n\n    def forward(self, input_ids, labels=None):\n        return self.inner.forward(input_ids=input_ids, labels=labels)\n"
    )
    data = "import torch\n\nIGNORE_INDEX = -100\n\n\ndef collate(batch):\n    labels = torch.stack(batch)\n    labels[labels == 0] = IGNORE_INDEX\n    return {'labels': labels}\n"
    train = (
        "from data import collate\nfrom model import Wrapped\nfrom transformers import AutoConfig, Trainer\n\n\ndef main():\n    model = Wrapped(AutoConfig.from_pretrained('a'))\n"
        f"    trainer = Trainer(model=model, train_dataset=[], data_collator=collate)\n    trainer.train(){GUARD}"
    )
    found = _map(tmp_path, {"train.py": train, "model.py": model, "data.py": data}, "train.py")
    assert {10, 11} <= _lines(found, "loss", "model.py") and 8 in _lines(found, "loss", "data.py")


BY_LETTERS = (
    "import argparse\n\nimport torch\nfrom nets.build import build_net\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--net', default='large_net')\n    parser.add_argument('--teacher', default='')\n    args = parser.parse_args()\n"
    "    net = build_net(args.net)\n    if args.teacher != '':\n        teacher = build_net(args.teacher)\n"
    f"{OPTIMIZER}{BODY}{GUARD}"
)
BUILDER = (
    "from . import small\nfrom .large import LargeNet\nfrom .own import OwnNet, nets\n\n\ndef build_net(name):\n    if name.lower() == 'large_net':\n"
    "        net = LargeNet()\n    elif name.lower().startswith('small'):\n        net = getattr(small, name.lower())(width=3)\n"
    "    elif name.startswith('own_'):\n        name = name[4:]\n        net = nets[name]()\n    else:\n        raise ValueError(name)\n    return net\n"
)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("--net SmallNet", {"small"}),
        ("--net SmallNet --teacher large_net", {"small", "large", "own"}),
    ],
)
def test_what_a_module_has_under_a_name_is_made_in_the_arm_that_the_name_takes(
    tmp_path: Path, given: str, shown: set[str]
) -> None:
    small = NETS["SmallNet"] + "\n\ndef smallnet(width):\n    return SmallNet(width)\n"
    own = NETS["LargeNet"].replace("LargeNet", "OwnNet") + "\n\nnets = {'net': OwnNet}\n"
    files = {"train.py": BY_LETTERS, "nets/__init__.py": "", "nets/build.py": BUILDER, "nets/small.py": small}
    files |= {"nets/large.py": NETS["LargeNet"], "nets/own.py": own}
    found = _map(tmp_path, files, "train.py", f"python train.py {given}")
    made = {path for path in _shown(found, "model") if path.startswith("nets/") and path != "nets/build.py"}
    assert made == {f"nets/{one}.py" for one in shown}
