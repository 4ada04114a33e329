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


@pytest.mark.parametrize(("made", "each", "line"), one_in(4, FAULTS.values()), ids=FAULTS)
def test_an_average_that_takes_over_nearly_all_is_told_at_its_line(
    host: Host, tmp_path: Path, made: str, each: str, line: str
) -> None:
    (told,) = said(host, tmp_path, made, each)
    assert told.severity == "warning" and "the other way round" in told.message
    assert told.line and line in (tmp_path / "averaged.py").read_text().splitlines()[told.line - 1], told


AWAY = {
    "by torch": ("average = AveragedModel(model, avg_fn=lambda mine, its, n: 0.99 * mine - 0.01 * its)", "average.update_parameters(model)"),
    "a target network": (MODULE, "for mine, its in zip(average.parameters(), model.parameters()):\n        mine.data.copy_(0.01 * its - 0.99 * mine)"),
    "a list": (MODULE, "for mine, its in zip(average.parameters(), model.parameters()):\n        mine.data.mul_(0.995).sub_(0.005 * its.data)"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each"), AWAY.values(), ids=AWAY)
def test_an_average_that_takes_the_weights_away_is_told(host: Host, tmp_path: Path, made: str, each: str) -> None:
    told = [one for one in said(host, tmp_path, made, each) if "takes the trained weights away" in one.message]
    assert [one.severity for one in told] == ["warning"], told


def test_an_average_that_keeps_less_each_time_is_a_note(host: Host, tmp_path: Path) -> None:
    told = [
        one for one in said(host, tmp_path, MODULE, UPDATES.format("1 / (step + 1)")) if "keeps less" in one.message
    ]
    assert [one.severity for one in told] == ["note"], told


HEALTHY = {
    "a warm-up of one's own": (MODULE, UPDATES.format("1 - 1 / (step + 1)")),
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


@pytest.mark.parametrize(("made", "each"), one_in(4, HEALTHY.values()), ids=HEALTHY)
def test_what_is_meant_so_is_not_told(host: Host, tmp_path: Path, made: str, each: str) -> None:
    assert not [one for one in said(host, tmp_path, made, each) if one.is_alarm]


AGENT = """
import copy
import io
import torch
from torch import nn

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 32), nn.Linear(5, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, state, action):
        both = torch.cat([state, action], 1)
        return self.last(self.first(both).relu()), self.last(self.second(both).relu())

    def one(self, state, action):
        return self.last(self.first(torch.cat([state, action], 1)).relu())


def follow(copy, trained):
    for mine, its in zip(copy.parameters(), trained.parameters()):
        mine.data.copy_(0.005 * its.data + 0.995 * mine.data)


actor, critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1)), Critic()
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
by_actor, by_critic = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for step in range(120):
    state, after, reward = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32, 1)
    action = actor(state).detach() + 0.1 * torch.randn(32, 1)
    with torch.no_grad():
        wished = reward + 0.9 * torch.min(*TARGET)
    loss = sum((value - wished).square().mean() for value in critic(state, action))
    by_critic.zero_grad()
    loss.backward()
    by_critic.step()
    if step % 2 == 0:
        loss = -critic.one(state, actor(state)).mean()
        by_actor.zero_grad()
        loss.backward()
        by_actor.step()
        follow(critic_target, critic)
        follow(actor_target, actor)
    EACH
END
"""
NO_TARGET = "critic(after, actor_target(after))"


def agent(target: str, each: str = "pass", end: str = "") -> str:
    return AGENT.replace("TARGET", target).replace("EACH", each).replace("END", end)


def test_a_target_network_that_nobody_calls_is_a_note(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, "", "", agent(NO_TARGET))
    assert told.severity == "note" and "a Critic follows" in told.message and told.line, told
    assert "while the Sequential that is updated beside it is called at 60" in told.message
    assert "mine.data.copy_" in (tmp_path / "averaged.py").read_text().splitlines()[told.line - 1]


SWAPPED = """
kept = copy.deepcopy(model.state_dict())
model.load_state_dict(average.state_dict())
with torch.no_grad():
    model.eval()(torch.randn(4, 8))
model.load_state_dict(kept)
"""
EMA = (MODULE, UPDATES.format(0.99))
USED = {
    "a target network that is called": agent("critic_target(after, actor_target(after))"),
    "called by a method": agent("(critic_target.one(after, actor_target(after)), critic_target.one(after, actor(after)))"),
    "called inside of another": agent("critic_target(after, actor_target(after))").replace("critic_target(after", "nn.ModuleList([critic_target])[0](after"),
    "called by its weights alone": agent("torch.func.functional_call(critic, dict(critic_target.named_parameters()), (after, actor_target(after)))"),
    "saved": PROGRAM.replace("MADE", MODULE).replace("EACH", EMA[1]) + "\nimport io\ntorch.save({'ema': average.state_dict()}, io.BytesIO())",
    "saved after it was moved": PROGRAM.replace("MADE", MODULE).replace("EACH", EMA[1])
    + "\nimport io\ntorch.save({k: v.clone() for k, v in average.state_dict().items()}, io.BytesIO())",
    "evaluated at the end": PROGRAM.replace("MADE", MODULE).replace("EACH", EMA[1]) + "\nwith torch.no_grad():\n    average.eval()(torch.randn(4, 8))",
    "put into the model": PROGRAM.replace("MADE", MODULE).replace("EACH", EMA[1]) + SWAPPED,
}  # fmt: skip


@pytest.mark.parametrize("program", one_in(4, USED.values()), ids=USED)
def test_what_is_used_in_some_way_is_not_told(host: Host, tmp_path: Path, program: str) -> None:
    assert not said(host, tmp_path, "", "", program)


def test_an_average_that_nothing_used_to_the_end_is_a_note(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, *EMA)
    assert told.severity == "note" and "nor saved" in told.message
