"""A teacher that nothing trains gives noisy targets in training mode; what looks like one and is meant so raises no alarm."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import copy
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def net(out=4, p=0.3):
    return nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, out))


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 64), nn.Linear(64, 4)

    def forward(self, x):
        return self.head(F.dropout(F.relu(self.body(x)), 0.3, self.training))


student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
TEACHER
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
for step in range(40):
    x = torch.randn(32, 8)
    LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    AFTER
"""
TEACHER = "teacher = net().requires_grad_(False)"
NORMS = "teacher = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64, track_running_stats={}), nn.ReLU(), nn.Linear(64, 4)).requires_grad_(False)"
EVALUATED = (
    TEACHER
    + "\nwith torch.no_grad():\n    for _ in range(3):\n        teacher.eval()(torch.randn(32, 8))\nteacher.train()"
)
DISTILS = (
    "with torch.no_grad():\n        wished = F.softmax(teacher(x) / 2, dim=1)\n"
    "    loss = F.kl_div(F.log_softmax(student(x) / 2, dim=1), wished, reduction='batchmean')"
)
REWARDS = (
    "picked = torch.distributions.Categorical(logits=student(x))\n    actions = picked.sample()\n"
    "    with torch.no_grad():\n        reward = teacher(x)[torch.arange(32), actions]\n"
    "    loss = -(picked.log_prob(actions) * (reward - reward.mean())).mean()"
)
COMPARES = "loss = (teacher(F.pad(student(x), (0, 4))) - teacher(x)).square().mean()"
DETACHES = "loss = F.mse_loss(student(x), teacher(x).detach())"

FAULTS = {
    "a distilling teacher with dropout": (TEACHER, DISTILS, "1 of its dropout layers drop values"),
    "its gradients left on, its output detached": ("teacher = net()", DETACHES, "1 of its dropout layers drop values"),
    "functional dropout": ("teacher = ByHand().requires_grad_(False)", DISTILS, "1 of its dropout layers drop values"),
    "batch norms": (NORMS.format(True), DISTILS, "1 of its batch norms use the statistics of the batch, and their running statistics moved"),
    "a reward model": (TEACHER, REWARDS, "1 of its dropout layers drop values"),
    "an average built by itself": ("student = net()\n" + TEACHER, DISTILS, "follow the Sequential that trains and is built alike"),
    "features that are compared": (TEACHER, COMPARES, "1 of its dropout layers drop values"),
    "evaluated before it teaches": (EVALUATED, DISTILS, "1 of its dropout layers drop values"),
}  # fmt: skip


def said(host: Host, folder: Path, teacher: str, loss: str, after: str = "pass") -> list[Finding]:
    program = folder / "distil.py"
    program.write_text(PROGRAM.replace("TEACHER", teacher).replace("LOSS", loss).replace("AFTER", after))
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing and trace.steps >= 40, (ended["output"], trace.hooks_missing)
    told = [one for one in probes.judge("observe", trace, frozenset({"modes"})) if one.outcome == "fail"]
    assert all(one.line and "teacher(" in program.read_text().splitlines()[one.line - 1] for one in told), told
    return told


@pytest.mark.parametrize(("teacher", "loss", "words"), one_in(3, FAULTS.values()), ids=FAULTS)
def test_a_teacher_in_training_mode_is_told(host: Host, tmp_path: Path, teacher: str, loss: str, words: str) -> None:
    (told,) = said(host, tmp_path, teacher, loss)
    assert told.severity == "warning" and words in told.message and "the loss is computed against" in told.message, told


COPY = "student = net()\nteacher = copy.deepcopy(student).requires_grad_(False)"
QUIET_COPY = COPY.replace("net()", "net(p=0.0)")
FOLLOWS = "for mine, its in zip(teacher.parameters(), student.parameters()):\n        mine.data.lerp_(its.data, 0.1)"
SEVERAL = DISTILS.replace("teacher(x)", "torch.stack([teacher(x) for _ in range(4)]).mean(0)")
FEATURES = "with torch.no_grad():\n        features = teacher(x)\n    loss = F.cross_entropy(student(features), x[:, :4].argmax(1))"
NORMED = "\nstudent = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))"
GAN = (
    "x = torch.randn(32, 8)\n    with torch.no_grad():\n        fake = teacher(x)\n"
    "    turn = F.softplus(student(fake)).mean() + F.softplus(-student(x)).mean()\n    optimizer.zero_grad()\n    turn.backward()\n"
    "    optimizer.step()\n    loss = F.softplus(-student(teacher(x))).mean()\n    own.zero_grad()"
)
GAN_MADE = "teacher, student = net(8), net(1)\nown = torch.optim.Adam(teacher.parameters(), lr=0.01)"
SELDOM = "loss = F.cross_entropy(student(x), x[:, :4].argmax(1))\n    if step % 4 == 0:\n        with torch.no_grad():\n            teacher(x)"
OLD_POLICY = (
    "if step % 4 == 0:\n        held = x\n        with torch.no_grad():\n            old = F.log_softmax(teacher(held), 1)\n"
    "    loss = (F.log_softmax(student(held), 1) - old).exp().mean()"
)
PROMPT = "loss = F.cross_entropy(teacher(x + F.pad(student(x), (0, 4))), x[:, :4].argmax(1))"
NOISE = "teacher = nn.Dropout(0.5)\nstudent.append(nn.Linear(4, 8))"
DENOISES = "loss = F.mse_loss(student(x), teacher(x))"
NORMALISER = "teacher = nn.BatchNorm1d(8).requires_grad_(False)\nstudent.append(nn.Linear(4, 8))"

