"""Two views of each example: equal ones are told, and programs that give a model the same batch twice for a reason are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, first_ones, with_edits

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

BEGIN = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Pairs(Dataset):
    def __init__(self):
        self.rows = torch.randn(320, 20)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        one = self.view(self.rows[index])
        return one, self.second(one, self.rows[index]), index % 4

    def view(self, row):
        return row + 0.3 * torch.randn(20)

    def second(self, one, row):
        return self.view(row)


def nt_xent(z):
    z = F.normalize(z, dim=1)
    scores = (z @ z.t() / 0.5).masked_fill(torch.eye(len(z), dtype=torch.bool), -1e9)
    return F.cross_entropy(scores, torch.arange(len(z)).roll(len(z) // 2))


def net(*more):
    return nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), *more, nn.Linear(32, 16))


loader = DataLoader(Pairs(), batch_size=16, shuffle=True)
MODEL
optimizer = torch.optim.Adam(PARAMETERS, lr=0.001)
for x1, x2, label in loader:
    optimizer.zero_grad()
    STEP
    loss.backward()
    optimizer.step()
"""
SIAMESE = """
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.predictor = net(), nn.Linear(16, 16)

    def forward(self, x1, x2):
        z1 = self.encoder(x1)
        z2 = self.encoder(x2)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1.detach(), z2.detach()

model = Siamese()
"""
CROPS = """
class Crops(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = net()

    def forward(self, crops):
        return self.backbone(torch.cat(crops))

model, teacher = Crops(), Crops()
teacher.load_state_dict(model.state_dict())
"""
BARLOW = """
def barlow(a, b):
    a, b = (a - a.mean(0)) / a.std(0), (b - b.mean(0)) / b.std(0)
    c = a.t() @ b / len(a)
    return (c.diagonal() - 1).square().sum() + 0.01 * (c - c.diagonal().diag()).square().sum()

model = net()
"""
SIMSIAM = (
    "p1, p2, z1, z2 = model(x1, x2); loss = -(F.cosine_similarity(p1, z2) + F.cosine_similarity(p2, z1)).mean() / 2"
)
SIMCLR = "loss = nt_xent(torch.cat([model(x1), model(x2)]))"
DINO = """with torch.no_grad():
        asked = (teacher([x1, x2]) / 0.04).softmax(1).chunk(2)
    said = (model([x1, x2]) / 0.1).log_softmax(1).chunk(2)
    loss = -((asked[0] * said[1]).sum(1) + (asked[1] * said[0]).sum(1)).mean()
    with torch.no_grad():
        for mine, theirs in zip(teacher.parameters(), model.parameters()):
            mine.mul_(0.99).add_(theirs, alpha=0.01)"""
PLAIN, INFO = (
    "model = net()",
    "loss = F.cross_entropy(F.normalize(model(x1)) @ F.normalize(model(x2)).t() / 0.1, torch.arange(len(x1)))",
)

# the model, the step, words of the finding where the views are equal
METHODS = {
    "SimCLR, two calls": (PLAIN, SIMCLR, "is called twice with exactly the same 16 rows"),
    "SimCLR, one call": (PLAIN, "loss = nt_xent(model(torch.cat([x1, x2])))", "whose second half repeats the first exactly"),
    "SimCLR, views side by side": (PLAIN, "z = model(torch.stack([x1, x2], 1).flatten(0, 1)); loss = nt_xent(torch.cat([z[0::2], z[1::2]]))", "each of which comes twice in a row"),
    "SimSiam": (SIAMESE, SIMSIAM, "Sequential (encoder) at"),
    "Barlow Twins": (BARLOW, "loss = barlow(model(x1), model(x2))", "is called twice"),
    "DINO": (CROPS, DINO, "whose second half"),
    "one direction": (PLAIN, INFO, "the scores are symmetric"),
    "one direction, with an average of the encoder": (
        "model, average = net(), net()", INFO.replace("model(x2)", "model(x2).detach()"), "the scores are symmetric",
    ),
}  # fmt: skip
FAULTS = {
    "the transform is deterministic": ("row + 0.3 * torch.randn(20)", "row * 1.5"),
    "it is applied once": ("return self.view(row)\n", "return one\n"),
    "one view twice": ("for x1, x2, label in loader:", "for x1, _, label in loader:\n    x2 = x1"),
}


