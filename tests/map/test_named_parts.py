"""Parts of a program that are found by names put together from one option, and networks without a way from the loss."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import map_repository

KINDS = {
    "train.py": """import argparse

import torch

from nets.find import get_net
from other.find import get_net as get_other

parser = argparse.ArgumentParser()
parser.add_argument("--name")
parser.add_argument("--rate", type=float, default=0.1)
parameters = {key: value for key, value in vars(parser.parse_args()).items() if value is not None}
parameters["kind"], parameters["part"], *parameters["losses"] = parameters["name"].split("_")


def make(parameters):
    if parameters["name"] == "other":
        net = get_other(parameters)
    else:
        net = get_net(parameters)
    return net


net = make(parameters)
opt = torch.optim.SGD(net.parameters(), lr=parameters["rate"])
for epoch in range(3):
    opt.zero_grad()
    loss = net(torch.ones(1, 2)).sum()
    loss.backward()
    opt.step()
""",
    "nets/__init__.py": "",
    "nets/find.py": """import importlib


def get_net(parameters):
    parts = importlib.import_module(f".parts.{parameters['part']}", package="nets")
    First = parts.__getattribute__(f"First_{parameters['part'].upper()}")
    kinds = importlib.import_module(f".kinds.{parameters['kind']}", package="nets")
    Net = kinds.__getattribute__(parameters["kind"].upper())
    return Net(First())
""",
    **{
        f"nets/parts/{name}.py": f"from torch import nn\n\n\nclass First_{name.upper()}(nn.Linear):\n"
        "    def __init__(self):\n        super().__init__(2, 1)\n"
        for name in ("flat", "deep")
    },
    **{
        f"nets/kinds/{name}.py": f"from torch import nn\n\n\nclass {name.upper()}(nn.Module):\n"
        "    def __init__(self, first):\n        super().__init__()\n        self.first = first\n\n"
        "    def forward(self, x):\n        return self.first(x)\n"
        for name in ("vae", "gan")
    },
    "other/__init__.py": "",
    "other/find.py": "from torch import nn\n\n\nclass Other(nn.Linear):\n    pass\n\n\n"
    "def get_net(parameters):\n    return Other(2, 1)\n",
}


def test_modules_named_by_links_of_one_word(tmp_path: Path) -> None:
    found = map_repository(write(KINDS, tmp_path), recipe="python train.py --name vae_flat_rc", budget=4000)
    shown = {place.path for place in found.components["model"].places}
    assert {"nets/kinds/vae.py", "nets/parts/flat.py"} <= shown
    assert not shown & {"nets/kinds/gan.py", "nets/parts/deep.py"}


def test_a_call_in_an_arm_that_is_not_taken_is_no_place(tmp_path: Path) -> None:
    found = map_repository(write(KINDS, tmp_path), recipe="python train.py --name vae_flat_rc", budget=4000)
    lines = [place.line for place in found.components["model"].places if place.path == "train.py"]
    text = KINDS["train.py"].split("\n")
    assert any("get_net(parameters)" in text[line - 1] for line in lines)
    assert not any("get_other(parameters)" in text[line - 1] for line in lines)


BY_SECTION = {
    "train.py": """import hydra
import torch


class Work:
    def __init__(self, cfg):
        self.cfg = cfg
        self.prior = None
        self.start()

    def start(self):
        if self.prior is None:
            self.prior = hydra.utils.instantiate(self.cfg.prior, width=2).to("cpu")

    def run(self):
        opt = torch.optim.SGD(self.prior.parameters(), lr=0.1)
        for epoch in range(3):
            opt.zero_grad()
            loss = self.prior(torch.ones(1, 2)).sum()
            loss.backward()
            opt.step()


@hydra.main(config_path="conf", config_name="train")
def main(cfg):
    Work(cfg).run()


if __name__ == "__main__":
    main()
