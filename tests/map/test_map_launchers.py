"""What a launcher, a script with stages or a word of a setting starts: programs that were mapped as another one, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_map_started_by import TRAIN, _map
from trainsleuth.facts import Class
from trainsleuth.map import Map, expand_component
from trainsleuth.map.build import find_program, read_index
from trainsleuth.map.launching.launch import command_of
from trainsleuth.repository import Repository

PARSER = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--stage', type=int, default=3)\nargs = parser.parse_args()\n"
STEP = (
    "        for x, y in self.loader:\n            self.optimizer.zero_grad()\n            ((self.net(x) - y) ** 2).mean().backward()\n"
    "            self.optimizer.step()\n"
)
TRAINER = (
    "import torch\n\nclass Trainer:\n    def __init__(self, net):\n        self.net, self.loader = net, []\n"
    "        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n\n    def run(self):\n" + STEP
)


def _loop(found: Map) -> list[str]:
    """Files that its training loop is shown in, the first place first."""
    return list(dict.fromkeys(place.path for place in found.components["training_loop"].places))


def test_of_several_programs_that_a_launcher_starts_the_one_that_trains_is_mapped(tmp_path: Path) -> None:
    launcher = (
        "import subprocess\n\ndef main():\n    for name in ('a', 'b'):\n        subprocess.Popen([\n            'python', '-m',\n"
        "            'project.serve', name,\n        ])\n    subprocess.Popen([\n        'torchrun',\n        '-m',\n        'project.rl.train',\n    ])\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    files = {"src/project/rl/train.py": TRAIN, "src/project/serve.py": "print(1)\n", "src/project/rl/__init__.py": ""}
    files |= {"src/project/__init__.py": "", "src/project/start.py": launcher}
    found = _map(tmp_path, files, "src/project/start.py", "python src/project/start.py")
    assert (found.trains, found.entry) == (True, "src/project/rl/train.py")


def test_options_in_a_text_file_of_a_launcher_belong_to_the_program(tmp_path: Path) -> None:
    launcher = "import subprocess\nimport sys\n\nif __name__ == '__main__':\n    subprocess.call('python train_net.py ' + open(sys.argv[2]).read(), shell=True)\n"
    program = (
        "import hydra\nimport torch\n\n@hydra.main(config_path='conf', config_name='config')\ndef main(cfg):\n"
        "    net = torch.nn.Linear(2, 1)\n    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.optim.lr)\n    for x in []:\n"
        "        optimizer.zero_grad()\n        net(x).mean().backward()\n        optimizer.step()\n\nif __name__ == '__main__':\n    main()\n"
    )
    files = {"launch.py": launcher, "train_net.py": program, "conf/config.yaml": "defaults:\n- optim: small\n"}
    files |= {"conf/optim/small.yaml": "lr: 0.1\n", "conf/optim/large.yaml": "lr: 0.9\nwarmup: 7\n"}
    files |= {
        "runs/one.txt": "# the paper's\noptim=large\n\noptim.lr=0.5\n",
        "runs/notes.txt": "a note: lr=3 was bad\n",
    }
    _map(tmp_path, files)
    sheet = expand_component(tmp_path, "run", "launch.py", "python launch.py -c runs/one.txt").text
    assert (
        "lr=0.5" in sheet
        and "large.yaml" in expand_component(tmp_path, "config", "launch.py", "python launch.py -c runs/one.txt").text
    )
    assert "lr=0.1" in expand_component(tmp_path, "run", "launch.py", "python launch.py -c runs/notes.txt").text


STAGES = (
    "bash project/start.sh project/run_net.py --stage=1 --more\nbash project/start.sh project/run_net.py --stage=3 --gpus=0,1 --more\n"
    "bash project/start.sh project/run_net.py --stage=4\n"
)


def test_a_script_that_gets_the_program_and_a_folder_that_is_the_checkout(tmp_path: Path) -> None:
    program = f"{PARSER}\n{TRAIN}".replace("    main()", "    if args.stage <= 3:\n        main()")
    files = {"net/run_net.py": program, "start.sh": "python get_port.py\n$cmd $launcher\n", "get_port.py": "print(1)\n"}
    script = STAGES.replace("project/run_net", "project/net/run_net")
    found = _map(tmp_path, {**files, "recipe/all.sh": script}, "net/run_net.py", "recipe/all.sh")
    assert "--stage=3 --gpus=0,1" in found.text.partition("# data")[0]
    assert _loop(found) == ["net/run_net.py"]


def test_a_file_of_settings_behind_a_script_is_no_program(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "start.sh": "python train.py $1\n", "configs/a.py": "lr = 0.1\n"}
    found = _map(tmp_path, {**files, "all.sh": "bash start.sh configs/a.py 8\n"}, None, "all.sh")
    assert found.entry == "train.py"


def test_one_module_or_another_is_the_one_that_settings_leave(tmp_path: Path) -> None:
    main = (
        "import argparse\nimport torch\nimport fast\nimport plain\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--fast', action='store_true')\nargs = parser.parse_args()\nengine = fast if args.fast else plain\n"
        "trainer = engine.Trainer(torch.nn.Linear(2, 1))\ntrainer.run()\n"
    )
    files = {"fast.py": TRAINER, "plain.py": TRAINER, "other.py": TRAINER, "main.py": main}
    assert _loop(_map(tmp_path, files, "main.py", "python main.py"))[0] == "plain.py"
    assert _loop(_map(tmp_path, files, "main.py", "python main.py --fast"))[0] == "fast.py"


def test_a_network_whose_file_the_caller_names_is_loaded(tmp_path: Path) -> None:
    load = "import os\nimport sys\n\ndef load(blueprint):\n    sys.path.insert(0, os.path.dirname(blueprint))\n    return __import__(os.path.basename(blueprint).split('.')[0])\n"
    net = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    main = (
        "import torch\nfrom loads import load\n\nblueprint = 'project/nets/wide.py'\nmodule = load(blueprint)\nnet = module.Net()\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in []:\n    optimizer.zero_grad()\n    net(x).mean().backward()\n    optimizer.step()\n"
    )
    other = "from loads import load\n\nload('project/nets/deep.py')\n"
    files = {"loads.py": load, "nets/wide.py": net, "nets/deep.py": net, "main.py": main, "other.py": other}
    found = _map(tmp_path, files, "main.py", "python main.py")
    shown = {place.path for place in found.components["model"].places}
    assert "nets/wide.py" in shown and "nets/deep.py" not in shown


CALLED = (
    "import hydra\nimport torch\n\nimport programs\n\n@hydra.main(config_path='conf', config_name='config')\ndef main(cfg):\n"
    "    getattr(programs, cfg.program.name).main(cfg)\n\nif __name__ == '__main__':\n    main()\n"
)
FITTED = (
    "import hydra\nimport torch\n\ndef one_epoch(net, optimizer):\n    for x in []:\n        optimizer.zero_grad()\n        net(x).mean().backward()\n"
    "        optimizer.step()\n\ndef main(cfg):\n    net = torch.nn.Linear(2, 1)\n    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "    for epoch in range(9):\n        hydra.utils.call(cfg.step, net, optimizer)\n"
)


def test_a_package_that_is_asked_for_a_module_and_a_function_that_a_section_names(tmp_path: Path) -> None:
    files = {
        "run_net.py": CALLED,
        "programs/__init__.py": "from . import fit\nfrom . import show\n",
        "programs/fit.py": FITTED,
    }
    files |= {"programs/show.py": "def main(cfg):\n    print(cfg)\n"}
    files["conf/config.yaml"] = "program:\n  name: fit\nstep:\n  _target_: programs.fit.one_epoch\n"
    found = _map(tmp_path, files, "run_net.py", "python run_net.py")
    lines = {place.line for place in found.components["training_loop"].places if place.path == "programs/fit.py"}
    assert {13, 14} <= lines, "the loop around the call, and the call"


def test_a_class_by_its_full_name_runs_what_is_called_of_it(tmp_path: Path) -> None:
    lookup = "import importlib\n\ndef by_name(name):\n    module, cls = name.rsplit('.', 1)\n    return getattr(importlib.import_module(module), cls)\n"
    main = (
        "import argparse\nimport torch\nfrom omegaconf import OmegaConf\nfrom lookup import by_name\n\nif __name__ == '__main__':\n"
        "    parser = argparse.ArgumentParser()\n    parser.add_argument('--cfg', default='a.yaml')\n    args = parser.parse_args()\n"
        "    cfg = OmegaConf.load(args.cfg)\n    trainer = by_name(cfg.trainer.target)(torch.nn.Linear(2, 1))\n    trainer.run()\n"
    )
    tried = TRAINER + "\nif __name__ == '__main__':\n    print(torch.ones(3))\n"
    files = {"main.py": main, "lookup.py": lookup, "engine.py": tried, "a.yaml": "trainer:\n  target: engine.Trainer\n"}
    found = _map(tmp_path, files, "main.py", "python main.py --cfg a.yaml")
    assert found.entry == "main.py", "the class is made here; what its own file tries of it is no program"
    assert ("main.py", 12) in {(one.path, one.line) for one in found.components["training_loop"].places}


def test_all_files_that_hydra_composes_count_and_a_folder_behind_a_variable_is_found(tmp_path: Path) -> None:
    program = (
        "import os\nimport hydra\nimport torch\n\n_folder = os.path.join(os.environ['PROJECT_ROOT'], 'nets/configs')\n\n"
        "@hydra.main(config_path=_folder, config_name='train')\ndef main(cfg):\n    net = torch.nn.Linear(2, 1)\n"
        "    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.last.lr)\n    for x in []:\n        optimizer.zero_grad()\n"
        "        net(x).mean().backward()\n        optimizer.step()\n\nif __name__ == '__main__':\n    main()\n"
    )
    groups = [f"g{number}" for number in range(60)]
    files = {f"nets/configs/{name}/a.yaml": "x: 1\n" for name in groups}
    files["nets/configs/train.yaml"] = "defaults:\n" + "".join(f"- {name}: a\n" for name in groups) + "- last: a\n"
    files |= {"nets/configs/last/a.yaml": "lr: 0.25\n", "nets/src/train.py": program}
    _map(tmp_path, files)
    assert "lr=0.25" in expand_component(tmp_path, "run", "nets/src/train.py", "python nets/src/train.py").text


@pytest.mark.parametrize(("over", "said"), [("loaders.items()", "each epoch"), ("enumerate(loader)", "each batch")])
def test_a_table_of_loaders_is_gone_through_once_an_epoch(over: str, said: str, tmp_path: Path) -> None:
    program = (
        "import torch\n\ndef evaluate(net, loader):\n    net.eval()\n    with torch.no_grad():\n        return sum(net(x).mean() for x in loader)\n\n"
        f"def main(loader, loaders):\n    net = torch.nn.Linear(2, 1)\n    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "    for epoch in range(9):\n        for x in loader:\n            optimizer.zero_grad()\n            net(x).mean().backward()\n"
        f"            optimizer.step()\n        for name, one in {over}:\n            evaluate(net, one)\n\nif __name__ == '__main__':\n    main([], {{}})\n"
    )
    _map(tmp_path, {"train.py": program})
    sheet = expand_component(tmp_path, "run", "train.py").text
    [line] = [one for one in sheet.split("\n") if "evaluate(net, one)" in one]
    assert said in line


def test_what_a_long_value_says_is_shown_around_the_match(tmp_path: Path) -> None:
    long = ", ".join(f"weight_of_{name}=0.{place}" for place, name in enumerate("abcdefghijklmnopqrstuvwx"))
    _map(tmp_path, {"train.py": TRAIN, "loss.yaml": f"criterion: Total({long}, last_index=[0, 2])\n"})
    text = expand_component(tmp_path, "lines last_index in loss.yaml", "train.py").text
    assert "criterion: Total(" in text and "last_index=[0" in text and "weight_of_k" not in text


def test_settings_that_functions_of_a_script_construct_are_read_though_code_reads_tables(tmp_path: Path) -> None:
    library = (
        "import json\nfrom dataclasses import dataclass\n\nSTATS = json.load(open('lib/stats.json'))\n\n@dataclass\nclass NetConfig:\n"
        "    width: int = 4\n    depth: int = 2\n    dropout: float = 0.5\n    heads: int = 1\n\ndef main(net_builder):\n    fit(net_builder())\n\n"
        "def fit(config):\n    import torch\n    net = torch.nn.Linear(config.width, 1)\n    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "    for x in []:\n        optimizer.zero_grad()\n        net(x).mean().backward()\n        optimizer.step()\n"
    )
    script = (
        "from lib.run import NetConfig, main\n\ndef build_net():\n    return NetConfig(width=64, depth=8, dropout=0.1, heads=16)\n\n"
        "if __name__ == '__main__':\n    main(net_builder=build_net)\n"
    )
    files = {
        "lib/__init__.py": "",
        "lib/run.py": library,
        "lib/stats.json": '{"width": 7, "mean": 0.3}\n',
        "scripts/base.py": script,
    }
    _map(tmp_path, files)
    index = read_index(Repository(tmp_path))
    program = find_program(index, "scripts/base.py", None, command_of(index, "python scripts/base.py"))
    assert program is not None
    given = {one.key.rpartition(".")[2]: one.value for one in program.settings}
    assert (given["width"], given["heads"]) == ("64", "16") and "mean" not in given


def test_a_trainer_of_olmo_core_hides_the_loop(tmp_path: Path) -> None:
    program = (
        "from dataclasses import dataclass\n\nfrom olmo_core.train import TrainerConfig\nfrom olmo_core.train.train_module import TrainModule\n\n"
        "class Module(TrainModule):\n    def train_batch(self, batch):\n        loss = self.model(batch).mean()\n        loss.backward()\n\n"
        "@dataclass\nclass Experiment:\n    trainer: TrainerConfig\n\ndef train(config: Experiment):\n"
        "    trainer = config.trainer.build(Module(), [])\n    trainer.fit()\n\nif __name__ == '__main__':\n    train(Experiment(TrainerConfig()))\n"
    )
    found = _map(tmp_path, {"train.py": program})
    assert found.framework == "OLMo-core" and found.components["training_loop"].status == "elsewhere"
    assert {7, 17} <= {one.line for one in found.components["training_loop"].places}


BUILT = {
    "run.py": "import argparse\nimport torch\n\ndef main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--config')\n"
    "    config = load(parser.parse_args().config)\n    net = torch.nn.Linear(2, 1)\n    optimizer = torch.optim.SGD(net.parameters(), lr=config.params.lr)\n"
    "    for x in []:\n        optimizer.zero_grad()\n        net(x).mean().backward()\n        optimizer.step()\n\nif __name__ == '__main__':\n    main()\n",
    "zoo/base.py": "from ml_collections import ConfigDict\n\ndef get_default_cfg(name, seed=-1):\n    config = ConfigDict()\n    config.name = name\n"
    "    config.seed = seed\n    return config\n\ndef class_config(clazz, **kwargs):\n    return ConfigDict({'class_path': clazz, 'init_args': kwargs})\n",
    "zoo/nets.py": "class Net:\n    pass\n",
    "zoo/small.py": "from ml_collections import ConfigDict\nfrom zoo.base import class_config, get_default_cfg\nfrom zoo.nets import Net\n\n"
    "def get_config():\n    config = get_default_cfg(name='small')\n    params = ConfigDict()\n    params.lr = 0.025\n    config.params = params\n"
    "    config.model, config.steps = class_config(Net, width=64), [7]\n    config.steps += [8]\n    return config.value_mode()\n",
}


def test_settings_that_functions_build_out_of_others(tmp_path: Path) -> None:
    _map(tmp_path, BUILT)
    index = read_index(Repository(tmp_path))
    program = find_program(index, "run.py", None, command_of(index, "python run.py --config zoo/small.py"))
    assert program is not None
    given = {one.key: (one.value, one.path, one.line) for one in program.settings}
    assert given["params.lr"] == ("0.025", "zoo/small.py", 8)
    assert given["name"][0] == "small" and given["seed"][:2] == ("-1", "zoo/base.py")
    assert given["model._target_"][0] == "zoo.nets.Net" and given["model.width"][0] == "64"
    assert (given["steps.0"][0], given["steps.1"][0]) == ("7", "8")


def test_a_folder_that_is_an_argument_by_itself_holds_the_settings(tmp_path: Path) -> None:
    program = TRAIN.replace(
        "import torch\n",
        "import sys\nimport torch\nimport json\n\nhyper = json.load(open(sys.argv[1] + '/hyper.json'))\n",
        1,
    )
    files = {
        "run.py": program.replace("lr=0.1", "lr=hyper['lr']"),
        "exp/a/hyper.json": '{"lr": 0.3}\n',
        "exp/b/hyper.json": '{"lr": 0.7}\n',
    }
    _map(tmp_path, files)
    assert "lr=0.7" in expand_component(tmp_path, "run", "run.py", "python run.py exp/b --gpus 1").text


@pytest.mark.twins
def test_functions_of_settings_that_call_each_other_end_soon(tmp_path: Path) -> None:
    calls = ", ".join(["get_config()"] * 60)
    files = {"zoo/small.py": f"def get_config():\n    return dict(a=[{calls}], lr=0.5)\n", "run.py": BUILT["run.py"]}
    assert _map(tmp_path, files, "run.py", "python run.py --config zoo/small.py").trains


def test_a_class_whose_name_is_handed_as_a_text_to_what_loads_it(tmp_path: Path) -> None:
    loader = "def load(package, name):\n    exec('from ' + package + ' import ' + name + ' as found', globals())\n    return eval('found')\n"
    start = (
        "import argparse\nfrom loader import load\n\ndef by_name(name):\n    table = {'big': ('big_trainer', 'BigTrainer'), 'small': ('small_trainer', 'SmallTrainer')}\n"
        "    return load('trainers.' + table[name][0], table[name][1])\n\nif __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('name')\n    kind = by_name(parser.parse_args().name)\n    trainer = kind(None)\n    trainer.run()\n"
    )
    files = {"train.py": start, "loader.py": loader, "trainers/__init__.py": ""}
    files |= {
        f"trainers/{one}_trainer.py": TRAINER.replace("Trainer", f"{one.title()}Trainer") for one in ("big", "small")
    }
    found = _map(tmp_path, files, "train.py", "python train.py small")
    assert found.trains
    assert "trainers/small_trainer.py" in _loop(found)


def test_a_name_that_is_put_together_of_itself_ends(tmp_path: Path) -> None:
    loader = "def load(name):\n    return __import__(name)\n"
    start = (
        "import sys\nfrom loader import load\nfrom train import run\n\ndef main():\n    name = sys.argv[0]\n    for part in sys.argv:\n"
        "        name = part + name\n    trainer = load(name + '.py')\n    run(trainer)\n\nif __name__ == '__main__':\n    main()\n"
    )
    train = "def run(trainer):\n" + "".join(f"    {line}\n" for line in TRAIN.splitlines())
    _map(tmp_path, {"start.py": start, "loader.py": loader, "train.py": train}, "start.py", "python start.py small")


def test_a_subcommand_of_a_console_script_has_the_command_that_begins_like_it(tmp_path: Path) -> None:
    main = (
        "import argparse\n\ndef main():\n    import tool.clean\n    import tool.fit\n    parsers = argparse.ArgumentParser().add_subparsers()\n"
        "    for module in [tool.clean, tool.fit]:\n        own = parsers.add_parser(module.__name__)\n        own.set_defaults(func=module.main)\n"
    )
    files = {"tool/__main__.py": main, "tool/__init__.py": "", "tool/clean.py": "def main(args):\n    pass\n"}
    files["tool/fit.py"] = "def main(args):\n" + "".join(f"    {line}\n" for line in TRAIN.splitlines())
    files["pyproject.toml"] = '[project]\nname = "tool"\n[project.scripts]\ntool = "tool.__main__:main"\n'
    files["README.md"] = "```\ntool clean data.csv --to clean.csv -n 50\ntool fit clean.csv\n```\n"
    found = _map(tmp_path, files, "tool/fit.py", "tool fit data.csv --to clean.csv -n 50")
    shown = [(place.path, place.line) for place in found.components["entry_point"].places]
    assert {("README.md", 3), ("tool/__main__.py", 3)} <= set(shown)
    assert ("README.md", 2) not in shown


BRAIN = """import sys
import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class ASR(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.enc(batch.sig)

    def compute_objectives(self, predictions, batch, stage):
        return self.hparams.cost(predictions, batch.tokens)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    brain = ASR(modules=hparams["modules"], opt_class=hparams["opt_class"], hparams=hparams, run_opts=run_opts)
    brain.fit(range(3), [], [])
"""
HPARAMS = """lr: 0.5
enc: !new:own_model.Encoder
  size: 4
cost: !name:torch.nn.functional.mse_loss
modules:
  enc: !ref <enc>
opt_class: !name:torch.optim.Adam
  lr: !ref <lr>
"""
ENCODER = "import torch\n\n\nclass Encoder(torch.nn.Module):\n    def __init__(self, size):\n        super().__init__()\n\n    def forward(self, x):\n        return x\n"


def test_a_brain_of_speechbrain_trains_the_modules_of_its_recipe_behind_a_link_as_well(tmp_path: Path) -> None:
    files = {"recipes/asr/train.py": BRAIN, "recipes/asr/hparams/train.yaml": HPARAMS, "models/own_model.py": ENCODER}
    files["recipes/other/own_model.py"] = ENCODER.replace("return x", "return x + 1")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "recipes/asr/own_model.py").symlink_to("../../models/own_model.py")
    found = _map(tmp_path, {}, "recipes/asr/train.py", "python train.py hparams/train.yaml")
    assert (found.trains, found.framework) == (True, "SpeechBrain")
    models = {(place.path, place.line) for place in found.components["model"].places}
    assert {("models/own_model.py", 4), ("recipes/asr/hparams/train.yaml", 2)} <= models
    assert not any(path == "recipes/other/own_model.py" for path, _ in models)
    loop = {place.line for place in found.components["training_loop"].places if place.path == "recipes/asr/train.py"}
    assert {7, 8, 10, 19} <= loop


def test_a_launcher_whose_module_stands_in_a_name(tmp_path: Path) -> None:
    launcher = "import os\n\ndef run(seed):\n    exe = 'project.train'\n    os.system(f'python -m {exe} --seed {seed}')\n\nif __name__ == '__main__':\n    run(1)\n"
    files = {"project/__init__.py": "", "project/train.py": TRAIN, "project/study.py": launcher}
    found = _map(tmp_path, files, "project/study.py", "python -m project.study")
    assert (found.trains, found.entry) == (True, "project/train.py")


def test_a_program_that_a_called_file_starts(tmp_path: Path) -> None:
    again = "import subprocess\n\ndef main(rate):\n    subprocess.call(['python', 'scripts/train.py', rate])\n"
    files = {"scripts/train.py": TRAIN, "scripts/again.py": again}
    files["scripts/run_again.py"] = "from again import main\n\nmain('0.1')\n"
    found = _map(tmp_path, files, "scripts/run_again.py", "python scripts/run_again.py")
    assert (found.trains, found.entry) == (True, "scripts/train.py")


@pytest.mark.parametrize("command", ["./fit.py", "fit-it"])
def test_one_word_that_starts_a_program(command: str, tmp_path: Path) -> None:
    files = {
        "fit.py": PARSER + TRAIN,
        "pyproject.toml": '[project]\nname = "fit"\n[project.scripts]\nfit-it = "fit:main"\n',
    }
    found = _map(tmp_path, files, None, command)
    assert (found.trains, found.entry) == (True, "fit.py")


SOLVER = """from solverlib import Solver


class Own(Solver):
    def get_model(self, flags):
        return None

    def get_dataset(self, flags):
        return None

    def train_step(self, batch):
        return {"loss": self.model(batch).mean()}


if __name__ == "__main__":
    Own.main()
"""


def test_a_class_of_an_unknown_solver_is_started_by_its_class_method(tmp_path: Path) -> None:
    found = _map(tmp_path, {"classify.py": SOLVER, "other.py": SOLVER.replace("Own", "Other")}, "classify.py")
    assert (found.trains, found.framework) == (True, "solverlib")
    shown = {
        name: {place.line for place in found.components[name].places} for name in ("model", "data", "training_loop")
    }
    assert 5 in shown["model"] and 8 in shown["data"] and {11, 16} <= shown["training_loop"]
    assert all(place.path == "classify.py" for part in found.components.values() for place in part.places)


BY_STAGES = """import argparse
import os
from subprocess import call

ROOT = os.path.dirname(os.path.dirname(__file__))


def prepare(args):
    print(args)


def train(args):
    script = os.path.join(ROOT, 'src', 'project', 'train.py')
    call(['python', f'{script}', '--rate', f'{args.rate}'])


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--rate')
    parsers = parser.add_subparsers()
    parsers.add_parser('prepare').set_defaults(func=prepare)
    parsers.add_parser('train').set_defaults(func=train)
    args = parser.parse_args()
    args.func(args)
"""


def test_a_launcher_that_calls_by_a_bare_name_is_told_with_its_program(tmp_path: Path) -> None:
    files = {"scripts/stages.py": BY_STAGES, "src/project/train.py": TRAIN, "src/project/__init__.py": ""}
    files["README.md"] = "```\ncd scripts\npython stages.py --rate 3 prepare\npython stages.py --rate 0.1 train\n```\n"
    found = _map(tmp_path, files, "scripts/stages.py", "python stages.py --rate 0.1 train")
    assert (found.trains, found.entry) == (True, "src/project/train.py")
    shown = {(place.path, place.line) for place in found.components["entry_point"].places}
    assert {("README.md", 4), ("scripts/stages.py", 12), ("scripts/stages.py", 14), ("scripts/stages.py", 17)} <= shown


GIN = """import argparse
import gin


@gin.configurable
def fit(model=gin.REQUIRED):
    model.train([])


def start(config):
    gin.parse_config_files_and_bindings([config], [])
    fit()


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parsers = parser.add_subparsers(dest='command', required=True)
    parser_prepare = parsers.add_parser('prepare')
    parser_train = parsers.add_parser('train')
    parser_train.add_argument('-c', '--config')
    args = parser.parse_args()
    if args.command in ['train', 'evaluate']:
        start(args.config)
"""
WRAPPER = "import gin\nimport torch\n\n\n@gin.configurable\nclass Wrapper:\n    def __init__(self, loader):\n        self.net, self.loader = torch.nn.Linear(2, 1), loader\n        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)\n\n    def train(self, data):\n"


@pytest.mark.parametrize(
    ("command", "trains"),
    [
        ("python run.py train -c [path to the settings]", True),
        ("python run.py train -c small.gin", True),
        ("python run.py prepare", False),
    ],
)
def test_what_gin_fills_is_trained_by_the_subcommand_that_reads_its_settings(
    command: str, trains: bool, tmp_path: Path
) -> None:
    files = {
        "run.py": GIN,
        "wrappers.py": WRAPPER + STEP,
        "small.gin": "import wrappers\n\nfit.model = @Wrapper()\nWrapper.loader = []\n",
    }
    found = _map(tmp_path, files, None, command)
    assert found.trains is trains
    assert not trains or "wrappers.py" in _loop(found)


TABLE = """import fire
import torch
from algos import large, small
from config import large_settings, small_settings

ALGOS = {
    "large": {"algo": large, "settings": large_settings},
    "small": {"algo": small, "settings": small_settings},
}


def choose(args):
    name = args["algo_name"]
    algo = ALGOS[name]["algo"]
    settings = {key: getattr(ALGOS[name]["settings"], key) for key in dir(ALGOS[name]["settings"])}
    trainer = algo.Trainer
    return trainer, settings


def run(**given):
    trainer, settings = choose(given)
    trainer(torch.nn.Linear(2, 1)).run()


if __name__ == "__main__":
    fire.Fire(run)
"""


def test_a_module_out_of_a_table_and_its_settings(tmp_path: Path) -> None:
    files = {"train.py": TABLE, "algos/__init__.py": "", "config/__init__.py": ""}
    for name, rate in (("large", "0.9"), ("small", "0.1")):
        files[f"algos/{name}.py"] = TRAINER
        files[f"config/{name}_settings.py"] = f"rate = {rate}\nbatch_size = 32\nepochs = 5\nname = '{name}'\n"
    found = _map(tmp_path, files, "train.py", "python train.py --algo_name=small")
    assert [path for path in _loop(found) if path.startswith("algos/")] == ["algos/small.py"]
    known = {
        item["name"]: item
        for item in expand_component(tmp_path, "config", "train.py", "python train.py --algo_name=small").items
    }
    assert (known["rate"]["value"], known["name"]["value"]) == ("0.1", "small")


PLACED = """import argparse
import torch


class Config:
    LEARNING_RATE = 0.001
    MOMENTUM = 0.9
    STEPS = 1000
    WIDTH = 8
    DEPTH = 2
    NAME = None

    def display(self):
        print(vars(self))


class SmallConfig(Config):
    NAME = "small"
    STEPS = 50


class TestConfig(SmallConfig):
    STEPS = 1


parser = argparse.ArgumentParser()
parser.add_argument("command")
parser.add_argument("paths", nargs="+")
parser.add_argument("--fast", action="store_true")
parser.add_argument("--rate", type=float, default=0.5)
args = parser.parse_args()
config = SmallConfig() if args.command == "train" else TestConfig()
if args.command == "train":
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=config.LEARNING_RATE, momentum=config.MOMENTUM)
    for step in range(config.STEPS):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("command", "given", "trains"),
    [
        (
            "python run.py train a.csv b.csv --rate 0.1",
            {"command": "train", "paths": "a.csv b.csv", "rate": "0.1"},
            True,
        ),
        ("python run.py --fast --rate 0.1 train a.csv", {"command": "train", "paths": "a.csv", "fast": "True"}, True),
        ("python run.py --rate=0.1 test a.csv", {"command": "test", "paths": "a.csv"}, False),
    ],
)
def test_arguments_without_an_option_have_the_names_of_the_parser(
    command: str, given: dict[str, str], trains: bool, tmp_path: Path
) -> None:
    found = _map(tmp_path, {"run.py": PLACED}, "run.py", command)
    known = {item["name"]: item for item in expand_component(tmp_path, "config", "run.py", command).items}
    assert {name: known[name]["value"] for name in given} == given
    assert found.trains is trains


