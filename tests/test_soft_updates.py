"""An average of the weights whose two factors are exchanged is told; averages, warm-ups and plain copies are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import copy
import math
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)


class Table:
    def __init__(self, model):
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model, keep):
        for name, p in model.named_parameters():
            new = (1.0 - keep) * p.data + keep * self.shadow[name]
            self.shadow[name] = new.clone()


class Listed:
    def __init__(self, model):
        self.shadow_params = [p.clone().detach() for p in model.parameters()]

    @torch.no_grad()
    def update(self, model, keep):
        for mine, p in zip(self.shadow_params, model.parameters()):
            mine.sub_((1 - keep) * (mine - p))


def update(average, model, keep):
    its = model.state_dict()
    for name, value in average.state_dict().items():
        value.data.copy_(value.data * keep + its[name].data * (1 - keep))


def noisy(average, model):
    for mine, p in zip(average.parameters(), model.parameters()):
        mine.data.copy_(p.data + 0.01 * torch.randn_like(p))


def rounded(average, model):
    for mine, p in zip(average.parameters(), model.parameters()):
        mine.data.copy_(p.data.bfloat16())


model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
MADE
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    inputs = torch.randn(64, 8)
    loss = F.cross_entropy(model(inputs), inputs[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    EACH
"""
MODULE = "average = copy.deepcopy(model)"
UPDATES = "update(average, model, {})"


def said(host: Host, folder: Path, made: str, each: str, program: str = PROGRAM) -> list[Finding]:
    (folder / "averaged.py").write_text(program.replace("MADE", made).replace("EACH", each))
    trace, ended = host.run(folder / "averaged.py", folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = probes.judge("observe", trace, frozenset({"parameter_table"}))
    return [one for one in told if one.outcome == "fail"]


FAULTS = {
    "a module": (MODULE, UPDATES.format(1 - 0.9999), "value.data.copy_("),
    "a table": ("average = Table(model)", "average.update(model, 1 - 0.999)", "new = (1.0 - keep)"),
    "a list": ("average = Listed(model)", "average.update(model, 1 - 0.99)", "mine.sub_("),
    "by torch": (
        "average = AveragedModel(model, avg_fn=lambda mine, its, n: 0.001 * mine + 0.999 * its)", "average.update_parameters(model)",
        "avg_fn=lambda",
    ),
    "at every third step": (MODULE, "if step % 3 == 0:\n        update(average, model, 0.005)", "value.data.copy_("),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each", "line"), one_in(2, FAULTS.values()), ids=FAULTS)
def test_an_average_that_takes_over_nearly_all_is_told_at_its_line(
    host: Host, tmp_path: Path, made: str, each: str, line: str
) -> None:
    (told,) = said(host, tmp_path, made, each)
    assert told.severity == "warning" and "the other way round" in told.message
    assert told.line and line in (tmp_path / "averaged.py").read_text().splitlines()[told.line - 1], told


HEALTHY = {
    "an average": (MODULE, UPDATES.format(0.99)),
    "a table": ("average = Table(model)", "average.update(model, 0.999)"),
    "a list": ("average = Listed(model)", "average.update(model, 0.99)"),
    "a plain copy": (MODULE, "average.load_state_dict(model.state_dict())"),
    "a plain copy by the formula": (MODULE, UPDATES.format(0.0)),
    "half and half": (MODULE, UPDATES.format(0.5)),
    "a tenth of its own": (MODULE, UPDATES.format(0.1)),
    "a warm-up by counts": (MODULE, UPDATES.format("min(0.999, (1 + step) / (10 + step))")),
    "a slow warm-up": (MODULE, UPDATES.format("0.9999 * (1 - math.exp(-(step + 1) / 2000))")),
    "a very slow warm-up": (MODULE, UPDATES.format("min(0.999, (step + 1) / 20000)")),
    "plain copies, then an average": (MODULE, UPDATES.format("0.999 if step > 20 else 0.0")),
    "equal weights": ("average = AveragedModel(model)", "average.update_parameters(model)"),
    "a copy with noise": (MODULE, "noisy(average, model)"),
    "a copy in low precision": (MODULE, "rounded(average, model)"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each"), one_in(2, HEALTHY.values()), ids=HEALTHY)
def test_what_is_meant_so_is_not_told(host: Host, tmp_path: Path, made: str, each: str) -> None:
    assert not said(host, tmp_path, made, each)
