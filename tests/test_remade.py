"""An optimizer that is built anew for each step loses its moments; those of tasks, clients and examples are meant so."""

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
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
x, y = torch.randn(32, 8), torch.randn(32, 4)


def adam(thing=model, **settings):
    return torch.optim.Adam(thing.parameters(), lr=0.01, **settings)


def learn(optimizer, thing=model):
    optimizer.zero_grad()
    nn.functional.mse_loss(thing(x), y).backward()
    optimizer.step()


optimizer = adam()
other = adam()
start = copy.deepcopy(model.state_dict())
for turn in range(30):
    TURN
"""
SGD = "torch.optim.SGD(model.parameters(), lr=0.01{})"
FAULTS = {
    "Adam": ("learn(adam())", "Adam is built anew"),
    "momentum": (f"learn({SGD.format(', momentum=0.9')})", "SGD is built anew"),
    "with a rate of its own": ("learn(torch.optim.AdamW(model.parameters(), lr=0.01 * 0.9**turn))", "AdamW is built anew"),
    "from the second epoch on": ("optimizer = adam() if turn > 9 else optimizer\n    learn(optimizer)", "20 of them in a row"),
    "two parts by turns": ("learn(adam(model[0]))\n    learn(adam(model[2]))", "Adam is built anew"),
}  # fmt: skip


def said(host: Host, folder: Path, turn: str) -> list[Finding]:
    program = folder / "remade.py"
    program.write_text(PROGRAM.replace("TURN", turn))
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = [one for one in probes.judge("observe", trace, frozenset({"step_trace"})) if one.outcome == "fail"]
    return [one for one in told if "built anew" in one.message]


@pytest.mark.parametrize(("turn", "words"), one_in(3, FAULTS.values()), ids=FAULTS)
def test_an_optimizer_for_each_step_is_told(host: Host, tmp_path: Path, turn: str, words: str) -> None:
    told = said(host, tmp_path, turn)
    assert told and all(one.severity == "error" and one.line for one in told) and words in told[0].message, told


RESTORED = "model.load_state_dict(start)"
HEALTHY = {
    "one for all": "learn(optimizer)",
    "two that take turns": "learn(optimizer if turn % 2 else other)",
    "one for each task": "task = adam()\n    for _ in range(2):\n        learn(task)",
    "a model for each client": "client = copy.deepcopy(model)\n    learn(adam(client), client)",
    "the same start for each task": f"{RESTORED}\n    learn(adam())",
    "one inner step, then the outer one": (
        "kept = copy.deepcopy(model.state_dict())\n    learn(adam())\n    model.load_state_dict(kept)\n    learn(optimizer)"
    ),
    "nearer to where a client came": (
        "kept = copy.deepcopy(model.state_dict())\n    learn(adam())\n"
        "    model.load_state_dict({n: kept[n].lerp(v, 0.1) for n, v in model.state_dict().items()})"
    ),
    "its state is carried over": (
        "new = adam()\n    new.load_state_dict(optimizer.state_dict())\n    learn(new)\n    optimizer = new"
    ),
    "plain SGD, which keeps nothing": f"learn({SGD.format('')})",
    "a new part for each": "model.append(nn.Linear(4, 4))\n    learn(adam())",
    "inputs that are searched for": (
        "inner = nn.Linear(8, 4)\n    search = adam(inner)\n    learn(search, inner)\n    learn(optimizer)"
    ),
    "one for each layer": "layers = [optimizer, other]\n    for one in layers:\n        learn(one)",
    "a line search": (
        "search = torch.optim.LBFGS(model.parameters(), max_iter=4)\n\n    def closure():\n        search.zero_grad()\n"
        "        loss = nn.functional.mse_loss(model(x), y)\n        loss.backward()\n        return loss\n\n    search.step(closure)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("turn", one_in(3, HEALTHY.values()), ids=HEALTHY)
def test_what_begins_anew_on_purpose_is_not_told(host: Host, tmp_path: Path, turn: str) -> None:
    assert not said(host, tmp_path, turn)
