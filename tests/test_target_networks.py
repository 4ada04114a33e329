"""A target network: a copy that is updated is healthy, one whose name is given to the trained network is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

AGENT = """
import copy
import torch

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.online = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def sync(self):
        SYNC

    def learn(self, s, n):
        with torch.no_grad():
            wished = 1 + 0.9 * self.target(n).max(1).values
        loss = (self.online(s).max(1).values - wished).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent()
for step in range(130):
    agent.learn(torch.randn(8, 4), torch.randn(8, 4))
    if step % 20 == 19:
        agent.sync()
"""
HEALTHY = {
    "values are copied": "self.target.load_state_dict(self.online.state_dict())",
    "a new copy each time": "self.target = copy.deepcopy(self.online)",
}


def said(host: Host, folder: Path, sync: str) -> list[Finding]:
    (folder / "agent.py").write_text(AGENT.replace("SYNC", sync))
    trace, ended = host.run(folder / "agent.py", folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, ended["output"]
    return [one for one in probes.judge("observe", trace, frozenset({"parameter_table"})) if one.outcome == "fail"]


def test_a_target_that_is_rebound_is_told_with_its_names(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, "self.target = self.online")
    assert told.is_alarm and told.line is not None
    assert "self.target(n)" in AGENT.splitlines()[told.line - 1]
    assert (
        "up to step 19, and from step 20 on the trained one itself (self.online and self.target), 110 times"
        in told.message
    )


@pytest.mark.parametrize("sync", one_in(3, HEALTHY.values()), ids=HEALTHY)
def test_a_target_that_is_updated_raises_no_alarm(host: Host, tmp_path: Path, sync: str) -> None:
    assert not [one for one in said(host, tmp_path, sync) if one.is_alarm]


UNUSED_HEAD = """
import copy
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(4, 16), torch.nn.Linear(16, 2)

    def forward(self, x):
        features = torch.relu(self.body(x))
        self.head(features)
        return features


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.online = Net()
        self.target = copy.deepcopy(self.online)
        self.predictor = torch.nn.Linear(16, 16)

    def forward(self, x):
        with torch.no_grad():
            wished = self.target(x)
        return (self.predictor(self.online(x)) - wished).square().mean()


pair = Pair()
pair.online(torch.randn(2, 4))
with torch.no_grad():
    pair.target(torch.randn(2, 4))
optimizer = torch.optim.Adam([*pair.online.parameters(), *pair.predictor.parameters()])
for step in range(30):
    optimizer.zero_grad()
    pair(torch.randn(8, 4)).backward()
    optimizer.step()
    for mine, its in zip(pair.target.parameters(), pair.online.parameters()):
        mine.data.lerp_(its.data, 0.1)
"""


def test_gradients_are_off_in_the_copy_and_not_in_its_twin_of_the_same_names(host: Host, tmp_path: Path) -> None:
    """Of both the output of one layer is not used; each was called by itself before."""
    (tmp_path / "pair.py").write_text(UNUSED_HEAD)
    trace, ended = host.run(tmp_path / "pair.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    (said,) = [one for one in told if "never receive a gradient" in one.message]
    assert said.severity == "note" and "head.weight" in said.message, (told, ended)
    assert "switched off" not in said.message


ALL_GIVEN = UNUSED_HEAD.replace(
    "[*pair.online.parameters(), *pair.predictor.parameters()]", "pair.parameters()"
).replace("copy.deepcopy(self.online)", "copy.deepcopy(self.online).requires_grad_(False)")
STEP = ALL_GIVEN[ALL_GIVEN.index("    for mine, its") :]


@pytest.mark.parametrize(("loop", "told"), [(STEP, 0), ("", 1)], ids=["follows", "stays"])
def test_a_target_among_all_parameters_of_the_optimizer_is_no_frozen_part(
    host: Host, tmp_path: Path, loop: str, told: int
) -> None:
    (tmp_path / "pair.py").write_text(ALL_GIVEN.replace(STEP, loop))
    trace, ended = host.run(tmp_path / "pair.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    said = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    assert not [one for one in said if one.is_alarm or "frozen-parameters" in one.suspects], (said, ended)
    notes = [one for one in said if "4 parameters" in one.message and "began as copies of trained ones" in one.message]
    assert len(notes) == told and all("requires_grad" not in one.next for one in notes), said


def test_a_target_that_follows_with_its_gradients_left_on_is_not_cut_off(host: Host, tmp_path: Path) -> None:
    (tmp_path / "pair.py").write_text(ALL_GIVEN.replace(".requires_grad_(False)", ""))
    trace, ended = host.run(tmp_path / "pair.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    said = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    (note,) = [one for one in said if one.outcome == "fail"]
    assert not note.is_alarm and "2 of 6 trainable parameters" in note.message, (said, ended)


STACK = """
import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(16, 1))
model[0].layers[0].requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters())
for step in range(20):
    x = torch.randn(8, 5, 16)
    optimizer.zero_grad()
    (model(x).mean((1, 2)) - x.mean((1, 2))).square().mean().backward()
    optimizer.step()