def said(host: Host, folder: Path, model: str, step: str, *edits: tuple[str, str]) -> list[Finding]:
    text = BEGIN.replace("MODEL", model.strip("\n")).replace("STEP", step).replace("PARAMETERS", "model.parameters()")
    text = with_edits(text, edits)
    program = folder / "program.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended, trace.hooks_missing)
    found = list(probes.judge("observe", trace, frozenset({"batch_as_seen"})))
    assert found
    return [one for one in found if one.outcome == "fail"]


@pytest.mark.parametrize("method", METHODS)
def test_views_that_differ_are_nothing_to_tell(host: Host, tmp_path: Path, method: str) -> None:
    model, step, _ = METHODS[method]
    assert said(host, tmp_path, model, step) == []


@pytest.mark.parametrize("method", METHODS)
def test_views_that_are_equal_are_told_at_the_line_that_gives_them(host: Host, tmp_path: Path, method: str) -> None:
    model, step, words = METHODS[method]
    (found,) = said(host, tmp_path, model, step, FAULTS["the transform is deterministic"])
    assert found.severity == "warning" and words in found.message, found
    line = (tmp_path / "program.py").read_text().splitlines()[(found.line or 0) - 1]
    assert "model(" in line or "self." in line, line


@pytest.mark.parametrize("fault", first_ones(FAULTS))
def test_however_they_came_to_be_equal(host: Host, tmp_path: Path, fault: str) -> None:
    (found,) = said(host, tmp_path, PLAIN, SIMCLR, FAULTS[fault])
    assert "the second view adds nothing" in found.message


def test_a_sentence_is_its_own_view_only_by_dropout(host: Host, tmp_path: Path) -> None:
    one_view = FAULTS["one view twice"]
    assert said(host, tmp_path, "model = net(nn.Dropout(0.1))", SIMCLR, one_view) == []
    (found,) = said(host, tmp_path, "model = net(nn.Dropout(0.1)).eval()", INFO, one_view)
    assert "or dropout" in found.message or "symmetric" in found.message


INSIDE = """
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.predictor = net(), nn.Linear(16, 16)

    def forward(self, x):
        one = x + 0.3 * torch.randn_like(x)
        two = x + 0.3 * torch.randn_like(x)
        z = self.encoder(torch.cat([one, two]))
        (p1, p2), (z1, z2) = self.predictor(z).chunk(2), z.detach().chunk(2)
        return -(F.cosine_similarity(p1, z2) + F.cosine_similarity(p2, z1)).mean() / 2

model = Siamese()
"""


def test_a_model_that_makes_both_views_itself(host: Host, tmp_path: Path) -> None:
    assert said(host, tmp_path, INSIDE, "loss = model(x1)") == []
    (found,) = said(host, tmp_path, INSIDE, "loss = model(x1)", ("two = x + 0.3 * torch.randn_like(x)", "two = one"))
    assert found.severity == "warning" and "Sequential (encoder)" in found.message, found
    assert "self.encoder(" in (tmp_path / "program.py").read_text().splitlines()[(found.line or 0) - 1]


KL = "F.kl_div(a.log_softmax(1), b.softmax(1), reduction='batchmean')"
SAM = """F.cross_entropy(model(x1), label).backward()
    with torch.no_grad():
        moves = [0.05 * p.grad / (p.grad.norm() + 1e-6) for p in model.parameters()]
        [p.add_(move) for p, move in zip(model.parameters(), moves)]
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x1), label)"""
BYOL = """with torch.no_grad():
        target = average(x1)
    loss = F.mse_loss(model(x1), target) + F.cross_entropy(model(x1), label)"""
PINN = """t = x1[:, :20].clone().requires_grad_()
    slope = torch.autograd.grad(model(t).sum(), t, create_graph=True)[0]
    loss = slope.square().mean() + (model(t)[:, 0] - 1).square().mean()"""
GAN = """made = maker(x1)
    critic = F.softplus(-model(x1)).mean() + F.softplus(model(made.detach())).mean()
    loss = critic + 0 * F.softplus(-model(made)).mean()"""