def test_the_class_of_settings_that_is_made_counts_with_what_it_has_from_above(tmp_path: Path) -> None:
    command = "python run.py train a.csv"
    found = _map(tmp_path, {"run.py": PLACED}, "run.py", command)
    known = {item["name"]: item for item in expand_component(tmp_path, "config", "run.py", command).items}
    assert {name: known[name]["value"] for name in ("NAME", "STEPS", "LEARNING_RATE")} == {
        "NAME": "small",
        "STEPS": "50",
        "LEARNING_RATE": "0.001",
    }
    assert {5, 17} <= {place.line for place in found.components["config"].places}
    assert 6 in {place.line for place in found.components["optimizer_scheduler"].places}


BY_SHELL = """gpus="0,1,2"
config=conf/small.yaml
exp_dir=exp/one
checkpoint=
if [ -z "${config}" ] && [ -f "${exp_dir}/config.yaml" ]; then
  config="${exp_dir}/config.yaml"
fi
num_gpus=$(echo $gpus | awk -F ',' '{print NF}')
if [ -z "${checkpoint}" ] && [ -f "${exp_dir}/latest_checkpoint.pt" ]; then
  checkpoint=${exp_dir}/latest_checkpoint.pt
fi
torchrun --nproc_per_node=$num_gpus train.py --config $config ${checkpoint:+--checkpoint $checkpoint}
"""


