"""Inputs that hold the target are told; inputs that are targets too, or that hold the start of them, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, first_ones, with_edits

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

TABLE = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
table = torch.randn(480, 9)
table[:, 4] = table[:, 0] - 0.5 * table[:, 1] + 0.3 * torch.randn(480)
price = table[:, 4:5].clone()
kind = (price[:, 0] > 0).long()
features = torch.cat([table[:, :4], table[:, 5:]], 1)
MAKE
for step in range(60):
    rows = torch.randint(480, (24,))
    x, y = features[rows], price[rows]
    optimizer.zero_grad()
    STEP
    loss.backward()
    optimizer.step()
"""
SERIES = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
series = (torch.arange(700.0)[:, None] * torch.tensor([0.1, 0.23])).sin() + 0.1 * torch.randn(700, 2)
LENGTH, HORIZON, GAP = 24, 1, 0


class Forecaster(nn.Module):
    def __init__(self, horizon):
        super().__init__()
        self.body, self.head = nn.GRU(2, 16, batch_first=True), nn.Linear(16, 2 * horizon)

    def forward(self, x):
        return self.head(self.body(x)[0][:, -1]).unflatten(1, (-1, 2))

MAKE
for step in range(60):
    starts = torch.randint(600, (16,)).tolist()
    x = torch.stack([series[at : at + LENGTH] for at in starts])
    y = torch.stack([series[at + LENGTH + GAP : at + LENGTH + GAP + HORIZON] for at in starts])
    optimizer.zero_grad()
    STEP
    loss.backward()
    optimizer.step()
