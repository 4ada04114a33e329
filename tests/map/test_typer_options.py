"""An application of typer with several commands: the one that trains is the launch, and signatures hold its options."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

CLI = """from typing import Annotated, Optional

import torch
import typer

app = typer.Typer()


@app.command()
def make_data(count: int = typer.Option(100, help="how many")):
    print(count)


@app.command()
def train(
    rate: float = typer.Option(0.01, "--rate", "-r", help="learning rate"),
    decay: float = typer.Option(0.3, "--wd"),
    momentum: Annotated[float, typer.Option("--momentum")] = 0.8,
    epochs: int = 5,
):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=momentum, weight_decay=decay)
    for epoch in range(epochs):
        for x in torch.load("train.pt"):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()


if __name__ == "__main__":
    app()
"""
README = """# Steps

```bash
python cli.py make-data --count 1000
```

```bash
python cli.py train --rate 0.1
```
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "cli.py").write_text(CLI)
    (tmp_path / "README.md").write_text(README)
    return tmp_path


def test_the_command_that_trains_is_the_launch(repository: Path) -> None:
    assert "launch: python cli.py train --rate 0.1 (README.md:8)" in map_repository(repository).text


def test_options_in_a_signature_are_read(repository: Path) -> None:
    sheet = expand_component(repository, "run", "cli.py", "python cli.py train --rate 0.2 --wd 0.4").text
    assert "no reader seen" not in sheet
    said = ("rate: 0.2 (the given command, default 0.01)", "momentum: 0.8 (", "decay=0.4", "epochs: 5 (")
    assert all(one in sheet for one in said)
    assert "count" not in sheet


def test_a_short_name_sets_the_parameter(repository: Path) -> None:
    assert "rate: 0.5 (" in expand_component(repository, "run", "cli.py", "python cli.py train -r 0.5").text