def test_a_script_that_counts_devices_and_asks_for_files(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "run.sh": BY_SHELL, "conf/small.yaml": "lr: 0.1\n"}
    found = _map(tmp_path, files, "train.py", "run.sh")
    assert "torchrun --nproc_per_node=3 train.py --config conf/small.yaml" in found.text
    assert "checkpoint" not in found.text.partition("# entry point")[0]


def test_an_absolute_path_of_another_machine_means_the_file_that_ends_like_it(tmp_path: Path) -> None:
    program = f"import argparse\nimport yaml\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--config')\nsettings = yaml.safe_load(open(parser.parse_args().config))\n{TRAIN}"
    files = {"train.py": program, "project/conf/a.yaml": "lr: 0.1\n", "project/conf/b.yaml": "lr: 0.2\n"}
    command = "python train.py --config /workspace/project/conf/b.yaml"
    _map(tmp_path, files, "train.py", command)
    known = {item["name"]: item for item in expand_component(tmp_path, "config", "train.py", command).items}
    assert known["lr"]["value"] == "0.2"


KEPT_CLASS = """import argparse
from engine import Engine, Other


def run(args):
    Kind = args.pop("Kind")
    engine = Kind.build(args)
    engine.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.set_defaults(Kind=Engine)
    run(vars(parser.parse_args()))
"""
ENGINE = (
    TRAINER.replace("class Trainer:", "class Engine:")
    + "\n    @classmethod\n    def build(cls, args):\n        return cls(torch.nn.Linear(2, 1))\n\n\nclass Other(Engine):\n    def run(self):\n        print(1)\n"
)


