"""What a word seems to say on the sheet of a run, and the code beside it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component

TRAIN = """
import torch
from torch import nn

from parts import Net, logger, made


def main():
    labels = torch.load("labels.pt")
    model = Net()
    SETS
    optimizer = torch.optim.Adam(made(model), weight_decay=0.1)
    log_print = logger()
    for step, x in enumerate(torch.load("batches.pt")):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        TELLS


if __name__ == "__main__":
    main()
"""
PARTS = """
import torch
from torch import nn


def logger():
    def told(**what):
        with open("log.txt", "a") as file:
            file.write(str(what))

    return told


def made(model):
    GROUPS
    return list(model.parameters())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        transforms = []
        transforms.append(nn.Linear(4, 4))
        transforms.append(nn.Linear(4, 4))
        self.steps = nn.Sequential(*transforms)
        self.changes = CHANGES

    def forward(self, x):
        return self.steps(x)
"""


def sheet(root: Path, **parts: str) -> str:
    texts = {"train.py": TRAIN, "parts.py": PARTS}
    given = {"SETS": "pass", "TELLS": "pass", "GROUPS": "pass", "CHANGES": "None"} | parts
    for name, text in texts.items():
        for mark, said in given.items():
            text = text.replace(mark, said)
        (root / name).write_text(text)
    return expand_component(root, "run", "train.py", "python train.py").text


def test_layers_of_a_flow_are_no_augmentation(tmp_path: Path) -> None:
    assert "# augmentation" not in sheet(tmp_path)
    assert "# augmentation" in sheet(tmp_path, CHANGES="Compose([Flip(), Crop(4)])")


@pytest.mark.parametrize(
    ("parts", "is_said"),
    [
        ({"SETS": "if len(labels.shape) == 1:\n        labels = labels[None]"}, False),
        ({"GROUPS": "no_decay = [one for one in model.parameters() if one.ndim < 2]"}, True),
        ({"GROUPS": "no_decay = list(filter(lambda one: len(one.shape) == 1, model.parameters()))"}, True),
    ],
)
def test_the_shape_of_data_decides_no_decay(tmp_path: Path, parts: dict[str, str], is_said: bool) -> None:
    assert ("without decay" in sheet(tmp_path, **parts)) is is_said


@pytest.mark.parametrize(("tells", "is_told"), [("log_print(loss=loss.item())", True), ("repr(loss)", False)])
def test_a_print_of_the_project_logs(tmp_path: Path, tells: str, is_told: bool) -> None:
    assert (f"train.py:19 {tells}" in sheet(tmp_path, TELLS=tells)) is is_told