""",
    "conf/train.yaml": "defaults:\n  - _self_\n  - prior: small\n",
    "conf/prior/small.yaml": "_target_: net.Small\nwidth: 4\n",
    "net.py": "from torch import nn\n\n\nclass Small(nn.Module):\n    def __init__(self, width):\n"
    "        super().__init__()\n        self.first = nn.Linear(width, 1)\n\n    def forward(self, x):\n"
    "        return self.first(x)\n",
}


def test_a_network_made_of_a_section_is_shown_where_it_is_made(tmp_path: Path) -> None:
    found = map_repository(write(BY_SECTION, tmp_path), scope="train.py", budget=4000)
    assert ("train.py", 13) in {(place.path, place.line) for place in found.components["model"].places}


TABLE = {
    "train.py": """import torch
from torch import nn

from trainer import Trainer

gen, disc = nn.Linear(2, 2), nn.Linear(2, 1)


class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)

    def decode(self, x):
        return self.first(x)


gen = Gen()
Trainer(gen, torch.optim.SGD(gen.parameters(), lr=0.1)).train(range(3))
""",
    "trainer.py": """import torch


class Trainer:
    def __init__(self, gen, optim):
        self.gen = gen
        self.optim = optim
        self.losses = {}

    def add(self, name, value):
        self.losses[name] = value

    def back(self):
        loss = sum(self.losses.values())
        loss.backward()

    def train(self, loader):
        for batch in loader:
            made = self.gen.decode(torch.ones(1, 2) * batch)
            self.add("l1", made.abs().mean())
            self.optim.zero_grad()
            self.back()
            self.optim.step()
            self.losses.clear()
""",
}


def test_networks_run_before_losses_that_a_table_holds(tmp_path: Path) -> None:
    found = map_repository(write(TABLE, tmp_path), scope="train.py", budget=4000)
    assert ("trainer.py", 19) in {(place.path, place.line) for place in found.components["training_loop"].places}


SPREAD = {
    "main.py": """import sys

import yaml

from work import Work

v = yaml.safe_load(open(sys.argv[1]))
v["seed"] = 1
work = Work(net_args=v["net"], seed=v["seed"])
work.train()
""",
    "run.yaml": "seed: 0\nnet:\n  kind: deep\n  width: 4\n",
    "work.py": """from kinds import KINDS


class Work:
    def __init__(self, net_args, seed):
        self.start(**net_args)

    def start(self, kind, split=True, **rest):
        if kind == "flat":
            cls = KINDS["Flat"]
        elif split == True:
            cls = KINDS["Deep"]
        else:
            cls = KINDS["Joint"]
        self.agent = cls(**rest)

    def train(self):
        for turn in range(3):
            self.agent.update()
""",
    "kinds/__init__.py": "from .deep import Deep\nfrom .flat import Flat\nfrom .joint import Joint\n\n"
    'KINDS = {"Flat": Flat, "Deep": Deep, "Joint": Joint}\n',
    **{
        f"kinds/{name.lower()}.py": f"import torch\n\n\nclass {name}:\n    def __init__(self, width):\n"
        "        self.net = torch.nn.Linear(width, 1)\n"
        "        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)\n\n    def update(self):\n"
        "        self.opt.zero_grad()\n        loss = self.net(torch.ones(1, 4)).sum()\n        loss.backward()\n"
        "        self.opt.step()\n"
        for name in ("Flat", "Deep", "Joint")
    },
}


def test_a_section_that_a_call_spreads_decides_which_entry_of_a_table_trains(tmp_path: Path) -> None:
    found = map_repository(write(SPREAD, tmp_path), recipe="python main.py run.yaml", budget=4000)
    shown = {place.path for place in found.components["training_loop"].places}
    assert "kinds/deep.py" in shown
    assert not shown & {"kinds/flat.py", "kinds/joint.py"}


AUTO = {
    "run.py": """from dataclasses import dataclass, field

from transformers import CONFIG_MAPPING, AutoModelForMaskedLM, HfArgumentParser, Trainer, TrainingArguments

import nets


@dataclass
class ModelArguments:
    model_type: str = field(default=None)


