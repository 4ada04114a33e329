"""Programs that the map has to find by what code spells out: modules, members, folders, other libraries beside torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import Map, expand_component, map_repository


def _map(root: Path, files: Mapping[str, str], recipe: str | None = None) -> Map:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return map_repository(root, recipe=recipe)


def _files(made: Map, part: str) -> set[str]:
    return {place.path for place in made.components[part].places}


NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
STEPPED = STEP.replace("\n", "\n    ")
TRAINS = f"def run(args=None):\n    net = torch.nn.Linear(2, 1)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1){STEPPED}\n"
GUARD = "\n\nif __name__ == '__main__':\n    main()\n"

BY_NAME = {
    "train.py": "import argparse\n\nfrom models import create_model\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--model', default='plain_net')\n    parser.add_argument('--name', default='first')\n"
    "    args = parser.parse_args()\n    model = create_model(args)\n    for batch in range(10):\n"
    "        model.set_input(batch)\n        model.optimize_parameters()\n" + GUARD,
    "models/__init__.py": "import importlib\n\nfrom models.base_model import BaseModel\n\n\ndef find_model_using_name(name):\n"
    "    filename = 'models.' + name + '_model'\n    library = importlib.import_module(filename)\n    model = None\n"
    "    wanted = name.replace('_', '') + 'model'\n    for key, cls in library.__dict__.items():\n"
    "        if key.lower() == wanted.lower() and issubclass(cls, BaseModel):\n            model = cls\n    return model\n\n\n"
    "def create_model(args):\n    model = find_model_using_name(args.model)\n    instance = model(args)\n    return instance\n",
    "models/base_model.py": "from abc import ABC, abstractmethod\n\n\nclass BaseModel(ABC):\n    @abstractmethod\n"
    "    def set_input(self, x):\n        pass\n\n    @abstractmethod\n    def optimize_parameters(self):\n        pass\n",
    **{
        f"models/{name}_net_model.py": "import torch\n\nfrom .base_model import BaseModel\n\n\n"
        f"class {name.title()}NetModel(BaseModel):\n    def __init__(self, args):\n        self.net = torch.nn.Linear(2, 1)\n"
        "        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.1)\n\n    def set_input(self, x):\n"
        "        self.x = x\n\n    def optimize_parameters(self):\n        self.loss = self.net(self.x).sum()\n"
        "        self.optimizer.zero_grad()\n        self.loss.backward()\n        self.optimizer.step()\n"
        for name in ("plain", "deep")
    },
}


@pytest.mark.parametrize(("command", "own", "other"), [("", "plain", "deep"), (" --model deep_net", "deep", "plain")])
def test_the_class_that_a_loop_over_a_module_finds(tmp_path: Path, command: str, own: str, other: str) -> None:
    made = _map(tmp_path, BY_NAME, f"python train.py{command}" if command else None)
    loop = made.components["training_loop"]
    assert loop.status == "found" and f"models/{own}_net_model.py" in _files(made, "training_loop")
    assert f"models/{other}_net_model.py" not in _files(made, "training_loop")


def test_a_module_that_only_an_arm_of_a_choice_puts_together(tmp_path: Path) -> None:
    files = {
        "train.py": "import argparse\nimport importlib\n\nimport torch\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--model', required=True)\n    args = parser.parse_args()\n"
        "    kind = importlib.import_module('kinds.' + args.model if args.model else 'kinds')\n"
        "    net, opt = kind.make(args)\n" + STEPPED + GUARD,
        "kinds/__init__.py": "",
        "kinds/wide.py": f"{NET}def make(args):\n    net = Net()\n    return net, torch.optim.SGD(net.parameters(), lr=0.1)\n",
    }
    made = _map(tmp_path, files, "python train.py --model wide")
    assert "kinds/wide.py" in _files(made, "model") and "kinds/wide.py" in _files(made, "optimizer_scheduler")


def test_files_that_settings_give_are_loaded_by_the_function_that_loads_files(tmp_path: Path) -> None:
    files = {
        "train.py": "import importlib.util\n\nimport torch\nimport yaml\n\n\ndef load(path):\n"
        "    spec = importlib.util.spec_from_file_location('', path)\n    module = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n    return module\n\n\ndef main():\n    nets = {}\n"
        "    cfg = yaml.safe_load(open('all.yaml'))\n    for key, val in cfg['networks'].items():\n"
        "        nets[key] = load(val['def_file']).make()\n    net = nets['body']\n"
        "    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEPPED + GUARD,
        "all.yaml": "networks:\n  body:\n    def_file: ./nets/wide.py\n",
        "nets/wide.py": f"{NET}def make():\n    return Net()\n",
        "nets/tall.py": f"{NET}def make():\n    return Net()\n",
    }
    made = _map(tmp_path, files)
    assert "nets/wide.py" in _files(made, "model") and "nets/tall.py" not in _files(made, "model")


def test_a_name_of_the_run_does_not_choose_an_abstract_class(tmp_path: Path) -> None:
    made = _map(tmp_path, BY_NAME, "python train.py --name base_model")
    assert made.components["training_loop"].status == "found"
    assert "models/plain_net_model.py" in _files(made, "training_loop")


def test_a_module_that_is_imported_by_a_spelled_name_leads_to_training(tmp_path: Path) -> None:
    files = {
        "tools/analyze.py": f"import torch\n\n\ndef main():\n    print(torch.load('a'))\n{GUARD}",
        "lib/train/start.py": "import importlib\n\n\ndef main():\n    module = importlib.import_module('lib.train.script')\n"
        f"    run = getattr(module, 'run')\n    run()\n{GUARD}",
        "lib/train/script.py": f"import torch\n\n\n{TRAINS}",
        "run.sh": "python tools/analyze.py --all\n",
    }
    made = _map(tmp_path, files)
    assert made.entry == "lib/train/start.py" and "lib/train/script.py" in _files(made, "training_loop")


def test_a_member_that_getattr_spells_is_that_member(tmp_path: Path) -> None:
    trainer = TRAINS.replace("def run(args=None):", "class Trainer:\n    def train(self):").replace(
        "\n    ", "\n        "
    )
    files = {
        "train.py": f"from trainers.pick import get\n\n\ndef main():\n    trainer = get('fast')\n    trainer.train()\n{GUARD}",
        "trainers/__init__.py": "from .fast import Trainer\n",
        "trainers/fast.py": f"import torch\n\n\n{trainer}",
        "trainers/pick.py": "import trainers as known\n\n\ndef get(kind):\n    if kind == 'fast':\n"
        "        trainer = getattr(known, 'Trainer')()\n    else:\n        raise ValueError(kind)\n    return trainer\n",
        "serve.py": f"def main():\n    print('ready')\n{GUARD}",
        "README.md": "```\npython serve.py\n```\n",
    }
    made = _map(tmp_path, files)
    assert made.entry == "train.py" and "trainers/fast.py" in _files(made, "training_loop")


def test_a_folder_that_was_called_otherwise_is_the_package_that_its_files_import(tmp_path: Path) -> None:
    files = {
        "released/scripts/train.py": "from team.config import get_config\nfrom team.runner.loop import run\n"
        f"from team.utils.log import say\n\n\ndef main():\n    say(get_config())\n    run()\n{GUARD}",
        "released/config.py": "def get_config():\n    return {'lr': 0.1}\n",
        "released/runner/loop.py": f"import torch\n\n\n{TRAINS}",
        "released/utils/log.py": "def say(text):\n    print(text)\n",
    }
    made = _map(tmp_path, files)
    assert made.components["training_loop"].status == "found" and "released/config.py" in _files(made, "config")


READS = "import tensorflow as tf\n\n\ndef records(path):\n    return tf.data.TFRecordDataset(path)\n"
FITS = "import tensorflow as tf\n\nmodel = tf.keras.Sequential()\n"


def test_files_that_only_read_with_another_library_do_not_make_it_the_one_of_the_project(tmp_path: Path) -> None:
    train = {"train.py": f"import torch\n\n\n{TRAINS.replace('run(args=None)', 'main()')}{GUARD}"}
    made = _map(tmp_path / "a", {**train, **{f"data/read{number}.py": READS for number in range(8)}})
    assert made.framework == "PyTorch" and made.trains
    made = _map(tmp_path / "b", {**train, **{f"nets/fit{number}.py": FITS for number in range(8)}})
    assert made.framework == "TensorFlow"


def test_a_script_without_a_guard_that_nobody_imports_is_a_program(tmp_path: Path) -> None:
    trainer = TRAINS.replace("def run(args=None):", "class Trainer:\n    def train(self):").replace(
        "\n    ", "\n        "
    )
    files = {
        "kit/__init__.py": "",
        "kit/trainer.py": f"import torch\n\n\n{trainer}",
        "examples/first.py": "from kit.trainer import Trainer\n\nrunner = Trainer()\nrunner.train()\n",
    }
    made = _map(tmp_path, files)
    assert made.entry == "examples/first.py" and made.trains


def test_what_an_optimizer_is_given_is_a_model_whoever_makes_it(tmp_path: Path) -> None:
    train = TRAINS.replace("torch.nn.Linear(2, 1)", "other.Thing(args)").replace("run(args=None)", "main(args=None)")
    train = train.replace("net", "operator")
    made = _map(tmp_path, {"train.py": f"import other\nimport torch\n\n\n{train}{GUARD}"})
    model = made.components["model"]
    assert model.status == "found" and ("train.py", 6) in {(place.path, place.line) for place in model.places}


CLASSES = {
    "net.py": "import lightning as L\nimport torch\n\n\nclass Net(L.LightningModule):\n    def __init__(self, width=2):\n"
    "        super().__init__()\n        self.layer = torch.nn.Linear(width, 1)\n\n    def training_step(self, batch, index):\n"
    "        return self.layer(batch).sum()\n\n    def configure_optimizers(self):\n"
    "        return torch.optim.SGD(self.parameters(), lr=0.1)\n",
    "main.py": "from lightning.pytorch.cli import LightningCLI\n\n\ndef main():\n    LightningCLI(\n"
    "        subclass_mode_model=True, parser_kwargs={'fit': {'default_config_files': ['project/conf/all.yaml']}}\n    )\n"
    + GUARD,
    "conf/all.yaml": "seed_everything: 1\nmodel: model.yaml\n",
    "conf/model.yaml": "class_path: net.Net\ninit_args:\n  width: 5\n",
}


def test_a_section_of_a_command_line_interface_may_be_a_file_of_its_own(tmp_path: Path) -> None:
    made = _map(tmp_path, CLASSES)
    assert "conf/model.yaml" in _files(made, "model")


NOISED = """import torch
from diffusers import DDPMScheduler


