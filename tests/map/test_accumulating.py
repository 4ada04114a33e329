"""Steps that gather several backward calls or losses, without a word for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

PROGRAM = """
import torch
from torch import nn


def main(parts=4):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    total, left = 0, parts
    for number, x in enumerate(torch.load("batches.pt")):
        BODY


if __name__ == "__main__":
    main()
"""
INNER = """
        optimizer.zero_grad()
        for part in x.chunk(parts):
            loss = model(part).square().mean()
            loss.backward()
        optimizer.step()
"""
SUM = """
        total += model(x).square().mean()
        if number % parts == 0:
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            total = 0
"""
ARMS = """
        loss = model(x).square().mean()
        if number % parts == 0:
            if number != 0:
                optimizer.zero_grad()
                total.backward()
                optimizer.step()
            total = loss
        else:
            total += loss
"""
LEFT = """
        if left == parts:
            optimizer.zero_grad()
        left -= 1
        model(x).square().mean().backward()
        if not left:
            optimizer.step()
            left = parts
"""
RARELY = LEFT.replace("        left -= 1", "        if number > 3:\n            left -= 1")
KEPT = LEFT.replace("            left = parts", "            print(left)")
BEGUN = LEFT.replace("        if left == parts:\n            opt", "        opt")
EACH = INNER.replace("        optimizer.step()", "            optimizer.step()")
CLEARED = INNER.replace("            loss.back", "            optimizer.zero_grad()\n            loss.back")
LOSSES = """
        optimizer.zero_grad()
        out = model(x)
        for loss in (out.mean(), out.square().mean()):
            loss.backward(retain_graph=True)
        optimizer.step()
"""
TERMS = """
        total = model(x).mean()
        total += model(x).square().mean()
        if number % parts == 0:
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
"""


def found(root: Path, body: str) -> list[int]:
    (root / "train.py").write_text(PROGRAM.replace("        BODY\n", body.lstrip("\n")))
    return [one.line for one in map_repository(root, None, "python train.py").features["accumulation"].places]


@pytest.mark.parametrize(("body", "line"), [(INNER, 12), (SUM, 12), (ARMS, 12), (LEFT, 15)])
def test_several_rounds_make_one_step(tmp_path: Path, body: str, line: int) -> None:
    assert found(tmp_path, body)[0] == line


@pytest.mark.parametrize("body", [EACH, CLEARED, LOSSES, TERMS, RARELY, KEPT, BEGUN])
def test_one_round_makes_one_step(tmp_path: Path, body: str) -> None:
    assert not found(tmp_path, body)


def test_a_network_that_a_library_makes_of_settings_is_run(tmp_path: Path) -> None:
    made = PROGRAM.replace("from torch import nn", "from hydra.utils import instantiate")
    made = made.replace("nn.Linear(4, 4)", "instantiate(torch.load('cfg.pt'))")
    (tmp_path / "train.py").write_text(made.replace("        BODY\n", INNER.lstrip("\n")))
    places = map_repository(tmp_path, None, "python train.py").features["accumulation"].places
    assert [one.line for one in places][:1] == [12]


LIGHTNING = """
import pytorch_lightning as pl
import torch
from torch import nn


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def training_step(self, x, index):
        return self.net(x).square().mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def main():
    given = GIVEN
    trainer = pl.Trainer(**given)
    trainer.fit(Module(), torch.load("batches.pt"))


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("given", "is_found"),
    [
        ("dict(max_epochs=3, accumulate_grad_batches=4)", True),
        ('{"max_epochs": 3, "accumulate_grad_batches": 4}', True),
        ("dict(max_epochs=3, accumulate_grad_batches=1)", False),
        ("dict(max_epochs=3)", False),
    ],
)
def test_a_trainer_is_handed_it_in_a_dictionary(tmp_path: Path, given: str, is_found: bool) -> None:
    (tmp_path / "train.py").write_text(LIGHTNING.replace("GIVEN", given))
    places = map_repository(tmp_path, None, "python train.py").features["accumulation"].places
    assert [one.line for one in places] == [20] * is_found