model_args, args = HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()
config = CONFIG_MAPPING[model_args.model_type]()
model = AutoModelForMaskedLM.from_config(config)
trainer = Trainer(model=model, args=args)
trainer.train(resume_from_checkpoint=None)
""",
    "nets.py": "from transformers import AutoConfig, AutoModelForMaskedLM, PretrainedConfig, PreTrainedModel\n\n\n"
    + "".join(
        f"class {name}Config(PretrainedConfig):\n    model_type = '{name}'\n\n\nclass {name}Model(PreTrainedModel):\n"
        "    def forward(self, x, labels=None):\n        loss = (x - labels).square().mean()\n        return loss, x\n\n\n"
        f'AutoConfig.register("{name}", {name}Config)\n'
        f"AutoModelForMaskedLM.register({name}Config, {name}Model)\n\n\n"
        for name in ("Wide", "Thin")
    ),
}


def test_a_network_registered_with_an_auto_class_is_run_by_the_trainer(tmp_path: Path) -> None:
    recipe = "python run.py --model_type Thin --output_dir out"
    found = map_repository(write(AUTO, tmp_path), recipe=recipe, budget=4000)
    text = AUTO["nets.py"].split("\n")
    own = text.index("class ThinModel(PreTrainedModel):") + 1
    other = text.index("class WideModel(PreTrainedModel):") + 1
    model = {place.line for place in found.components["model"].places if place.path == "nets.py"}
    assert own in model
    loop = {place.line for place in found.components["training_loop"].places if place.path == "nets.py"}
    assert own + 1 in loop
    assert other + 1 not in loop


OF_A_TABLE = {
    "train.py": """import torch

from trainer import Trainer

model = {"generator": torch.nn.Linear(2, 2), "discriminator": torch.nn.Linear(2, 1)}
Trainer(model, torch.optim.SGD(model["generator"].parameters(), lr=0.1)).run(range(3))
""",
    "trainer.py": """import torch


class Base:
    def __init__(self, model, optim):
        self.model = model
        self.optim = optim

    def run(self, loader):
        for batch in loader:
            self._train_step(batch)

    def _update(self, loss):
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()


class Trainer(Base):
    def _train_step(self, batch):
        total = 0.0
        made = self.model["generator"](torch.ones(1, 2) * batch)
        total += made.abs().mean()
        self._update(total)
""",
}


def test_networks_of_a_table_by_their_names(tmp_path: Path) -> None:
    found = map_repository(write(OF_A_TABLE, tmp_path), scope="train.py", budget=4000)
    assert ("trainer.py", 22) in {(place.path, place.line) for place in found.components["training_loop"].places}


BY_INSTANCE = {
    "train.py": """import hydra
import pytorch_lightning as pl
from hydra.utils import instantiate

from nets.deep import DeepConfig, DeepNet
from nets.flat import FlatConfig, FlatNet


def make(cfg, net_cfg):
    if isinstance(net_cfg, FlatConfig):
        net_class = FlatNet
    elif isinstance(net_cfg, DeepConfig):
        net_class = DeepNet
    path = cfg.get("from_checkpoint", None)
    if path is not None:
        network = net_class.load_from_checkpoint(path)
    else:
        network = net_class(net_cfg)
    return network


@hydra.main(config_path="conf", config_name="train")
def main(cfg):
    net_cfg = instantiate(cfg.network)
    module = make(cfg, net_cfg)
    pl.Trainer(max_epochs=3).fit(module)


if __name__ == "__main__":
    main()