"""
NET = "model = nn.Sequential(nn.Linear({}, 32), nn.ReLU(), nn.Linear(32, {}))\noptimizer = torch.optim.Adam(model.parameters(), lr=0.001)"
GRU = "model = Forecaster(HORIZON)\noptimizer = torch.optim.Adam(model.parameters(), lr=0.001)"
FIT, CLASSIFY = "loss = F.mse_loss(model(x), y)", "loss = F.cross_entropy(model(x), kind[rows])"
LEFT_IN, OVERLAP = ("table[:, :4], table[:, 5:]", "table"), ("GAP = 24, 1, 0", "GAP = 24, 1, -1")
MANY_STEPS = ("GAP = 24, 1, 0", "GAP = 24, 12, 0")

Edits = tuple[tuple[str, str], ...]
# program, what it makes, its step, edits, severity, words
FAULTS: dict[str, tuple[str, str, str, Edits, str, str]] = {
    "a price among the features": (TABLE, NET.format(9, 1), FIT, (LEFT_IN,), "warning", "column 4 of 9 equals it in all 720 rows of 30 batches"),
    "a price among the standardised features": (
        TABLE, NET.format(9, 1), FIT, (LEFT_IN, ("MAKE", "features = (features - features.mean(0)) / features.std(0)\nMAKE")), "warning", "column 4 of 9 is it but for a factor",
    ),
    "a class among the features": (
        TABLE, NET.format(9, 2), CLASSIFY, (LEFT_IN, ("MAKE", "features[:, 4] = kind.float()\nMAKE")), "warning", "column 4 of 9 equals it",
    ),
    "a class among the standardised features": (
        TABLE, NET.format(9, 2), CLASSIFY, (LEFT_IN, ("MAKE", "features[:, 4] = kind.float()\nfeatures = (features - features.mean(0)) / features.std(0)\nMAKE")),
        "warning", "column 4 of 9 is it but for a factor",
    ),
    "a window that reaches into its horizon": (SERIES, GRU, FIT, (OVERLAP,), "warning", "place [23, 0] of [24, 2] equals it in all 480 rows"),
    "a window that reaches into its longer horizon": (SERIES, GRU, FIT, (("GAP = 24, 1, 0", "GAP = 24, 12, -1"),), "note", "window and horizon overlap by one"),
    "the end of a flat window": (
        SERIES, NET.format(24, 1), FIT, (OVERLAP, ("    optimizer.zero_grad()", "    x, y = x[:, :, 0], y[:, :, 0]\n    optimizer.zero_grad()")), "warning", "column 23 of 24",
    ),
    "a window with its target, which is scaled back": (SERIES, GRU, "scale = torch.tensor([3.7, 0.21]); loss = F.mse_loss(model(x) * scale, y * scale)", (OVERLAP,), "warning", "is it but for a factor"),
    "a series of channels first": (
        SERIES, NET.format(24, 2), "scale = torch.tensor([3.7, 0.21]); loss = F.mse_loss(model(x) * scale, y * scale)",
        (OVERLAP, ("    optimizer.zero_grad()", "    x, y = x.transpose(1, 2).contiguous(), y[:, 0]\n    optimizer.zero_grad()"),
         ("MAKE", "model = nn.Sequential(nn.Flatten(), nn.Linear(48, 2))\noptimizer = torch.optim.Adam(model.parameters())")), "warning", "place [0, 23] of [2, 24] is it but for a factor",
    ),
    "a window with its target, beside a series that stands still": (
        SERIES, GRU, "scale = torch.tensor([3.7, 0.21]); loss = F.mse_loss(model(x) * scale, y * scale)", (OVERLAP, ("LENGTH, HORIZON", "series[:, 0] = 0.5\nLENGTH, HORIZON")), "warning", "is it but for a factor",
    ),
    "a window with its target, and an evaluation with gradients": (
        SERIES, GRU, FIT, (OVERLAP, ("    optimizer.step()", "    optimizer.step()\n    for _ in range(3 * (step % 10 == 9)):\n        F.mse_loss(model(x), y).item()")), "warning", "place [23, 0]",
    ),
    "the last step, given back": (SERIES, GRU, "loss = F.mse_loss(model(x), x[:, -1:])", (), "note", "as where a model is to recall"),
    "what is to be recalled": (SERIES, GRU, "loss = F.mse_loss(model(x), x[:, :1])", (), "note", "as where a model is to recall"),
    "targets that start at the last known step": (SERIES, GRU, "loss = F.mse_loss(model(x), torch.cat([x[:, -1:], y], 1)[:, :HORIZON])", (MANY_STEPS,), "note", "overlap by one"),
}  # fmt: skip


def said(host: Host, folder: Path, program: str, make: str, step: str, edits: Edits) -> list[Finding]:
    program = with_edits(program, edits)
    path = folder / "program.py"
    path.write_text(program.replace("MAKE", make).replace("STEP", step))
    trace, ended = host.run(path, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended, trace.hooks_missing)
    found = list(probes.judge("observe", trace, frozenset({"batch_as_seen"})))
    assert found
    return [one for one in found if one.outcome == "fail"]


@pytest.mark.parametrize("fault", first_ones(FAULTS))
def test_inputs_that_hold_the_target_are_told_at_the_loss(host: Host, tmp_path: Path, fault: str) -> None:
    program, make, step, edits, severity, words = FAULTS[fault]
    (found,) = said(host, tmp_path, program, make, step, edits)
    assert found.severity == severity and words in found.message, found
    assert "loss = " in (tmp_path / "program.py").read_text().splitlines()[(found.line or 0) - 1]


INFORMER = """class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.reads, self.writes, self.head = nn.GRU(2, 16, batch_first=True), nn.GRU(2, 16, batch_first=True), nn.Linear(16, 2)

    def forward(self, x, known):
        return self.head(self.writes(known, self.reads(x)[1])[0])

model = Decoder()
optimizer = torch.optim.Adam(model.parameters())"""
PARTLY = "known = torch.cat([x[:, -12:], 0 * y], 1); loss = F.mse_loss(model(x, known)[:, -HORIZON:], y)"
WITH_START = (
    "known = torch.cat([x[:, -12:], 0 * y], 1); loss = F.mse_loss(model(x, known), torch.cat([x[:, -12:], y], 1))"
)
FORCED = "whole = torch.cat([x[:, -1:], y], 1); loss = F.mse_loss(model(x, whole[:, :-1]), whole[:, 1:])"
MASKED = """class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x * (torch.arange(9) != 4))

