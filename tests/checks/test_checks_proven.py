"""Forms of a fault with all parts resolved accuse where the rest of their check asks."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from test_checks_said import written_to
from trainsleuth.checks import run_checks
from trainsleuth.checks.dropout_without_training import SAY as DROPOUT
from trainsleuth.checks.eval_not_restored import SAY as EVAL
from trainsleuth.checks.method_not_called import SAY as NOT_CALLED
from trainsleuth.finding import Finding

MODEL = dedent(
    """
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self, rate=RATE, norm="batch"):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            LAYER

        def forward(self, x):
            return OUT

    def evaluate(net, loader):
        net.eval()
        with torch.no_grad():
            return sum(net(x).mean().item() for x in loader)

    def train(loader, epochs):
        net = Net()
        net.train()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                net(x).mean().backward()
                optimizer.step()
            EVALUATE

    train([], 3)
    """
)


DROPS, NORMS = {"OUT": "self.drop(self.layer(x))"}, {"OUT": "self.norm(self.layer(x))"}


def _severity(root: Path, check: str, **parts: str) -> list[str]:
    return [str(finding.severity) for finding in _failures(root, check, **parts)]


def _failures(root: Path, check: str, **parts: str) -> list[Finding]:
    """Of a check in MODEL with these parts."""
    given = {"RATE": "0.1", "LAYER": "pass", "OUT": "self.layer(x)", "EVALUATE": "evaluate(net, loader)", **parts}
    source = MODEL
    for name, text in given.items():
        source = source.replace(name, text)
    report = run_checks(written_to(root, {"train.py": source}), only=[check])
    return [finding for finding in report.findings if finding.outcome == "fail"]


@pytest.mark.parametrize(
    ("parts", "surely"),
    [
        ({**DROPS, "LAYER": "self.drop = nn.Dropout(0.5)"}, True),
        ({**DROPS, "LAYER": "self.drop = nn.Dropout(rate)"}, True),
        ({**NORMS, "LAYER": "self.norm = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))"}, True),
        ({"OUT": "F.dropout(self.layer(x), 0.2, training=self.training)"}, True),
        (
            {**DROPS, "LAYER": "self.drop = nn.Dropout(0.5)", "EVALUATE": "if epoch % 5 == 0: evaluate(net, loader)"},
            True,
        ),
        (
            {**DROPS, "LAYER": "self.drop = nn.Dropout(0.5)", "EVALUATE": "if x.mean() > 0: evaluate(net, loader)"},
            False,
        ),
        ({**DROPS, "LAYER": "self.drop = nn.Dropout(rate)", "RATE": "0.0"}, False),
        ({**NORMS, "LAYER": "if norm == 'batch': self.norm = nn.BatchNorm1d(2)"}, False),
        ({**NORMS, "LAYER": "self.norm = nn.BatchNorm1d(2, track_running_stats=False)"}, False),
        ({"LAYER": "pass"}, False),
        ({"LAYER": "self.drop = nn.Dropout(0.5)"}, False),
        ({"LAYER": "self.drop = nn.Dropout(0.5)", "OUT": "list(self.children())[1](x)"}, True),
    ],
)
def test_eval_that_stays_on_tells_where_the_model_surely_minds(
    parts: dict[str, str], surely: bool, tmp_path: Path
) -> None:
    (found,) = _failures(tmp_path, "eval-not-restored", **parts)
    assert (found.grounds == EVAL.record("modal").words) == surely


@pytest.mark.parametrize(
    ("parts", "form"),
    [
        ({"OUT": "F.dropout(self.layer(x), 0.5)"}, "rated"),
        ({"OUT": "F.dropout(self.layer(x), 0.05)"}, "rated"),
        ({"OUT": "F.dropout(self.layer(x))"}, "rated"),
        ({"OUT": "F.dropout(self.layer(x), self.rate)", "LAYER": "self.rate = rate"}, "rated"),
        ({"OUT": "F.dropout(self.layer(x), self.rate)", "LAYER": "self.rate = open('rate').read()"}, "evaluated"),
    ],
)
def test_dropout_that_eval_does_not_reach_is_told_apart_by_its_rate(
    parts: dict[str, str], form: str, tmp_path: Path
) -> None:
    (found,) = _failures(tmp_path, "dropout-without-training", **parts)
    assert found.grounds == DROPOUT.record(form).words


HELD = """
import torch
import torch.nn.functional as F
from torch import nn

