"""What trains and is held by nobody, what was to step and never does, and their healthy twins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from probed import Host
from twins import Answer

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

START = """
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(4, 16), nn.ReLU()), nn.Linear(16, 2)
"""
LOOP = """
for step in range(60):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(head(body(x)), (x.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BOTH = "optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()])"
HEAD = "optimizer = torch.optim.Adam(head.parameters())"
OTHER = "optimizer = torch.optim.Adam(nn.Linear(16, 2).parameters())"
LOADED = "body.load_state_dict(body.state_dict())\n" + HEAD
FROZEN = "body.requires_grad_(False)\n" + HEAD


def judged(host: Host, folder: Path, text: str, only: str, experiment: str = "observe") -> list[Finding]:
    (folder / "train.py").write_text(text)
    trace, ended = host.run(folder / "train.py", folder, dict(probes.EXPERIMENTS[experiment]))
    assert ended["code"] == 0 and not trace.hooks_missing, ended["output"]
    return list(probes.judge(experiment, trace, frozenset({only})))


def test_a_module_that_no_optimizer_holds_is_told(host: Host, tmp_path: Path) -> None:
    told, summary = judged(host, tmp_path, START + HEAD + LOOP, "parameter_table")
    assert (told.outcome, told.severity, told.place) == ("fail", "warning", "train.py:7")
    assert told.suspects == ("optimizer-misses-parameters",)
    assert "all 2 trainable parameters of Sequential" in told.message
    assert "none that requires a gradient is missing" not in summary.message


def test_an_optimizer_over_a_module_that_nobody_runs_is_told(host: Host, tmp_path: Path) -> None:
    failed = [one for one in judged(host, tmp_path, START + OTHER + LOOP, "parameter_table") if one.outcome == "fail"]
    assert {one.suspects for one in failed} == {("optimizer-misses-parameters",)}
    assert {(one.severity, one.place) for one in failed} == {("error", "train.py:7")}
    assert "parameters of nothing that runs" in failed[0].message


def test_a_module_with_loaded_weights_may_be_meant_to_stay(host: Host, tmp_path: Path) -> None:
    said = judged(host, tmp_path, START + LOADED + LOOP, "parameter_table")
    assert {one.outcome for one in said} == {"open"}, said


def test_that_another_was_loaded_from_it_says_nothing(host: Host, tmp_path: Path) -> None:
    """A target that begins as a copy: target.load_state_dict(body.state_dict())."""
    copied = f"target = nn.Sequential(nn.Linear(4, 16), nn.ReLU())\ntarget.load_state_dict(body.state_dict())\n{HEAD}"
    told, *_ = judged(host, tmp_path, START + copied + LOOP, "parameter_table")
    assert (told.outcome, told.severity, told.suspects) == ("fail", "warning", ("optimizer-misses-parameters",)), told


def test_weights_may_come_from_files_that_torch_does_not_read(host: Host, tmp_path: Path) -> None:
    """Those of safetensors come in by no call of ours."""
    others = "import sys, types\nsys.modules['safetensors'] = types.ModuleType('safetensors')\nhead.load_state_dict(head.state_dict())\n"
    said = judged(host, tmp_path, START + others + HEAD + LOOP, "parameter_table")
    assert {one.outcome for one in said} == {"open"}, said


@pytest.mark.parametrize("built", [BOTH, FROZEN], ids=["both are held", "frozen"])
def test_what_is_held_or_frozen_raises_nothing(host: Host, tmp_path: Path, built: str) -> None:
    assert not [one for one in judged(host, tmp_path, START + built + LOOP, "parameter_table") if one.outcome == "fail"]


WARM = "\nschedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 400))\n"


def test_a_schedule_that_never_steps_is_told(host: Host, tmp_path: Path) -> None:
    (told,) = judged(host, tmp_path, START + BOTH + WARM + LOOP, "learning_rate")
    assert (told.outcome, told.place) == ("fail", "train.py:8")
    assert "LambdaLR built at train.py:8 begins there and never stepped" in told.message


@pytest.mark.parametrize(
    "text",
    [
        START + BOTH + WARM + LOOP + "    schedule.step()\n",
        START + BOTH + WARM + LOOP + "    if step % 30 == 29:\n        schedule.step()\n",
        START + BOTH + "\noptimizer.param_groups[0]['lr'] = 1e-6\n" + LOOP,
        START + BOTH + WARM.replace("/ 400", "/ 2") + LOOP,
    ],
    ids=["each step", "each epoch", "set by hand", "begins near its rate"],
)
def test_a_schedule_that_steps_raises_nothing(host: Host, tmp_path: Path, text: str) -> None:
    assert {one.outcome for one in judged(host, tmp_path, text, "learning_rate")} == {"pass"}


SINKS = """
import torch

torch.manual_seed(0)
net, scale = torch.nn.Linear(4, 4), torch.nn.Parameter(torch.full((4,), 0.1))
optimizer = torch.optim.Adam([*net.parameters(), scale], lr=0.3)
for step in range(90):
    x = torch.randn(8, 4)
    loss = (net(x) - x).square().mean() SIGN (scale.exp() - scale - 1).sum()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([scale], 1.0)
    if step > 60:
        optimizer.param_groups[0]["lr"] = 0.0
    optimizer.step()
"""


def test_a_term_with_the_wrong_sign_sinks_without_bound(host: Host, tmp_path: Path) -> None:
    failed = [
        one for one in judged(host, tmp_path, SINKS.replace("SIGN", "-"), "loss_contract") if one.outcome == "fail"
    ]
    assert [one.suspects for one in failed] == [("loss-below-bound",)] and "no lower bound" in failed[0].message
    healthy = judged(host, tmp_path, SINKS.replace("SIGN", "+"), "loss_contract")
    assert not [one for one in healthy if one.outcome == "fail"]


THREADS = (
    START
    + BOTH
    + """
import queue, threading

batches = queue.Queue(4)


def act():
    for _ in range(30):
        batches.put(torch.randn(16, 4))
    batches.put(None)


def learn():
    while (x := batches.get()) is not None:
        loss = nn.functional.cross_entropy(head(body(x)), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


both = [threading.Thread(target=act), threading.Thread(target=learn)]
[one.start() for one in both]
[one.join() for one in both]
"""
)


def test_a_learner_in_a_thread_is_seen(host: Host, tmp_path: Path) -> None:
    said = judged(host, tmp_path, THREADS, "parameter_table")
    assert [one.outcome for one in said] == ["pass"] and "4 of 4 parameters" in said[0].message


VIEWS = """
import torch
from torch import nn

torch.manual_seed(0)


class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, one, other):
        return 1 - nn.functional.cosine_similarity(self.net(one), self.net(other)).mean()


loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(3200, 8)), batch_size=16)
model = Views()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for (x,) in loader:
    loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_two_views_of_an_example_are_no_input_and_label(host: Host, tmp_path: Path) -> None:
    (said,) = judged(host, tmp_path, VIEWS, "label_pairing", "pairing")
    assert said.outcome == "open" and "no target stays behind" in said.message


def test_the_last_run_is_one_of_this_folder(tmp_path: Path, warm: Callable[..., Answer]) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "train.py").write_text(START + HEAD + LOOP)
    words = ("--steps", "40", "--format", "json", "--", "python", "train.py")
    assert warm("probe", "--only", "parameter_table", *words, cwd=here).code == 1
    other = warm("probe", "--again", "last", cwd=there)
    assert other.code == 2 and "call from there" in other.errors and str(here) in other.errors
    none = warm("probe", "--again", "last", "--only", "step_trace", cwd=here)
    assert none.code == 2 and "none of what --only names" in none.errors
    again = warm("probe", "--again", "last", "--format", "json", cwd=here)
    assert [one["became"] for one in again.json["again"]] == ["still fails"]