def test_a_class_that_the_parser_keeps_is_the_one_that_is_built(tmp_path: Path) -> None:
    found = _map(tmp_path, {"train.py": KEPT_CLASS, "engine.py": ENGINE}, "train.py", "python train.py")
    assert found.trains
    assert _loop(found)[0] == "engine.py"
    assert {("train.py", 7), ("train.py", 8)} & {
        (place.path, place.line) for place in found.components["training_loop"].places
    }


MEASURED = """import json
import torch
from measures import intersection_and_union


def evaluate(net, val_loader):
    net.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in val_loader:
            out = net(x)
            total += intersection_and_union(out, y)
    return total


def main(args):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    val_loader = torch.utils.data.DataLoader([1, 2])
    json.dump(vars(args), open("args.json", "w"))
    for x in [torch.ones(1, 2)]:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    evaluate(net, val_loader)


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    for name in "abcdefgh":
        parser.add_argument(f"--{name}")
    parser.add_argument("--depth", type=int, default=3)
    main(parser.parse_args())
"""


def test_what_evaluation_goes_over_and_measures_and_where_settings_are_saved(tmp_path: Path) -> None:
    measures = "def intersection_and_union(out, y):\n    return (out * y).sum()\n"
    found = _map(tmp_path, {"train.py": MEASURED, "measures.py": measures}, "train.py", "python train.py --depth 5")
    evaluation = {(place.path, place.line) for place in found.components["evaluation"].places}
    assert {("train.py", 10), ("train.py", 11), ("train.py", 12), ("train.py", 19), ("measures.py", 1)} <= evaluation
    assert {20, 35} <= {place.line for place in found.components["config"].places}


