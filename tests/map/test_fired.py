"""python-fire makes commands of the methods of an object and of the functions in a table: the command's word runs one."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

LEARNER = """import torch


class Learner:
    def __init__(self):
        self.net = torch.nn.Linear(2, 1)

    def learn(self, rate=0.25):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=rate)
        for x in torch.load("train.pt"):
            optimizer.zero_grad()
            self.net(x).mean().backward()
            optimizer.step()
        self.save("last.pt")

    def score(self, quick=True):
        for x in torch.load("held_out.pt"):
            print(self.net(x))

    def save(self, name):
        torch.save(self.net.state_dict(), name)


if __name__ == "__main__":
    Learner().learn()
"""
METHODS = "from learner import Learner\nimport fire\n\nif __name__ == '__main__':\n    FIRE\n"
TABLE = """import fire
from learner import Learner


def learn():
    Learner().learn()


def score(quick=True):
    Learner().score(quick)


if __name__ == "__main__":
    fire.Fire({"learn": learn, "score": score})
"""


@pytest.mark.parametrize(
    "main",
    [
        METHODS.replace("FIRE", "worker = Learner()\n    fire.Fire(component=worker)"),
        METHODS.replace("FIRE", "fire.Fire(Learner)"),
        TABLE,
    ],
)
@pytest.mark.parametrize(("command", "is_trained"), [("learn", True), ("score", False)])
def test_the_command_names_the_method_that_runs(main: str, command: str, is_trained: bool, tmp_path: Path) -> None:
    (tmp_path / "learner.py").write_text(LEARNER)
    (tmp_path / "main.py").write_text(main)
    sheet = expand_component(tmp_path, "run", "main.py", f"python main.py {command}").text
    assert "started by itself" not in sheet or not is_trained
    assert ("optim.SGD(self.net.parameters()" in sheet) is is_trained
    assert ("0.25 (" in sheet) is is_trained
    assert ("files: last.pt" in sheet) is is_trained


def test_without_a_command_any_method_may_run(tmp_path: Path) -> None:
    (tmp_path / "learner.py").write_text(LEARNER)
    (tmp_path / "main.py").write_text(METHODS.replace("FIRE", "fire.Fire(Learner)"))
    loop = map_repository(tmp_path, scope="main.py").components["training_loop"]
    assert ("learner.py", 13) in [(one.path, one.line) for one in loop.places]
