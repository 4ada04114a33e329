"""Every example in the documentation of a check is run; and tables of code that must and must not be accused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from trainsleuth.checks import check_ids, explain, run_checks
from trainsleuth.checks.docs import Example
from trainsleuth.repository import Repository


def accused(files: Mapping[str, str], folder: Path) -> set[str]:
    """Ids of the checks that report a failure in a project of these files."""
    for name, source in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    report = run_checks(Repository(folder))
    return {finding.by.removeprefix("check:") for finding in report.findings if finding.outcome == "fail"}


def examples() -> Iterator[object]:
    for check_id in check_ids():
        for number, example in enumerate(explain(check_id).examples):
            kind = "bad" if example.is_bad else "good"
            yield pytest.param(check_id, example, id=f"{check_id}-{kind}-{number}")


@pytest.mark.parametrize(("check_id", "example"), list(examples()))
def test_documentation_holds(check_id: str, example: Example, tmp_path: Path) -> None:
    found = accused(example.files, tmp_path)
    if example.is_bad:
        assert check_id in found, f"{example.what or 'the Bad example'} was not found"
    else:
        assert not found, f"{example.what or 'the Good example'} was accused by {found}"


@pytest.mark.parametrize("check_id", check_ids())
def test_documentation_is_complete(check_id: str) -> None:
    told = explain(check_id)
    assert told.cannot_see
    assert any(example.is_bad for example in told.examples)
    assert any(not example.is_bad for example in told.examples)


HEAD = """
import torch
from torch import nn
import torch.nn.functional as F
"""

FOUND = {
    "softmax in a Sequential, criterion as parameter": (
        "double-softmax",
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))

        def run(model, criterion, loader):
            for x, y in loader:
                loss = criterion(model(x), y)

        run(net, nn.CrossEntropyLoss(), [])
        """,
    ),
    "sigmoid before the with-logits loss": (
        "double-softmax",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 1)
            def forward(self, x):
                return torch.sigmoid(self.fc(x))

        def step(model, x, y):
            return F.binary_cross_entropy_with_logits(model(x), y)

        step(Net(), torch.ones(2, 4), torch.ones(2, 1))
        """,
    ),
    "item before backward": (
        "detached-loss",
        """
        def step(model: nn.Linear, optimizer, x, y):
            loss = F.mse_loss(model(x), y)
            loss = torch.tensor(loss.item(), requires_grad=True)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "append in a loop": (
        "plain-list-submodules",
        """
        class Net(nn.Module):
            def __init__(self, depth):
                super().__init__()
                self.layers = []
                for _ in range(depth):
                    self.layers.append(nn.Linear(8, 8))
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
    ),
    "zero_grad of another optimizer": (
        "missing-zero-grad",
        """
        def train(g: nn.Linear, d: nn.Linear, loader):
            opt_g = torch.optim.Adam(g.parameters())
            opt_d = torch.optim.Adam(d.parameters())
            for x in loader:
                opt_d.zero_grad()
                d(x).mean().backward()
                opt_d.step()
                g(x).mean().backward()
                opt_g.step()
        """,
    ),
}

SILENT = {
    "softmax only for a metric": """
        def step(model: nn.Linear, x, y):
            logits = model(x)
            accuracy = (logits.softmax(-1).argmax(-1) == y).float().mean()
            return F.cross_entropy(logits, y), accuracy
        """,
    "attention inside the model": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.out = nn.Linear(4, 4), nn.Linear(4, 3)
            def forward(self, x):
                weights = torch.softmax(self.q(x) @ x.transpose(-1, -2), dim=-1)
                return self.out(weights @ x)

        def step(model: Net, x, y):
            return F.cross_entropy(model(x), y)
        """,
    "log_softmax and nll": """
        def step(model: nn.Linear, x, y):
            return F.nll_loss(F.log_softmax(model(x), dim=1), y)
        """,
    "log_softmax before cross-entropy is harmless": """
        def step(model: nn.Linear, x, y):
            return F.cross_entropy(F.log_softmax(model(x), dim=1), y)
        """,
    "discriminator with sigmoid and BCELoss": """
        D = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
        def step(x, real):
            return nn.BCELoss()(D(x), real)
        """,
    "softmax at evaluation only": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 3)
            def forward(self, x):
                x = self.fc(x)
                return x if self.training else x.softmax(-1)
        def step(model: Net, x, y):
            return F.cross_entropy(model(x), y)
        """,
    "soft targets": """
        def step(model: nn.Linear, teacher: nn.Linear, x):
            with torch.no_grad():
                soft = teacher(x).softmax(-1)
            return F.cross_entropy(model(x), soft)
        """,
    "zero after the step": """
        def train(model: nn.Linear, loader):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in loader:
                F.mse_loss(model(x), y).backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        """,
    "gradients set to None by hand": """
        def train(model: nn.Linear, loader):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in loader:
                for p in model.parameters():
                    p.grad = None
                F.mse_loss(model(x), y).backward()
                optimizer.step()
        """,
    "module clears": """
        def train(model: nn.Linear, loader):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in loader:
                model.zero_grad()
                F.mse_loss(model(x), y).backward()
                optimizer.step()
        """,
    "closure of LBFGS": """
        def train(model: nn.Linear, x, y):
            optimizer = torch.optim.LBFGS(model.parameters())
            for _ in range(20):
                def closure():
                    optimizer.zero_grad()
                    loss = F.mse_loss(model(x), y)
                    loss.backward()
                    return loss
                optimizer.step(closure)
        """,
    "accumulation": """
        def train(model: nn.Linear, loader):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, (x, y) in enumerate(loader):
                (F.mse_loss(model(x), y) / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
                    optimizer.zero_grad()
        """,
    "helper clears": """
        def update(optimizer, loss):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        def train(model: nn.Linear, loader):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in loader:
                update(optimizer, F.mse_loss(model(x), y))
        """,
    "environment and scheduler steps are no optimizer steps": """
        def train(model: nn.Linear, env, scheduler, loader):
            for x in loader:
                env.step(x)
                model(x).sum().backward()
                scheduler.step()
        """,
    "logging with item": """
        def train(model: nn.Linear, loader):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            total = 0.0
            for x, y in loader:
                loss = F.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
        """,
    "detached teacher": """
        def step(student: nn.Linear, teacher: nn.Linear, x):
            loss = F.mse_loss(student(x), teacher(x).detach())
            loss.backward()
        """,
    "detached fakes for the discriminator": """
        def step(g: nn.Linear, d: nn.Linear, z, real, opt):
            fake = g(z)
            opt.zero_grad()
            loss = d(fake.detach()).mean() - d(real).mean()
            loss.backward()
            opt.step()
        """,
    "straight-through estimator": """
        def quantise(x):
            return x + (x.round() - x).detach()
        def step(model: nn.Linear, x, y):
            F.mse_loss(quantise(model(x)), y).backward()
        """,
    "gradient of an input by hand": """
        def saliency(model: nn.Linear, x):
            x = x.detach().requires_grad_()
            model(x).sum().backward()
            return x.grad
        """,
    "ModuleList": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
                self.layers += [nn.Linear(8, 8)]
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
    "list wrapped later": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                layers = []
                for _ in range(3):
                    layers.append(nn.Linear(8, 8))
                self.net = nn.Sequential(*layers)
            def forward(self, x):
                return self.net(x)
        """,
    "registered by name": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.heads = []
                for i in range(3):
                    head = nn.Linear(8, 1)
                    self.add_module(f"head{i}", head)
                    self.heads.append(head)
            def forward(self, x):
                return [head(x) for head in self.heads]
        """,
    "list of functions without parameters": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.activations = [nn.ReLU(), nn.Tanh()]
            def forward(self, x):
                return self.activations[0](self.fc(x))
        """,
    "hidden teacher": """
        class Distiller(nn.Module):
            def __init__(self, teacher: nn.Linear):
                super().__init__()
                self.student = nn.Linear(8, 8)
                self._teacher = [teacher.eval()]  # hidden on purpose: not trained, not saved
            def forward(self, x):
                with torch.no_grad():
                    target = self._teacher[0](x)
                return F.mse_loss(self.student(x), target)
        """,
}


@pytest.mark.parametrize("what", FOUND)
def test_is_found(what: str, tmp_path: Path) -> None:
    check_id, code = FOUND[what]
    assert accused({"train.py": HEAD + dedent(code)}, tmp_path) == {check_id}


@pytest.mark.parametrize("what", SILENT)
def test_stays_silent(what: str, tmp_path: Path) -> None:
    assert accused({"train.py": HEAD + dedent(SILENT[what])}, tmp_path) == set()