""",
    "conf/train.yaml": "defaults:\n  - network: flat\nfrom_checkpoint: null\n",
    **{
        f"conf/network/{name}.yaml": f"_target_: nets.{name}.{name.title()}Config\nwidth: 4\n"
        for name in ("flat", "deep")
    },
    **{
        f"nets/{name}.py": "from dataclasses import dataclass\n\nimport pytorch_lightning as pl\nimport torch\n\n\n"
        f"@dataclass\nclass {name.title()}Config:\n    width: int\n\n\nclass {name.title()}Net(pl.LightningModule):\n"
        "    def __init__(self, cfg):\n        super().__init__()\n        self.first = torch.nn.Linear(cfg.width, 1)\n\n"
        "    def training_step(self, batch, index):\n        return self.first(batch).mean()\n"
        for name in ("flat", "deep")
    },
}


def test_the_class_of_a_section_decides_what_is_made(tmp_path: Path) -> None:
    root = write(BY_INSTANCE, tmp_path)
    for recipe, own, other in (("network=deep", "deep", "flat"), ("network=flat", "flat", "deep")):
        found = map_repository(root, scope="train.py", recipe=f"python train.py {recipe}", budget=4000)
        shown = {place.path for place in found.components["training_loop"].places}
        assert f"nets/{own}.py" in shown
        assert f"nets/{other}.py" not in shown


SEVERAL = {
    "train.py": """import torch

from engine import load

net = torch.nn.Linear(2, 1)
engine, _, loader = load(net, range(3))
for batch in loader:
    engine.step(batch)
""",
    "engine.py": """import torch


class Engine:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(self, batch):
        self.opt.zero_grad()
        self.net(torch.ones(1, 2) * batch).sum().backward()
        self.opt.step()


def start(net, data):
    engine = Engine(net)
    return engine, engine.opt, data


def load(net, data):
    return start(net, data)
""",
}


def test_several_things_given_back_through_another_function(tmp_path: Path) -> None:
    found = map_repository(write(SEVERAL, tmp_path), scope="train.py", budget=4000)
    places = {(place.path, place.line) for place in found.components["training_loop"].places}
    assert {("train.py", 7), ("train.py", 8)} <= places


LOSSES = {
    "train.py": """import torch

from losses import get_loss

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    opt.zero_grad()
    total = 0
    for name, share in {"near": 1.0, "far": 0.5}.items():
        compute = get_loss(name)
        total += share * compute(net(torch.ones(1, 2)))
    total.backward()
    opt.step()
""",
    "losses.py": "def near(out):\n    return out.abs().mean()\n\n\ndef far(out):\n    return out.square().mean()\n\n\n"
    'TABLE = {"near": near, "far": far}\n\n\ndef get_loss(name):\n    return TABLE[name]\n',
}


def test_losses_that_a_function_takes_from_a_table(tmp_path: Path) -> None:
    found = map_repository(write(LOSSES, tmp_path), scope="train.py", budget=4000)
    places = {(place.path, place.line) for place in found.components["loss"].places}
    assert {("losses.py", 1), ("losses.py", 5)} <= places


PROPERTY = {
    "train.py": """import recipes

recipe = recipes.named("small")
recipe.run()
""",
    "recipes.py": """import torch

import fitting


class Recipe:
    def run(self):
        trainer = self.load_trainer()
        trainer.train()

    def load_trainer(self):
        raise NotImplementedError()


class Small(Recipe):
    @property
    def trainer_class(self):
        return fitting.SmallTrainer

    def load_trainer(self):
        return self.trainer_class(model=torch.nn.Linear(2, 1))


class Large(Small):
    @property
    def trainer_class(self):
        return fitting.LargeTrainer


def named(name):
    if name == "small":
        return Small()
    return Large()
""",
    "fitting/__init__.py": "from .small import SmallTrainer\nfrom .large import LargeTrainer\n",
    "fitting/small.py": """import transformers


class SmallTrainer(transformers.Trainer):
    def compute_loss(self, model, inputs):
        return model(inputs).sum()
""",
    "fitting/large.py": """import transformers


class LargeTrainer(transformers.Trainer):
    def compute_loss(self, model, inputs):
        return model(inputs).mean()
""",
}


def test_a_class_that_a_property_gives_back_by_name(tmp_path: Path) -> None:
    found = map_repository(write(PROPERTY, tmp_path), scope="train.py", budget=4000)
    places = {(place.path, place.line) for place in found.components["loss"].places}
    assert ("fitting/small.py", 5) in places


GROUPS = {
    "train.py": """import argparse