class Part(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)

class Net(nn.Module):
    def __init__(self, drops):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        MAKE

    def forward(self, x):
        return self.part(self.layer(x))

net = Net(False)
net.eval()
"""


@pytest.mark.parametrize(
    ("made", "form"), [("self.part = Part()", "rated"), ("if drops: self.part = Part()", "evaluated")]
)
def test_dropout_in_a_part_that_an_option_leaves_out_is_another_form(made: str, form: str, tmp_path: Path) -> None:
    report = run_checks(written_to(tmp_path, {"net.py": HELD.replace("MAKE", made)}), only=["dropout-without-training"])
    assert [one.grounds for one in report.findings if one.outcome == "fail"] == [DROPOUT.record(form).words]


@pytest.mark.parametrize(
    ("parts", "form"),
    [
        ({**DROPS, "EVALUATE": "net.eval", "LAYER": "self.drop = nn.Dropout(0.5)"}, "resolved"),
        ({"EVALUATE": "optimizer.step"}, "resolved"),
        ({"EVALUATE": "net.eval"}, "other"),
        ({**DROPS, "EVALUATE": "net.train", "LAYER": "self.drop = nn.Dropout(0.5)"}, "other"),
        ({"EVALUATE": "model.eval"}, "other"),
    ],
)
def test_a_method_that_is_only_named_is_another_form_where_its_object_is_not_known(
    parts: dict[str, str], form: str, tmp_path: Path
) -> None:
    assert [one.grounds for one in _failures(tmp_path, "method-not-called", **parts)] == [NOT_CALLED.record(form).words]


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("for x in loader:\n        net(x).mean().backward()\n        opt.zero_grad()\n        opt.step()", "error"),
        ("net(loader[0]).mean().backward()\n    opt.zero_grad()\n    opt.step()", "note"),
    ],
)
def test_gradients_thrown_away_accuse_in_the_loop_that_makes_them(source: str, severity: str, tmp_path: Path) -> None:
    program = "import torch\nfrom torch import nn\n\ndef update(loader, net):\n"
    program += f"    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    {source}\n\nupdate([], nn.Linear(2, 2))\n"
    report = run_checks(written_to(tmp_path, {"train.py": program}), only=["zero-grad-before-step"])
    assert [one.severity for one in report.findings if one.outcome == "fail"] == [severity]


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ("pass", "error"),
        ("self.number = len(self.layers)", "error"),
        ("self.kept = remember(self.layers)", "note"),
        ("self.kept = remember(*self.layers)", "note"),
        ("self.kept = remember(layers=self.layers)", "note"),
    ],
)
@pytest.mark.usefixtures("right_so_far")
def test_layers_in_a_plain_list_accuse_where_no_call_gets_the_list(given: str, severity: str, tmp_path: Path) -> None:
    parts = {
        "LAYER": f"self.layers = [nn.Linear(2, 2) for _ in range(3)]; {given}",
        "OUT": "sum(layer(self.layer(x)) for layer in self.layers)",
    }
    assert _severity(tmp_path, "plain-list-submodules", **parts) == [severity]


SCHEDULED = dedent(
    """
    import torch
    from torch.optim.lr_scheduler import OneCycleLR

    def fit(model, loader, val_loader, epochs):
        optimizer = torch.optim.AdamW(model.parameters())
        schedule = OneCycleLR(optimizer, max_lr=1e-3, total_steps=LENGTH)
        for epoch in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            schedule.step()
    """
)


@pytest.mark.parametrize(
    ("length", "severity"),
    [
        ("epochs * len(loader)", ["warning"]),
        ("int(epochs * len(loader) * 1.1)", ["warning"]),
        ("epochs * len(val_loader)", ["note"]),
        ("model.total_steps", ["note"]),
        ("epochs", []),
    ],
)
def test_a_schedule_in_the_wrong_unit_accuses_where_its_length_is_written_out(
    length: str, severity: list[str], tmp_path: Path
) -> None:
    report = run_checks(
        written_to(tmp_path, {"train.py": SCHEDULED.replace("LENGTH", length)}), only=["scheduler-granularity"]
    )
    assert [one.severity for one in report.findings if one.outcome == "fail"] == severity
