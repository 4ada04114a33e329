"""A method that no code calls does not run, though its object comes into being."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

TRAIN = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def configure_optimizers(self, rate=0.1):
        no_decay = [one for one in self.parameters() if one.ndim < 2]
        groups = [{"params": no_decay, "weight_decay": 0.0}]
        return torch.optim.SGD(groups, lr=rate)

    def forward(self, x):
        return self.inner(x)


def main():
    model = Net()
    optimizer = OPTIMIZER
    for x in torch.load("batches.pt"):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
ADAM = "torch.optim.Adam(model.parameters(), weight_decay=0.1)"


@pytest.mark.parametrize(
    ("optimizer", "runs"),
    [
        (ADAM, False),
        ("model.configure_optimizers()", True),
        ("getattr(model, 'configure_optimizers')()", True),
        ("torch.optim.Adam(model.parameters()) if not (make := model.configure_optimizers) else make()", True),
    ],
)
def test_what_nobody_calls_is_not_on_the_sheet(tmp_path: Path, optimizer: str, runs: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("OPTIMIZER", optimizer))
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert ("optim.SGD(groups" in sheet) is runs
    assert ("without decay" in sheet) is runs


def test_a_base_of_a_library_may_call_it(tmp_path: Path) -> None:
    text = TRAIN.replace("OPTIMIZER", ADAM).replace("nn.Module", "Base").replace("from torch import nn", "from torch import nn\nfrom lib import Base")  # fmt: skip
    (tmp_path / "train.py").write_text(text)
    assert "optim.SGD(groups" in expand_component(tmp_path, "run", "train.py", "python train.py").text


MOMENTS = """
import torch
from torch import nn


def moved(weights, others, moments, beta):
    for weight, other, moment in zip(weights, others, moments):
        grad = weight.grad
        moment.mul_(beta).add_(TOWARDS, alpha=1 - beta)
        weight.data -= moment


def main():
    model, other = nn.Linear(4, 4), nn.Linear(4, 4)
    moments = [torch.zeros_like(one) for one in model.parameters()]
    for x in torch.load("batches.pt"):
        loss = model(x).square().mean()
        model.zero_grad()
        loss.backward()
        moved(model.parameters(), other.parameters(), moments, 0.9)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("towards", "status"), [("grad", "absent"), ("other.data", "found")])
def test_the_momentum_of_an_optimizer_averages_no_weights(tmp_path: Path, towards: str, status: str) -> None:
    (tmp_path / "train.py").write_text(MOMENTS.replace("TOWARDS", towards))
    assert map_repository(tmp_path, None, "python train.py").features["ema"].status == status
