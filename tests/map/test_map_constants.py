"""Tests of maps of programs that ask a registry for a class by a constant, and of packages that import when asked."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.facts import build_index
from trainsleuth.map import expand_component
from trainsleuth.map.calling.methods import may_take
from trainsleuth.repository import Repository

NAMES = """from enum import Enum


class ImageTrainers:
    diffusion = "image-diffusion"
    segmenter = "image-segmenter"


class Trainers(ImageTrainers):
    default = "plain"


class Kind(Enum):
    DIFFUSION = "image-diffusion"


DIFFUSION = "image-diffusion"
"""
BUILDER = """from names import Trainers
from registry import Registry

TRAINERS = Registry("trainers")


def build_from(section, registry, **more):
    return registry.get(section["type"])(**more)


def build_trainer(name=Trainers.default, default_args=None):
    section = dict(type=name)
    return build_from(section, TRAINERS, **(default_args or {}))


def start(name, **more):
    return build_trainer(name, more)
"""
REGISTRY = """class Registry:
    def __init__(self, name):
        self.known = {}

    def get(self, name):
        return self.known[name]

    def register_module(self, module_name=None):
        def put(cls):
            self.known[module_name] = cls
            return cls

        return put
"""
LOOP = """class {cls}:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr={lr})

    def train(self):
        for batch in torch.rand(9, 2, 2):
            loss = self.net(batch).mean()
            loss.backward()
            self.optimizer.step()
"""
TRAINER = (
    """import torch
from builder import TRAINERS
from names import Trainers


@TRAINERS.register_module(module_name=Trainers.{name})
"""
    + LOOP
)
START = """import torch
import names
from builder import build_trainer, start
from names import Trainers
import diffusing, plain, segmenting

net = torch.nn.Linear(2, 1)
trainer = {made}
trainer.train()
"""


def _program(made: str, root: Path) -> Path:
    files = {
        "names.py": NAMES,
        "builder.py": BUILDER,
        "registry.py": REGISTRY,
        "diffusing.py": TRAINER.format(name="diffusion", cls="Diffusion", lr=0.1),
        "segmenting.py": TRAINER.format(name="segmenter", cls="Segmenter", lr=0.2),
        "plain.py": TRAINER.format(name="default", cls="Plain", lr=0.3),
        "train.py": START.format(made=made),
    }
    return map_depth.write(files, root)


@pytest.mark.parametrize(
    ("made", "runs"),
    [
        ("build_trainer(name=Trainers.diffusion, default_args=dict(net=net))", "diffusing"),
        ("build_trainer(names.Kind.DIFFUSION.value, dict(net=net))", "diffusing"),
        ("build_trainer(names.DIFFUSION, dict(net=net))", "diffusing"),
        ("start(Trainers.segmenter, net=net)", "segmenting"),
        ("build_trainer(default_args=dict(net=net))", "plain"),
    ],
)
def test_what_a_constant_asks_a_registry_for_runs_and_nothing_else_of_it(made: str, runs: str, tmp_path: Path) -> None:
    root = _program(made, tmp_path)
    text = expand_component(root, "run", scope="train.py", recipe="python train.py", budget=1500).text
    assert f"{runs}.py:10" in text, text
    for other in {"diffusing", "segmenting", "plain"} - {runs}:
        assert f"{other}.py" not in text, text


LAZY = """import sys
from typing import TYPE_CHECKING

from lazily import LazyModule

if TYPE_CHECKING:
    from .fast import FastTrainer
    from .speech import SpeechTrainer
else:
    _import_structure = {"fast": ["FastTrainer"], "speech": ["SpeechTrainer"]}
    sys.modules[__name__] = LazyModule(__name__, _import_structure)
"""
MODULE = (
    """import torch

sample_rate = {rate}
seed = {rate}
torch.manual_seed(seed)


"""
    + LOOP
)
ASKED = {
    "from kit import FastTrainer": "FastTrainer",
    "import kit": "kit.FastTrainer",
    "from kit import trainers": "trainers.FastTrainer",
}


@pytest.mark.parametrize("statement", ASKED)
def test_what_a_package_imports_when_asked_runs_only_then(statement: str, tmp_path: Path) -> None:
    trainers = "trainers" in statement
    files = {
        "kit/__init__.py": "from . import trainers\n" if trainers else LAZY.replace(".fast", ".trainers"),
        "kit/trainers/__init__.py": LAZY,
        "kit/trainers/fast.py": MODULE.format(cls="FastTrainer", rate=7, lr=0.1),
        "kit/trainers/speech.py": MODULE.format(cls="SpeechTrainer", rate=16000, lr=0.2),
        "kit/speech.py": MODULE.format(cls="SpeechTrainer", rate=32000, lr=0.3),
        "lazily.py": "class LazyModule:\n    pass\n",
        "train.py": f"import torch\n{statement}\n\nnet = torch.nn.Linear(2, 1)\n{ASKED[statement]}(net).train()\n",
    }
    root = map_depth.write(files, tmp_path)
    text = expand_component(root, "run", scope="train.py", recipe="python train.py", budget=1500).text
    assert "fast.py:5" in text and "fast.py:11" in text, text
    assert "speech.py" not in text and "000" not in text, text


def test_what_stands_under_another_test_runs(tmp_path: Path) -> None:
    files = {
        "fast.py": MODULE.format(cls="Trainer", rate=7, lr=0.1),
        "train.py": "import sys\nimport torch\nif sys.argv[1:]:\n    from fast import Trainer\n\n"
        "Trainer(torch.nn.Linear(2, 1)).train()\n",
    }
    root = map_depth.write(files, tmp_path)
    text = expand_component(root, "run", scope="train.py", recipe="python train.py", budget=1500).text
    assert "fast.py:5" in text, text


OTHER = """class Interpolator:
    def refine(self, images, targets, scale=1.0):
        pass


thing.refine({given})
"""


@pytest.mark.parametrize(
    ("given", "takes"),
    [
        ("net, net", True),
        ("*net", True),
        ("net, targets=net", True),
        ("net", False),
        ("net, net, 1, 2", False),
        ("net, net, rate=1", False),
    ],
)
def test_a_method_is_guessed_only_where_it_can_take_what_is_given(given: str, takes: bool, tmp_path: Path) -> None:
    index = build_index(Repository(map_depth.write({"other.py": OTHER.format(given=given)}, tmp_path)))
    file = index.files["other.py"]
    assert may_take(file.functions["Interpolator.refine"], file.body.events[-1].calls[0]) == takes