class Process(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        self.noise_scheduler = DDPMScheduler(num_train_timesteps=1000)

    def forward(self, x):
        return self.net(self.noise_scheduler.add_noise(x, torch.randn_like(x), torch.ones(1))).sum()

    def sample(self, x):
        for t in self.noise_scheduler.timesteps:
            x = self.noise_scheduler.step(self.net(x), t, x).prev_sample
        return x


def main():
    process = Process()
    optimizer = torch.optim.SGD(process.parameters(), lr=0.1)
    lr_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for step in range(9):
        loss = process(torch.ones(1, 2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lr_scheduler.step()
    print(process.sample(torch.ones(1, 2)))
"""


def test_a_schedule_of_noise_is_none_of_the_learning_rate(tmp_path: Path) -> None:
    made = _map(tmp_path, {"train.py": NOISED + GUARD})
    lines = {place.line for part in ("optimizer_scheduler", "training_loop") for place in made.components[part].places}
    assert {22, 23, 29} <= lines and not {9, 16} & lines


def test_a_package_comes_before_a_module_of_the_same_name(tmp_path: Path) -> None:
    trainer = TRAINS.replace("def run(args=None):", "class Trainer:\n    def train(self):").replace(
        "\n    ", "\n        "
    )
    files = {
        "train.py": f"from train import Trainer\n\n\ndef main():\n    Trainer().train()\n{GUARD}",
        "train/__init__.py": "from .trainer import Trainer\n",
        "train/trainer.py": f"import torch\n\n\n{trainer}",
    }
    made = _map(tmp_path, files)
    assert made.components["training_loop"].status == "found" and "train/trainer.py" in _files(made, "training_loop")


def test_fire_makes_a_command_of_every_function(tmp_path: Path) -> None:
    train = TRAINS.replace("run(args=None)", "run(rate=0.1)")
    made = _map(
        tmp_path, {"main.py": f"import fire\nimport torch\n\n\n{train}{GUARD.replace('main()', 'fire.Fire()')}"}
    )
    assert made.components["training_loop"].status == "found"


def test_the_command_of_a_launch_script_stands_for_the_call_of_the_script(tmp_path: Path) -> None:
    train = TRAINS.replace("run(args=None)", "main(args=None)")
    files = {
        "train.py": f"import torch\n\n\n{train}{GUARD}",
        "jobs/small.sh": "rate=0.5\npython ../train.py --rate $rate\n",
        "README.md": "```\nbash small.sh\n```\n",
    }
    assert "launch: python ../train.py --rate $rate (jobs/small.sh:2)" in _map(tmp_path, files).text


COMPOSED = {
    "src/train.py": "from pathlib import Path\n\nimport hydra\nimport lightning as L\n\nroot = Path(__file__).parent.parent\n"
    "PARAMETERS = {'config_path': str(root / 'conf'), 'config_name': 'small.yaml'}\n\n\n@hydra.main(**PARAMETERS)\n"
    "def main(cfg):\n    L.Trainer().fit(hydra.utils.instantiate(cfg.net))\n" + GUARD,
    "src/net.py": CLASSES["net.py"],
    "conf/small.yaml": "net:\n  _target_: src.net.Net\n  width: 7\n",
}


def test_a_main_of_hydra_may_be_told_by_a_table(tmp_path: Path) -> None:
    made = _map(tmp_path, COMPOSED)
    assert {"src/net.py", "conf/small.yaml"} <= _files(made, "model")


def _program(body: str, name: str = "main") -> str:
    return f"import torch\n\n\n{TRAINS.replace('run(args=None)', f'{name}()')}\n{body}{GUARD.replace('main', name)}"


def test_of_programs_that_are_alike_the_one_that_the_readme_shows_first(tmp_path: Path) -> None:
    files = {
        "train_codes.py": _program(""),
        "train_prior_of_pixels.py": _program(""),
        "README.md": "1. `python train_prior_of_pixels.py --data here`\n2. `python train_codes.py --data here`\n",
    }
    assert _map(tmp_path, files).entry == "train_prior_of_pixels.py"


def test_of_two_copies_the_program_in_the_folder_that_is_for_training(tmp_path: Path) -> None:
    files = {f"Own_{kind}Code/code/main.py": _program("") for kind in ("Test", "Train")}
    assert _map(tmp_path, files).entry == "Own_TrainCode/code/main.py"


BALANCER = (
    "import torch\n\n\nclass Balancer:\n    def backward(self, losses, x):\n        x.backward(sum(losses))\n\n\n"
    "def {0}():\n    x = torch.zeros(1, requires_grad=True)\n    Balancer().backward([x * 2], x)\n\n\n"
    "if __name__ == '__main__':\n    {0}()\n"
)


def test_a_file_that_only_tries_itself_trains_nothing(tmp_path: Path) -> None:
    main = f"import torch\n\n\ndef main():\n    print(torch.load('weights.pt'))\n{GUARD}"
    made = _map(tmp_path / "a", {"balancer.py": BALANCER.format("test"), "main.py": main})
    assert not made.trains and made.entry == "main.py"
    assert _map(tmp_path / "b", {"balancer.py": BALANCER.format("test"), "train.py": _program("")}).entry == "train.py"


@pytest.mark.parametrize("shown", [True, False])
def test_a_program_of_the_readme_that_loads_a_training_it_is_not_seen_to_call(tmp_path: Path, shown: bool) -> None:
    files = {
        "README.md": "Train:\n\n    python train_net.py --cfg configs/first.yaml\n" if shown else "A network.\n",
        "train_net.py": "import sys\n\nfrom tools import engines\nfrom tools.registry import ENGINES\n\n\ndef main():\n"
        "    ENGINES.build(sys.argv[1])\n" + GUARD,
        "tools/__init__.py": "",
        "tools/registry.py": "import importlib\n\n\nclass Registry:\n    def build(self, name):\n"
        "        return self.items[compute(name)]()\n\n\nENGINES = Registry()\n",
        "tools/engines.py": f"import torch\n\n\n{TRAINS}",
        "metric/dino/main_dino.py": "import torch\n\n\ndef train_dino():\n    net = torch.nn.Linear(2, 1)\n"
        "    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + STEPPED.strip("\n")
        + GUARD.replace("main()", "train_dino()"),
    }
    made = _map(tmp_path, files)
    assert made.entry == ("train_net.py" if shown else "metric/dino/main_dino.py")


FIRST = "# First\n\n```bash\ncd first\n# then\npython train.py --lr 0.1\n```\n"


@pytest.mark.parametrize(
    ("readme", "entry", "launch"),
    [
        (FIRST, "first/train.py", "cd first && python train.py --lr 0.1"),
        (FIRST.replace("# then\n", "cd ..\n"), "train.py", "python train.py --lr 0.1"),
        (FIRST.replace("# then\n", "```\n\n## Second\n\n```\n"), "train.py", "python train.py --lr 0.1"),
        (FIRST.replace("cd first", "cd somewhere"), "train.py", "python train.py --lr 0.1"),
        (FIRST.replace("cd first", "    $ cd ./first/"), "first/train.py", "cd first && python train.py --lr 0.1"),
    ],
)
def test_a_command_after_the_one_that_changes_the_folder(tmp_path: Path, readme: str, entry: str, launch: str) -> None:
    program = "import torch\n\n\ndef main():\n    " + TRAINS.partition("\n    ")[2] + GUARD
    made = _map(tmp_path, {"README.md": readme, "first/train.py": program, "train.py": program})
    assert (made.entry, f"launch: {launch} (README.md:" in made.text) == (entry, True), made.text[:300]


def test_a_readme_that_fine_tunes_what_it_has_trained_before(tmp_path: Path) -> None:
    program = "import torch\n\n\ndef main():\n    " + TRAINS.partition("\n    ")[2] + GUARD
    readme = "    python main.py --data d --save a.pt\n    python finetune.py --data d --save a.pt\n"
    assert _map(tmp_path, {"README.md": readme, "main.py": program, "finetune.py": program}).entry == "main.py"


SACRED = {
    "shared.py": "from sacred import Experiment as Base\n\n\nclass Experiment(Base):\n    pass\n",
    "main.py": "import torch\nfrom shared import Experiment\n\nex = Experiment('a')\n\n\n@ex.config\ndef values():\n    lr = 0.3\n    steps = 4\n\n\n"
    "@ex.named_config\ndef long():\n    steps = 400\n\n\n"
    "@ex.command\ndef train(lr, steps):\n    net = torch.nn.Linear(2, 1)\n    optimizer = torch.optim.SGD(net.parameters(), lr=lr)\n"
    "    for step in range(steps):\n        loss = net(torch.ones(1, 2)).sum()\n        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n\n\n"
    "@ex.command\ndef speed_test():\n    net = torch.nn.Linear(2, 1)\n    other = torch.optim.Adam(net.parameters())\n    net(torch.ones(1, 2)).sum().backward()\n    other.step()\n\n\n"
    "if __name__ == '__main__':\n    print('started')\n\n\n@ex.automain\ndef default():\n    return train()\n",
}


@pytest.mark.parametrize(("words", "speed"), [("with lr=0.1", False), ("speed_test", True)])
def test_an_experiment_runs_its_main_unless_a_command_is_named(tmp_path: Path, words: str, speed: bool) -> None:
    _map(tmp_path, SACRED)
    shown = expand_component(tmp_path, "run", scope="main.py", recipe=f"python main.py {words}", budget=3000).text
    assert ("torch.optim.Adam(" in shown) is speed
    assert ("torch.optim.SGD(" in shown) is not speed
    assert "steps=400" not in shown and ("steps=4 main.py:10" in shown or speed)


LOADS_BY_NAME = "from importlib import import_module\n\n\ndef main():\n    name = open('settings').read()\n    import_module(f'{0}.{{name}}.train').run()\n"


def test_programs_that_only_import_their_training_by_a_name_are_told_and_the_first_shown_is_the_first(
    tmp_path: Path,
) -> None:
    def program(folder: str) -> str:
        return LOADS_BY_NAME.format(folder) + GUARD

    files = {
        "app/main.py": program("app"),
        "app/pretrain/train.py": f"import torch\n\n\n{TRAINS}",
        "evals/main.py": program("evals") + "\n\ndef more():\n    return [1, 2, 3]\n",
        "evals/probe/train.py": f"import torch\n\n\n{TRAINS}",
        "README.md": "```\npython -m app.main\n```\nThen evaluate:\n```\npython -m evals.main --fname a\npython -m evals.main --fname b\n```\n",
    }
    made = _map(tmp_path, files)
    assert (made.entry, len(made.programs)) == ("app/main.py", 2), made.text[:400]
    assert "evals/main.py" in made.text


@pytest.mark.parametrize("scope", [None, "sounds", "sounds/trainer.py"])
def test_a_library_whose_readme_takes_a_gradient_and_no_step_is_its_trainer(tmp_path: Path, scope: str | None) -> None:
    trainer = "import torch\n\n\nclass NetTrainer:\n    def __init__(self, net):\n        self.net = net\n"
    trainer += (
        "        self.opt = torch.optim.Adam(net.parameters())\n\n    def train(self):\n        for x in range(9):\n"
    )
    trainer += "            loss = self.net(x)\n            loss.backward()\n            self.opt.step()\n            self.opt.zero_grad()\n"
    files = {
        "sounds/__init__.py": "from sounds.net import Net\nfrom sounds.trainer import NetTrainer\n",
        "sounds/net.py": NET,
        "sounds/trainer.py": trainer,
        "README.md": "```python\nimport torch\nfrom sounds import Net\n\nnet = Net()\nloss = net(torch.ones(2)).sum()\nloss.backward()\n```\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    made = map_repository(tmp_path, scope)
    assert made.entry == "sounds/trainer.py", made.text[:400]
    assert "no optimizer step was found" not in made.text


def test_a_readme_that_steps_an_optimizer_stays_the_program(tmp_path: Path) -> None:
    trainer = f"import torch\n\n\n{TRAINS}"
    readme = "```python\nimport torch\nfrom sounds.net import Net\n\nnet = Net()\nopt = torch.optim.SGD(net.parameters(), lr=1)\n"
    readme += "net(torch.ones(2)).sum().backward()\nopt.step()\n```\n"
    made = _map(
        tmp_path, {"sounds/__init__.py": "", "sounds/net.py": NET, "sounds/trainer.py": trainer, "README.md": readme}
    )
    assert made.entry == "README.md"


RUNNER = "import torch\n\n\nclass Runner:\n    def __init__(self, net):\n        self.net = net\n        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)\n\n"
RUNNER += "    def fit(self, x):\n        self.opt.zero_grad()\n        self.net(x).sum().backward()\n        self.opt.step()\n"


def test_a_program_that_has_an_unknown_object_fit_leads_over_one_that_is_shown_more_often(tmp_path: Path) -> None:
    files = {
        "run/__init__.py": "",
        "run/train.py": f"from hydra.utils import instantiate\n\n\ndef main(cfg=None):\n    runner = instantiate(cfg.runner)\n    runner.fit(1)\n{GUARD}",
        "run/fold_split.py": f"import sklearn.model_selection\n\n\ndef main(cfg=None):\n    print(sklearn.model_selection.GroupKFold(5))\n{GUARD}",
        "src/runner.py": RUNNER,
        "README.md": "".join(f"```\npython -m run.fold_split phase={phase}\n```\n" for phase in ("train", "test")),
    }
    assert _map(tmp_path, files).entry == "run/train.py"