ACTOR = "chosen = model(x1).log_softmax(1)[torch.arange(len(x1)), label]; spread = model(x1.clone()).softmax(1); loss = (chosen * x1[:, 0] + 0.01 * (spread * spread.log()).sum(1)).mean()"
CHECKPOINT = "from torch.utils.checkpoint import checkpoint\n\n\nclass Saved(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = net()\n\n    def forward(self, x):\n        return checkpoint(self.body, x, use_reentrant=False)\n\nmodel = Saved()"
HEALTHY = {
    "R-Drop": ("model = net(nn.Dropout(0.3))", f"a, b = model(x1), model(x1); loss = F.cross_entropy(a, label) + F.cross_entropy(b, label) + {KL}"),
    "R-Drop in one batch": ("model = net(nn.Dropout(0.3))", f"a, b = model(torch.cat([x1, x1])).chunk(2); loss = F.cross_entropy(a, label) + F.cross_entropy(b, label) + {KL}"),
    "checkpointing": (CHECKPOINT, "loss = F.cross_entropy(model(x1), label)"),
    "sharpness-aware steps": (PLAIN, SAM),
    "an average of the model": ("model, average = net(), net()", BYOL),
    "two critics": ("model = nn.ModuleList([net(), net()])", "loss = sum(F.cross_entropy(critic(x1), label) for critic in model)"),
    "a teacher": ("model, teacher = net(), net()", "with torch.no_grad():\n        asked = teacher(x1)\n    loss = F.mse_loss(model(x1), asked)"),
    "the slope of what is fitted": (PLAIN, PINN),
    "both sides of a game in one backward": ("model, maker = nn.Sequential(net(), nn.Linear(16, 1)), nn.Linear(20, 20)", GAN),
    "two terms, each with a call of its own": (PLAIN, "loss = F.cross_entropy(model(x1), label) + F.mse_loss(model(x1.clone()), x1[:, :16])"),
    "a policy and its spread": (PLAIN, ACTOR),
    "a second look without a gradient": (PLAIN, "right = (model(x1).argmax(1) == label).sum(); loss = F.cross_entropy(model(x1), label)"),
    "an input with several targets": (PLAIN, "loss = F.cross_entropy(model(x1.repeat_interleave(2, 0)), torch.stack([label, 3 - label], 1).flatten())"),
    "two mixed targets": (PLAIN, "a, b = model(torch.cat([x1, x1])).chunk(2); loss = 0.7 * F.cross_entropy(a, label) + 0.3 * F.cross_entropy(b, label.flip(0))"),
    "pairs, some of them equal": (PLAIN, "x2[::2] = x1[::2]; loss = nt_xent(torch.cat([model(x1), model(x2)]))"),
    "accumulation over one batch": (PLAIN, "(F.cross_entropy(model(x1), label) / 2).backward(); loss = F.cross_entropy(model(x1), label) / 2"),
    "an autoencoder that is given its target": (
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = nn.Sequential(net(), nn.Linear(16, 20))\n\n    def forward(self, x, target):\n        return F.mse_loss(self.body(x), target)\n\nmodel = Model()",
        "loss = model(x1, x1)",
    ),
    "places that repeat for each example": (
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.place, self.body = net(), net()\n        self.register_buffer('at', torch.randn(8, 20))\n\n"
        "    def forward(self, x):\n        places = self.place(self.at.repeat(len(x), 1)).view(len(x), 8, 16)\n        return (places * self.body(x)[:, None]).sum(1)\n\nmodel = Model()",
        "loss = F.cross_entropy(model(x1), label)",
    ),
    "twice rows that hold little": (PLAIN, "loss = sum(F.cross_entropy(model(F.one_hot(label, 20).float()), label) for _ in range(2))"),
    "two draws of dropout that are added up": ("model = net(nn.Dropout(0.3))", "loss = model(x1)[:, 0].mean() + model(x1)[:, 0].mean()"),
}  # fmt: skip


@pytest.mark.parametrize("case", first_ones(HEALTHY))
def test_what_is_computed_twice_for_a_reason_is_nothing_to_tell(host: Host, tmp_path: Path, case: str) -> None:
    assert said(host, tmp_path, *HEALTHY[case]) == []
