"""Gradients that nothing uses: told as that, whatever the program has instead of an optimizer that steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from probed import Host
from twins import Answer

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

MODEL = """
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
"""
BARE = MODEL + "for step in range(40):\n    model(torch.randn(4, 3)).square().mean().backward()\n"
CLEARED = BARE + "    model.zero_grad()\n"
BY_HAND = (
    BARE
    + "    with torch.no_grad():\n        for p in model.parameters():\n            p -= 0.1 * p.grad\n    model.zero_grad()\n"
)
OF_INPUTS = BARE.replace("torch.randn(4, 3)", "torch.randn(4, 3, requires_grad=True)")
FEW = BARE.replace("range(40)", "range(4)")
FISHER = CLEARED.replace("for step", "model.eval()\nfor step").replace(
    "model(torch.randn(4, 3)).square().mean()",
    "torch.nn.functional.mse_loss(model(torch.randn(4, 3)), torch.zeros(4, 1))",
)
REPLACED = BARE + "    model.weight = torch.nn.Parameter(model.weight.detach() - 0.1 * model.weight.grad)\n"
PLOTTED = (
    MODEL.replace("model =", "dummy =")
    + """
for rate in range(3):
    optimizer = torch.optim.Adam(dummy.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (1 + step))
    for step in range(300):
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
"""
)
TRAINED = """
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    optimizer.zero_grad()
    model(torch.randn(4, 3)).square().mean().backward()
    optimizer.step()
"""
NOT_STEPPED = CLEARED.replace("for step", "optimizer = torch.optim.Adam(model.parameters())\nfor step")


def judged(host: Host, folder: Path, text: str, experiment: str = "observe") -> list[Finding]:
    (folder / "train.py").write_text(text)
    trace, ended = host.run(folder / "train.py", folder, dict(probes.EXPERIMENTS[experiment]))
    assert ended["code"] == 0 and not trace.hooks_missing, ended["output"]
    return list(probes.judge(experiment, trace))


@pytest.mark.parametrize("text", [BARE, CLEARED], ids=["bare", "cleared"])
def test_without_an_optimizer_nothing_changes_the_parameters(host: Host, tmp_path: Path, text: str) -> None:
    (told,) = [one for one in judged(host, tmp_path, text) if one.outcome == "fail"]
    assert (told.by, told.place, told.is_alarm) == ("probe:step_trace", "train.py:7", True)
    assert "nothing changes the parameters: 40 backward calls" in told.message


def test_what_is_stepped_by_hand_is_called_once_more(host: Host, tmp_path: Path) -> None:
    said = {one.by: one.outcome for one in judged(host, tmp_path, BY_HAND)}
    assert (said["probe:independence"], said["probe:input_matters"]) == ("pass", "pass")
    assert {said[f"probe:{name}"] for name in ("step_trace", "learning_rate", "parameter_table")} == {"pass"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OF_INPUTS, "and no parameter changed"),
        (FEW, "4 backward calls but no torch optimizer step were seen, and no parameter changed"),
        (REPLACED, "no torch optimizer step were seen"),
        (FISHER, "and no parameter changed"),
    ],
    ids=["of inputs", "few", "replaced", "Fisher information"],
)
def test_what_may_be_meant_is_left_open(host: Host, tmp_path: Path, text: str, words: str) -> None:
    said = judged(host, tmp_path, text)
    assert not [one for one in said if one.is_alarm]
    assert [one.outcome for one in said if one.by == "probe:step_trace" and words in one.message] == ["open"], said


def test_a_schedule_that_is_plotted_is_no_training(host: Host, tmp_path: Path) -> None:
    said = judged(host, tmp_path, PLOTTED + TRAINED)
    assert not [one for one in said if one.outcome == "fail"]
    (order,) = [one for one in said if one.by == "probe:step_trace"]
    assert "zero_grad > forward > backward > step (40 steps seen)" in order.message


def test_a_backward_that_is_forgotten_after_a_plot_is_told(host: Host, tmp_path: Path) -> None:
    said = judged(host, tmp_path, PLOTTED + TRAINED.replace(".backward()", ""))
    told = [one.message for one in said if one.is_alarm]
    assert len(told) == 1 and "changed none of its 2 parameters: their gradients were none" in told[0], said


def test_a_program_that_only_plots_a_schedule_trains_nothing(tmp_path: Path, warm: Callable[..., Answer]) -> None:
    (tmp_path / "plot.py").write_text(PLOTTED)
    answer = warm("probe", "--contain", "none", "--", "python", "plot.py", cwd=tmp_path)
    assert answer.code == 2 and "900 optimizer steps that nothing was computed for" in answer.output, answer.output


def test_one_batch_is_not_called_stuck_where_no_optimizer_steps(host: Host, tmp_path: Path) -> None:
    (told,) = judged(host, tmp_path, BARE, "overfit")
    assert told.outcome == "fail" and "nothing changes the parameters" in told.message
    assert told.place == "train.py:7", "a loss by hand has the place of its backward"
    assert "(by random state)" in told.message and "loader" not in told.message + told.next
    (told,) = judged(host, tmp_path, BY_HAND, "overfit")
    assert told.outcome == "pass", told.message
    (told,) = judged(host, tmp_path, FISHER, "overfit")
    assert told.outcome == "open", "gradients may be wanted for themselves"


def test_an_optimizer_that_never_steps_is_told_without_contradiction(
    tmp_path: Path, warm: Callable[..., Answer]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(NOT_STEPPED)
    words = ("triage", "--no-notes", "--contain", "none", "--", "python", "train.py")
    answer = warm(*words, cwd=tmp_path / "project")
    assert answer.code == 1 and "Adam built at train.py:6 never stepped in 40 backward calls" in answer.output
    assert "no backward" not in answer.output and "0 torch optimizers were seen" not in answer.output
    assert "no gradient was seen" not in answer.output
    only = warm("probe", "--only", "overfit_one_batch", *words[2:], cwd=tmp_path / "project")
    assert only.code == 2 and "no training step was seen" in only.output and "no backward" not in only.output