HEALTHY = {
    "evaluation mode": (TEACHER + ".eval()", DISTILS, "pass"),
    "dropout of nothing": ("teacher = net(p=0.0).requires_grad_(False)", DISTILS, "pass"),
    "norms without running statistics": (NORMS.format(False), DISTILS, "pass"),
    "a mean teacher": (COPY, DISTILS, FOLLOWS),
    "a momentum encoder": (QUIET_COPY, DISTILS, FOLLOWS),
    "a fixed reference in evaluation mode": (QUIET_COPY + ".eval()", DISTILS, "pass"),
    "another network that nothing trains": ("student = net(p=0.0)\nteacher = net(p=0.0).requires_grad_(False)", DISTILS, "pass"),
    "a target that is copied seldom": (COPY, DISTILS, "if step % 15 == 14:\n        teacher.load_state_dict(student.state_dict())"),
    "its dropout switched on by hand": (TEACHER + ".eval()\nteacher[2].train()", SEVERAL, "pass"),
    "a generator while its critic learns": (GAN_MADE, GAN, "own.step()"),
    "called at some steps only": (TEACHER, SELDOM, "pass"),
    "an old policy": (COPY, OLD_POLICY, "if step % 4 == 3:\n        teacher.load_state_dict(student.state_dict())"),
    "what is learned passes through it": (TEACHER, PROMPT, "pass"),
    "noise": (NOISE, DENOISES, "pass"),
    "a normaliser of targets": (NORMALISER, DENOISES, "pass"),
    "evaluated in between": (TEACHER, DISTILS, "with torch.no_grad():\n        teacher.eval()(x)\n        teacher.train()"),
}  # fmt: skip


@pytest.mark.parametrize(("teacher", "loss", "after"), one_in(4, HEALTHY.values()), ids=HEALTHY)
def test_what_is_meant_so_is_not_told(host: Host, tmp_path: Path, teacher: str, loss: str, after: str) -> None:
    assert not said(host, tmp_path, teacher, loss, after)


JUDGES = "loss = teacher(torch.cat([student(x), x[:, :4]], 1)).pow(2).mean()"
DOUBTFUL = {
    "a judge through which gradients pass": (NORMS.format(True).replace(".requires_grad_(False)", ""), JUDGES, "are used by none"),
    "a copy that stays": (COPY, DISTILS, "began as a copy of the Sequential that trains"),
    "a momentum encoder that never moves": (QUIET_COPY, DISTILS, "Then nothing updates it"),
    "draws several times": (TEACHER, SEVERAL, "called several times for each backward"),
    "features that a head learns from": (TEACHER.replace("net()", "net(8)"), FEATURES, "enters what learns"),
    "a head with a norm in its weights": (TEACHER.replace("net()", "net(8)") + NORMED, FEATURES, "enters what learns"),
    "by way of a list": (TEACHER, DETACHES.replace("teacher(x).detach()", "torch.tensor(teacher(x).tolist())"), "was not seen"),
}  # fmt: skip


@pytest.mark.parametrize(("teacher", "loss", "words"), one_in(3, DOUBTFUL.values()), ids=DOUBTFUL)
def test_where_intent_decides_it_is_a_note(host: Host, tmp_path: Path, teacher: str, loss: str, words: str) -> None:
    (told,) = said(host, tmp_path, teacher, loss)
    assert told.severity == "note" and words in told.message, told


def test_memory_that_another_tensor_gets_is_not_known_any_more() -> None:
    import torch

    following = import_module("trainsleuth.runtime.following")
    reused = 0
    for size in range(100, 20_000, 100):
        marks, given = following.Marks(), torch.ones(size)
        marks.put(given, {"teacher": following.PURE})
        assert marks.of(given.view(10, -1)) == {"teacher": following.PURE}
        place = given.data_ptr()
        del given
        later = [torch.ones(size) for _ in range(10)]
        reused += sum(one.data_ptr() == place for one in later)
        assert not any(marks.of(one) for one in later)
    assert reused
