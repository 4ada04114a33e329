"""Parameters that only an optimizer holds that has not stepped; those of a later or an earlier phase raise no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
model.register_parameter("factor", nn.Parameter(torch.ones(1)))
x = torch.randn(64, 8)
y = 3 * x[:, :1]


def loss_of():
    return nn.functional.mse_loss(model.factor * model(x), y)


def closure():
    search.zero_grad()
    loss = loss_of()
    loss.backward()
    return loss


search = torch.optim.LBFGS(model.parameters(), max_iter=5)
MADE
for step in range(40):
    loss = loss_of()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    AFTER
LAST
"""
PART = "optimizer = torch.optim.Adam([*model[0].parameters(), *model[2].parameters()], lr=0.01)"
ALL = "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)"
FIRST = "for _ in range(3):\n    search.step(closure)\n"


def said(host: Host, folder: Path, made: str, after: str = "pass", last: str = "", steps: int = 200) -> list[Finding]:
    program = folder / "phases.py"
    program.write_text(PROGRAM.replace("MADE", made).replace("AFTER", after).replace("LAST", last))
    trace, ended = host.run(program, folder, {**probes.EXPERIMENTS["observe"], "steps": steps})
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = probes.judge("observe", trace, frozenset({"parameter_table"}))
    return [one for one in told if one.outcome == "fail"]


def test_what_no_optimizer_that_steps_holds_is_told(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, PART)
    assert (
        (told.severity, told.confidence) == ("note", "medium")
        and "(factor)" in told.message
        and "LBFGS built at" in told.message
    ), told
    assert "optimizer = " in (tmp_path / "phases.py").read_text().splitlines()[(told.line or 0) - 1], told


def test_before_the_end_it_is_a_note(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, PART, last="search.step(closure)", steps=30)
    assert told.severity == "note" and "step later" in told.message, told


HEALTHY = {
    "all in the one that steps": (ALL, "pass", ""),
    "the other comes later": (PART, "pass", "search.step(closure)"),
    "the other came first": (FIRST + PART, "pass", ""),
    "by turns": (PART, "if step % 10 == 9:\n        search.step(closure)", ""),
    "moved by hand": (PART, "model.factor.data -= 0.01 * model.factor.grad", ""),
    "frozen": ("model.factor.requires_grad_(False)\n" + PART, "pass", ""),
    "without a gradient": (PART.replace("PART", "") + "\nmodel.factor.register_hook(torch.zeros_like)", "pass", ""),
}  # fmt: skip


@pytest.mark.parametrize(("made", "after", "last"), one_in(3, HEALTHY.values()), ids=HEALTHY)
def test_what_is_trained_or_meant_to_stay_is_not_told(
    host: Host, tmp_path: Path, made: str, after: str, last: str
) -> None:
    assert not [one for one in said(host, tmp_path, made, after, last) if "does not hold them" in one.message]