TWICE = """import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def update(self, x):
        self.optimizer.zero_grad()
        self.net(x).mean().backward()
        self.optimizer.step()

    def _pretrain(self):
        for step in range(3):
            self.update(torch.ones(1, 2))

    def _train(self):
        for step in range(100):
            self.update(torch.ones(1, 2))

    def run(self):
        self._pretrain()
        while True:
            self._train()


if __name__ == "__main__":
    Trainer(torch.nn.Linear(2, 1)).run()
"""


def test_the_loop_is_that_of_the_training_and_not_of_what_is_done_before(tmp_path: Path) -> None:
    found = _map(tmp_path, {"train.py": TWICE}, "train.py", "python train.py")
    assert {10, 11, 12, 19, 20, 24, 25} <= {place.line for place in found.components["training_loop"].places}
    program = find_program(read_index(Repository(tmp_path)), "train.py", None)
    assert program is not None and program.training.step is not None
    way = [caller.name for caller, _ in program.training.ways.back(program.training.step)]
    assert way == ["_train", "run", "<module>"]


BY_EVAL = """import argparse
import torch
from torch.utils.data import DataLoader, Dataset


class Small(Dataset):
    def __getitem__(self, place):
        return torch.ones(2)


class Large(Dataset):
    def __getitem__(self, place):
        return torch.ones(3)


class Net(torch.nn.Module):
    def forward(self, x):
        return x


class Other(torch.nn.Module):
    def forward(self, x):
        return x


parser = argparse.ArgumentParser()
parser.add_argument("--data", default="small")
parser.add_argument("--arch", default="Other")
args = parser.parse_args()
if args.data == "small":
    name = "Small"
else:
    name = "Large"
loader = DataLoader(eval(name)())
net = eval(args.arch)()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""


def test_classes_that_eval_finds_by_a_text_or_a_setting(tmp_path: Path) -> None:
    found = _map(tmp_path, {"train.py": BY_EVAL}, "train.py", "python train.py --data large --arch Net")
    shown = {name: {place.line for place in found.components[name].places} for name in ("data", "model")}
    assert {11, 12} <= shown["data"] and not {6, 7} & shown["data"]
    assert {16, 17} <= shown["model"] and not {21, 22} & shown["model"]


GROUPS = """import hydra
import torch
from hydra.core.config_store import ConfigStore
from nets import MODELS, SETTINGS


