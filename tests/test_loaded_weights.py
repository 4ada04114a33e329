"""Weights that a program loads and that never reach the model are told; parts, copies and heads of one's own are not."""

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
from torch.nn import functional as F


def build(classes=2):
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, classes))


torch.manual_seed(0)
torch.save(build().state_dict(), FOLDER + "/plain.pt")
torch.save({"state_dict": {"module." + name: value for name, value in build().state_dict().items()}}, FOLDER + "/wrapped.pt")
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
LOAD
for step in range(20):
    inputs = torch.randn(8, 4)
    loss = F.cross_entropy(model(inputs), (inputs[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
END
"""
MERGED = """state = torch.load(FOLDER + "/wrapped.pt")["state_dict"]
own = model.state_dict()
own.update({name: value for name, value in state.items() if name in own})
model.load_state_dict(own)"""
FAULTS = {
    "read and left": ('state = torch.load(FOLDER + "/wrapped.pt")', "", "note", "has a value for each of the 6 parameters of Sequential"),
    "other names": ('model.load_state_dict(torch.load(FOLDER + "/wrapped.pt")["state_dict"], strict=False)', "", "error", "took none of the 6 values"),
    "the file itself": ('model.load_state_dict(torch.load(FOLDER + "/wrapped.pt"), strict=False)', "", "error", "took none of the 1 values"),
    "merged by name": (MERGED, "", "warning", "no name or matrix of a file that was read before is among them; a state dict refers to the weights"),
    "the best weights as a reference": ("best = model.state_dict()", "model.load_state_dict(best)", "note", "a state dict refers to the weights"),
    "averaged in place with a file": (
        'own = model.state_dict()\nstate = torch.load(FOLDER + "/plain.pt")\nfor name, value in state.items():\n    own[name].add_(value).div_(2)\nmodel.load_state_dict(own)',
        "", "note", "own memory; a state dict refers",
    ),
    "only the smallest part": (
        'state = torch.load(FOLDER + "/wrapped.pt")["state_dict"]\nstate["4.bias"] = state.pop("module.4.bias")\nmodel.load_state_dict(state, strict=False)',
        "", "warning", "did not take 5 of 6",
    ),
    "less than a half": (
        'state = torch.load(FOLDER + "/wrapped.pt")["state_dict"]\nstate["0.weight"] = state.pop("module.0.weight")\nmodel.load_state_dict(state, strict=False)',
        "", "note", "is it meant to load a part?",
    ),
}  # fmt: skip
HEALTHY = {
    "as it is": ('model.load_state_dict(torch.load(FOLDER + "/plain.pt"))', ""),
    "without the prefix": ('model.load_state_dict({name[7:]: value for name, value in torch.load(FOLDER + "/wrapped.pt")["state_dict"].items()})', ""),
    "merged by the right names": (MERGED.replace("name: value for name, value in state.items() if name in own", "name[7:]: value for name, value in state.items()"), ""),
    "a head of one's own": (
        'state = torch.load(FOLDER + "/plain.pt")\nmodel = build(3)\nmodel.load_state_dict({name: value for name, value in state.items() if name[0] != "4"}, strict=False)\n'
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        "",
    ),
    "copied in place": (
        'own = model.state_dict()\nfor name, value in torch.load(FOLDER + "/plain.pt").items():\n    own[name].copy_(value)\nstate = torch.load(FOLDER + "/plain.pt")\nmodel.load_state_dict(own)',
        "",
    ),
    "the best weights as a copy": ("best = copy.deepcopy(model.state_dict())", "model.load_state_dict(best)"),
    "compared with what has trained": (
        "model.load_state_dict(build().state_dict())\nfor _ in range(2):\n    F.cross_entropy(model(torch.randn(8, 4)), torch.zeros(8).long()).backward()\n"
        '    optimizer.step()\n    optimizer.zero_grad()\ntorch.save(build().state_dict(), FOLDER + "/own.pt")\nold = torch.load(FOLDER + "/own.pt")',
        "",
    ),
    "copied by hand at half precision": (
        'model.load_state_dict(build().state_dict())\ntorch.save({name: value.half() for name, value in build().state_dict().items()}, FOLDER + "/half.pt")\n'
        'with torch.no_grad():\n    for name, value in torch.load(FOLDER + "/half.pt").items():\n        dict(model.named_parameters())[name].copy_(value)',
        "",
    ),
    "of a larger model, for its width alone": ('wide = torch.load(FOLDER + "/plain.pt")["0.bias"]\nmodel.load_state_dict(build().state_dict())', ""),
    "another model's weights": ("other = build()\nother.load_state_dict(model.state_dict())", ""),
    "tried with other names first": (
        'state = torch.load(FOLDER + "/wrapped.pt")["state_dict"]\nmodel.load_state_dict(state, strict=False)\n'
        "model.load_state_dict({name[7:]: value for name, value in state.items()})",
        "",
    ),
}  # fmt: skip


def said(host: Host, folder: Path, load: str, end: str) -> list[Finding]:
    text = PROGRAM.replace("LOAD", load).replace("END", end).replace("FOLDER", repr(str(folder)))
    (folder / "loads.py").write_text(text)
    trace, ended = host.run(folder / "loads.py", folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    return list(probes.judge("observe", trace, frozenset({"loaded_weights"})))


@pytest.mark.parametrize(("load", "end", "severity", "words"), one_in(2, FAULTS.values()), ids=FAULTS)
def test_weights_that_do_not_reach_the_model(
    host: Host, tmp_path: Path, load: str, end: str, severity: str, words: str
) -> None:
    told = [one for one in said(host, tmp_path, load, end) if one.outcome == "fail"]
    assert [one.severity for one in told] == [severity] * bool(severity), told
    assert all(words in one.message and one.line for one in told), told


@pytest.mark.parametrize(("load", "end"), one_in(2, HEALTHY.values()), ids=HEALTHY)
def test_weights_that_do(host: Host, tmp_path: Path, load: str, end: str) -> None:
    told = said(host, tmp_path, load, end)
    assert [one.outcome for one in told] == ["pass"], told
