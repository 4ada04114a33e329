"""What click hands to a function is a setting of the run, though the function reads it as a plain name."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import click
import torch


@click.command("small")
@click.option("--lr", type=float, default=0.3)
@click.option("--weight-decay", type=float, default=0)
@click.option("--num_epochs", default=7)
@click.option("--averaged/--plain", default=True)
def run(lr=0.9, weight_decay=0.9, num_epochs=9, averaged=False):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, weight_decay=weight_decay)
    for epoch in range(num_epochs):
        for x in torch.ones(8, 4, 2):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
        if averaged:
            torch.optim.swa_utils.AveragedModel(net)


if __name__ == "__main__":
    run()
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", ("lr=0.3 default", "weight_decay=0 default", "num_epochs=7 default", "averaged=True")),
        ("--lr 0.5 --plain", ("lr=0.5 the command", "num_epochs=7 default", "averaged=False")),
    ],
)
def test_the_defaults_of_options_of_click_are_in_the_sheet(tmp_path: Path, words: str, said: tuple[str, ...]) -> None:
    write({"train.py": TRAIN}, tmp_path)
    text = expand_component(tmp_path, "run", "train.py", f"python train.py {words}".strip()).text
    assert all(one in text for one in said), text
    assert "0.9" not in text