@hydra.main(config_path="conf", config_name="train")
def main(cfg):
    net = MODELS[cfg.model.model_name](cfg)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in []:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    store = ConfigStore.instance()
    for name, node in SETTINGS.items():
        store.store(group="model", name=name, node=node)
    main()
"""
NETS = """from dataclasses import dataclass

import torch

MODELS = dict()
SETTINGS = dict()


def register_model(name, dataclass=None):
    def register(cls):
        MODELS[name] = cls
        SETTINGS[name] = dataclass
        return cls

    return register


@dataclass
class SmallConfig:
    model_name: str = "small"


@dataclass
class LargeConfig:
    model_name: str = "large"


@register_model("small", dataclass=SmallConfig)
class Tiny(torch.nn.Module):
    def forward(self, x):
        return x


@register_model("large", dataclass=LargeConfig)
class Huge(torch.nn.Module):
    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(("asked", "chosen"), [("small", "Tiny"), ("large", "Huge")])
def test_the_command_chooses_among_classes_that_each_name_themselves(asked: str, chosen: str, tmp_path: Path) -> None:
    files = {"train.py": GROUPS, "nets.py": NETS, "conf/train.yaml": "defaults:\n- model: null\n"}
    command = f"python train.py model={asked}"
    assert _map(tmp_path, files, "train.py", command).trains
    index = read_index(Repository(tmp_path))
    program = find_program(index, "train.py", None, command_of(index, command))
    assert program is not None
    assert [one.target.name for one in program.choices if isinstance(one.target, Class)] == [chosen]


@pytest.mark.parametrize(("given", "entry"), [("train", "app/train.py"), ("settings", "app/submit.py")])
def test_a_launcher_that_is_a_module_gets_the_program_to_start(given: str, entry: str, tmp_path: Path) -> None:
    submit = "import sys, runpy\n\nif __name__ == '__main__':\n    runpy.run_path(sys.argv[1])\n"
    command = f"python -m app.submit app/{given}.py --nodes 4"
    files = {"app/submit.py": submit, "app/train.py": f"{PARSER}\n{TRAIN}", "app/settings.py": "lr = 0.1\n"}
    shown = _map(tmp_path, {**files, "README.md": f"```\n{command}\n```\n"}, None, None).text
    found = command_of(read_index(Repository(tmp_path)), command)
    assert found is not None and found.target == entry
    assert given != "train" or f"launch: {command} (README.md:2)" in shown