import runner

parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="slow")
args = parser.parse_args()
if args.kind == "fast":
    from workers.fast import FastWorker

    worker_class = FastWorker
else:
    from workers.slow import SlowWorker

    worker_class = SlowWorker
group = worker_class.create_group({}).launch(name="workers")
runner.Runner(worker=group).run()
""",
    "runner.py": """from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from workers.fast import FastWorker
    from workers.slow import SlowWorker


class Runner:
    def __init__(self, worker: Union["SlowWorker", "FastWorker"]):
        self.worker = worker

    def run(self):
        for step in range(3):
            self.worker.run_training().wait()
""",
    "workers/__init__.py": "",
    "workers/group.py": """class Group:
    def __init__(self, kind, config):
        self.kind = kind

    def launch(self, name):
        self.name = name
        return self


class Worker:
    @classmethod
    def create_group(cls, config):
        return Group(cls, config)
""",
} | {
    f"workers/{name.lower()}.py": f"""import torch

from .group import Worker


class {name}Worker(Worker):
    def run_training(self):
        self.opt.zero_grad()
        self.net(torch.ones(1, 2)).sum().backward()
        self.opt.step()
"""
    for name in ("Slow", "Fast")
}


def test_which_of_the_offered_types_a_caller_gives(tmp_path: Path) -> None:
    found = map_repository(write(GROUPS, tmp_path), scope="train.py", recipe="python train.py --kind fast", budget=4000)
    paths = {place.path for place in found.components["training_loop"].places}
    assert "workers/fast.py" in paths
    assert "workers/slow.py" not in paths


KEPT_AGENTS = {
    "train.py": """from agent import Agent
from runner import Runner

first = Agent()
runner = Runner(agent=first)
for update in range(3):
    runner.run()
""",
    "runner.py": """class Runner:
    def __init__(self, agent, other=None):
        self.agents = {"first": agent, "second": other}

    def run(self):
        one = self.agents["first"]
        return self.rollout(agent=one)

    def rollout(self, agent):
        return agent.update(discard=False)
""",
    "agent.py": """import torch


class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(2, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def update(self, discard):
        self.opt.zero_grad()
        self.net(torch.ones(1, 2)).sum().backward()
        self.opt.step()
""",
    "eval.py": "class Meter:\n    def update(self, discard):\n        self.discard = discard\n",
}


def test_an_agent_that_a_field_keeps_under_a_key(tmp_path: Path) -> None:
    found = map_repository(write(KEPT_AGENTS, tmp_path), scope="train.py", budget=4000)
    places = {(place.path, place.line) for place in found.components["training_loop"].places}
    assert {("train.py", 6), ("runner.py", 5), ("agent.py", 11)} <= places


FITTER = """import torch


class Fitter:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit_all(self):
        for step in range(3):
            self.opt.zero_grad()
            self.net(torch.ones(1, 2)).sum().backward()
            self.opt.step()
"""

TEMPLATE = {
    "train.py": "import recipes\n\nrecipes.Small().run()\n",
    "recipes.py": """import torch

import fitting
import wide


class Recipe:
    def run(self):
        fitter = self.load_fitter()
        fitter.fit_all()


class Small(Recipe):
    def load_fitter(self):
        return fitting.Fitter(torch.nn.Linear(2, 1))


class Wide(Recipe):
    def load_fitter(self):
        return wide.WideFitter(torch.nn.Linear(2, 1))
""",
    "fitting.py": FITTER,
    "wide.py": FITTER.replace("Fitter", "WideFitter"),
}


def test_a_method_that_only_the_class_below_has(tmp_path: Path) -> None:
    found = map_repository(write(TEMPLATE, tmp_path), scope="train.py", budget=4000)
    places = {(place.path, place.line) for place in found.components["training_loop"].places}
    assert {("recipes.py", 10), ("fitting.py", 10)} <= places
    assert "wide.py" not in {path for path, _ in places}