"""


def test_a_frozen_layer_of_a_stack_of_copies_is_no_target(host: Host, tmp_path: Path) -> None:
    (tmp_path / "stack.py").write_text(STACK)
    trace, ended = host.run(tmp_path / "stack.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    said = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    assert [one for one in said if "frozen-parameters" in one.suspects and one.is_alarm], (said, ended)
    assert not [one for one in said if "began as copies" in one.message]


def test_a_target_that_is_never_updated_is_a_note(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, "pass")
    assert (
        told.severity == "note"
        and "none of its own changed" in told.message
        and "began with the same values" in told.message
    )


FOLLOWS = "for mine, its in zip(self.target.parameters(), self.online.parameters()): mine.data.lerp_(its.data, 0.5)"


NO_GRADIENTS = ("copy.deepcopy(self.online)", "copy.deepcopy(self.online).requires_grad_(False)")
NEVER_CALLED = ("self.target(n)", "self.online(n)")


@pytest.mark.parametrize(
    "edits", [(), (NO_GRADIENTS,), (NO_GRADIENTS, NEVER_CALLED)], ids=["", "frozen", "never called"]
)
@pytest.mark.parametrize(
    "sync", one_in(3, ["pass", HEALTHY["values are copied"], FOLLOWS]), ids=["stays", "copied", "follows"]
)
def test_an_optimizer_over_the_target_holds_the_wrong_twin(
    host: Host, tmp_path: Path, sync: str, edits: tuple[tuple[str, str], ...]
) -> None:
    """A second optimizer, that is built before it, does its work well."""
    text = AGENT.replace("SYNC", sync).replace("Adam(self.online.", "Adam(self.target.")
    for old, new in edits:
        text = text.replace(old, new)
    text = text.replace(
        "agent = Agent()\n",
        "other, agent = Agent(), Agent()\nother.optimizer = torch.optim.Adam(other.online.parameters())\n",
    )
    text += "    other.learn(torch.randn(8, 4), torch.randn(8, 4))\n"
    (tmp_path / "agent.py").write_text(text)
    trace, ended = host.run(tmp_path / "agent.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    (alarm,) = [one for one in told if one.outcome == "fail" and "a fixed teacher" not in one.message]
    assert alarm.line and "Adam(self.target" in text.splitlines()[alarm.line - 1]
    assert alarm.severity == "error" and alarm.suspects == ("optimizer-misses-parameters",), (told, ended)
    assert "holds 4 parameters that never get a gradient" in alarm.message
    (link,) = alarm.chain
    assert "self.online(" in text.splitlines()[link.line - 1]
    assert not any("none that requires a gradient is missing" in one.message for one in told)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("torch.optim.swa_utils.AveragedModel(self.online)", "began with the same values"),
        (
            "torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))",
            "began with values of its own",
        ),
        (
            "torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))\n"
            "        self.target.load_state_dict({n: 2 * v for n, v in self.target.state_dict().items()})",
            "",
        ),
    ],
    ids=["wrapped", "a second network", "a loaded teacher"],
)
def test_a_network_like_the_trained_one_that_stays(host: Host, tmp_path: Path, target: str, words: str) -> None:
    text = AGENT.replace("copy.deepcopy(self.online)", target).replace("SYNC", "pass")
    (tmp_path / "agent.py").write_text(text)
    trace, ended = host.run(tmp_path / "agent.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    notes = [one for one in told if one.outcome == "fail"]
    assert told and all(one.severity == "note" for one in notes) and len(notes) == bool(words), (told, ended)
    assert not notes or words in notes[0].message, notes
