"""An object that a class method of a base makes is one of the class that was asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, read_anatomy

FILES = {
    "train.py": "from trainers import PlainTrainer\n\n\ndef main():\n    trainer = PlainTrainer.from_settings(lr=0.5)\n"
    "    trainer.train()\n\n\nif __name__ == '__main__':\n    main()\n",
    "trainers.py": "import torch\n\n\nclass Base:\n    def __init__(self, lr):\n        self.net = torch.nn.Linear(2, 2)\n"
    "        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)\n\n    @classmethod\n"
    "    def from_settings(cls, lr):\n        made = cls(lr)\n        return made\n\n"
    "    def train(self):\n        for step in range(10):\n            self.one_step()\n\n"
    "    def one_step(self):\n        loss = self.loss_of()\n        loss.backward()\n        self.opt.step()\n"
    "        self.opt.zero_grad()\n\n    def loss_of(self):\n        return self.net(torch.ones(1, 2)).sum()\n\n\n"
    "class PlainTrainer(Base):\n    def loss_of(self):\n"
    "        return torch.nn.functional.mse_loss(self.net(torch.ones(1, 2)), torch.ones(1, 2))\n\n\n"
    "class OtherTrainer(Base):\n    def one_step(self):\n        loss = self.loss_of() + other_loss(self.net)\n"
    "        loss.backward()\n        self.opt.step()\n\n    def loss_of(self):\n"
    "        return torch.nn.functional.l1_loss(self.net(torch.ones(1, 2)), torch.ones(1, 2))\n\n\n"
    "def other_loss(net):\n    return net.weight.abs().sum()\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_methods_of_a_sister_class_do_not_run(program: Path) -> None:
    found = read_anatomy(program, "train.py", None).program
    assert found is not None
    reached = {one.qualname for one in found.entry.reach.distance}
    assert {"PlainTrainer.loss_of", "Base.one_step"} <= reached
    assert not {"OtherTrainer.one_step", "OtherTrainer.loss_of", "other_loss"} & reached


def test_the_class_that_is_asked_is_made_there(program: Path) -> None:
    found = read_anatomy(program, "train.py", None).program
    assert found is not None
    assert {cls.name for cls in found.made_at} == {"PlainTrainer", "Base"}  # Base: by `cls(lr)`
    assert {cls.name for cls in found.constructed} == {"PlainTrainer", "Base"}


def test_the_sheet_tells_the_loss_of_the_class_that_is_made(program: Path) -> None:
    sheet = expand_component(program, "run", scope="train.py", budget=1500).text
    assert "mse_loss" in sheet and "l1_loss" not in sheet


def test_a_class_that_says_its_own_name_is_not_chosen_by_that(tmp_path: Path) -> None:
    named = FILES["trainers.py"].replace(
        "class OtherTrainer(Base):\n", "class OtherTrainer(Base):\n    trainer_name = 'OtherTrainer'\n\n"
    )
    entry = FILES["train.py"].replace("PlainTrainer", "Base")
    for name, text in {"train.py": entry, "trainers.py": named}.items():
        (tmp_path / name).write_text(text)
    found = read_anatomy(tmp_path, "train.py", None).program
    assert found is not None
    assert not any(one.value == "OtherTrainer" for one in found.choices)
