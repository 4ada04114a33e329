"""A loss that a file of networks computes to try them accuses nobody; a program that changes its network does."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from test_checks_said import written_to
from trainsleuth.checks import run_checks
from trainsleuth.finding import Finding

NETWORK = dedent(
    """
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return F.softmax(self.layer(x), 1)

    """
)
TRIED = {
    "forward alone": "if __name__ == '__main__':\n    print(F.cross_entropy(Net()(torch.ones(4, 2)), torch.ones(4).long()))\n",
    "backward, in the mode of training": (
        "if __name__ == '__main__':\n    net = Net()\n    net.train()\n    for i in range(100):\n"
        "        loss = F.cross_entropy(net(torch.randn(4, 2)), torch.ones(4).long())\n        loss.backward()\n"
    ),
    "in a function of its own": (
        "def main():\n    net = Net().train()\n    F.cross_entropy(net(torch.ones(4, 2)), torch.ones(4).long()).backward()\n\n"
        "if __name__ == '__main__':\n    main()\n"
    ),
}
TRAINED = {
    "parameters are changed by hand": (
        "net = Net()\nfor x, y in torch.load('data.pt'):\n    F.cross_entropy(net(x), y).backward()\n"
        "    for p in net.parameters():\n        p.data -= 0.1 * p.grad\n"
    ),
    "another file steps": (
        "from rule import change\n\nnet = Net()\nfor x, y in torch.load('data.pt'):\n"
        "    F.cross_entropy(net(x), y).backward()\n    change(net)\n"
    ),
    "another file trains": (
        "from rule import train\n\nnet = Net()\nloss = F.cross_entropy(net(torch.ones(4, 2)), torch.ones(4).long())\n"
        "train(net, loss)\n"
    ),
    "something is trained whose train() is no mode": (
        "from rule import Trainer\n\ndef criterion(out, y):\n    return F.cross_entropy(out, y)\n\n"
        "net = Net()\nprint(criterion(net(torch.ones(4, 2)), torch.ones(4).long()))\nTrainer(net, criterion).train()\n"
    ),
}
TASKS = """
import sys
import tasks

TASKS = {"digits": tasks.train_digits}

def main():
    TASKS[sys.argv[1]]()

if __name__ == "__main__":
    main()
"""
DIGITS = """
import torch
from net import F, Net

def train_digits():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in torch.load("digits.pt"):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
RULE = dedent(
    """
    def change(net):
        for p in net.parameters():
            p.data -= 0.1 * p.grad
            p.grad = None

    def train(net, loss):
        loss.backward()
        change(net)

    class Trainer:
        def __init__(self, net, criterion):
            self.net, self.criterion = net, criterion

        def train(self):
            train(self.net, self.criterion(self.net(1), 1))
    """
)


def _finding(root: Path, program: str) -> Finding:
    report = run_checks(written_to(root, {"net.py": NETWORK + program, "rule.py": RULE}), only=["double-softmax"])
    [finding] = [one for one in report.findings if one.outcome == "fail"]
    return finding


@pytest.mark.parametrize("name", TRIED)
def test_a_loss_that_a_file_of_networks_only_tries_accuses_nobody(name: str, tmp_path: Path) -> None:
    finding = _finding(tmp_path, TRIED[name])
    assert (finding.severity, "only tries it" in finding.message) == ("note", True), finding.message


@pytest.mark.parametrize("name", TRAINED)
def test_a_program_that_changes_its_network_tries_nothing(name: str, tmp_path: Path) -> None:
    finding = _finding(tmp_path, TRAINED[name])
    assert finding.severity == "error", finding.message


def test_a_program_that_trains_what_a_table_holds_tries_nothing(tmp_path: Path) -> None:
    files = {"net.py": NETWORK, "tasks.py": DIGITS, "main.py": TASKS}
    [finding] = [one for one in run_checks(written_to(tmp_path, files), only=["double-softmax"]).findings if one.line]
    assert finding.severity == "error", finding.message