model = Masked()
optimizer = torch.optim.Adam(model.parameters())"""
CODES = """maker, model = nn.Linear(10, 20), nn.Linear(20, 1)
optimizer = torch.optim.Adam([*maker.parameters(), *model.parameters()])"""
TERMS = "start = torch.rand(24, 6); loss = F.mse_loss(model(torch.cat([0 * y, start[:, :5], y, y * 0 + 1, y * 0], 1)), y) + F.mse_loss(model(x), 0 * y)"
WITH_LOSS = """class Task(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(9, 1)

    def forward(self, row):
        return F.mse_loss(self.body(row * (torch.arange(9) != 4)), row[:, 4:5])

model = Task()
optimizer = torch.optim.Adam(model.parameters())"""
HEALTHY: dict[str, tuple[str, str, str, Edits]] = {
    "a table": (TABLE, NET.format(8, 1), FIT, ()),
    "a table and classes": (TABLE, NET.format(8, 2), CLASSIFY, ()),
    "a flag that is nearly the class": (TABLE, NET.format(8, 2), CLASSIFY, (("MAKE", "features[:, 2] = (kind ^ (torch.arange(480) % 40 == 0)).float()\nMAKE"),)),
    "an autoencoder": (TABLE, NET.format(8, 8), "loss = F.mse_loss(model(x), x)", ()),
    "a denoiser": (TABLE, NET.format(8, 8), "loss = F.mse_loss(model(x + torch.randn_like(x)), x)", ()),
    "an autoencoder of a part": (TABLE, NET.format(8, 4), "loss = F.mse_loss(model(x), x[:, 2:6])", ()),
    "the change is predicted": (TABLE, NET.format(9, 1), "loss = F.mse_loss(model(x), y * 1.5 - x[:, :1])", (LEFT_IN,)),
    "all targets are alike": (TABLE, NET.format(8, 1), "x[:, 3] = 1; loss = F.mse_loss(model(x), torch.ones_like(y))", ()),
    "the model masks it": (TABLE, MASKED, FIT, (LEFT_IN,)),
    "the loss is computed in the model": (TABLE, WITH_LOSS, "loss = model(x)", (LEFT_IN,)),
    "codes that are found again in what was made of them": (TABLE, CODES, "code = torch.randn(24, 10); loss = F.mse_loss(model(maker(code)), code[:, :1])", ()),
    "a window": (SERIES, GRU, FIT, ()),
    "a window and a longer horizon": (SERIES, GRU, FIT, (MANY_STEPS,)),
    "the next step at each step": (SERIES, INFORMER, "loss = F.mse_loss(model(x, x[:, :-1]), x[:, 1:])", ()),
    "a decoder that knows the start, which is not scored": (SERIES, INFORMER, PARTLY, (MANY_STEPS,)),
    "a decoder that knows the start, which is scored": (SERIES, INFORMER, WITH_START, (MANY_STEPS,)),
    "a decoder that is given the step before": (SERIES, INFORMER, FORCED, (MANY_STEPS,)),
    "a window, scaled back": (SERIES, GRU, "scale = torch.tensor([3.7, 0.21]); loss = F.mse_loss(model(x) * scale, y * scale)", ()),
    "a wave that comes back": (
        SERIES, GRU, "scale = torch.tensor([3.7, 0.21]); loss = F.mse_loss(model(x) * scale, y * scale)",
        (("torch.tensor([0.1, 0.23])).sin() + 0.1 * torch.randn(700, 2)", "torch.tensor([1 / 12, 1 / 8])).mul(2 * torch.pi).sin()"),),
    ),
    "the change since the last step, scaled": (SERIES, GRU, "loss = F.mse_loss(model(x), 3.0 * (y - x[:, -1:]))", ()),
    "a step in the middle that was hidden": (SERIES, GRU, "hidden = x[:, 12:13].clone(); x[:, 12] = 0; loss = F.mse_loss(model(x), hidden)", ()),
    "a straight line": (SERIES, GRU, FIT, (("(torch.arange(700.0)[:, None] * torch.tensor([0.1, 0.23])).sin() + 0.1 * torch.randn(700, 2)", "torch.arange(700.0)[:, None] / torch.tensor([350.0, 200.0])"),)),
    "a series that stands still": (SERIES, GRU, FIT, (("x = torch.stack([series[at : at", "x = torch.stack([series[at : at + 1].expand(LENGTH, 2) for at in starts])\n    _ = torch.stack([series[at : at"), ("y = torch", "y = x[:, :1]  # torch"))),
}  # fmt: skip


@pytest.mark.parametrize("case", first_ones(HEALTHY))
def test_what_may_be_known_of_a_target_is_nothing_to_tell(host: Host, tmp_path: Path, case: str) -> None:
    assert said(host, tmp_path, *HEALTHY[case]) == []


def test_a_known_start_among_several_terms_is_no_alarm(host: Host, tmp_path: Path) -> None:
    """Of an equation with its starting point among the inputs: at time zero the solution is what it started from."""
    (found,) = said(host, tmp_path, TABLE, NET.format(9, 1), TERMS, (LEFT_IN,))
    assert found.severity == "note"
