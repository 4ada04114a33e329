"""Parameters that are changed by hand, without an optimizer: gradients that stay, rates that collapse, parameters that are left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.randn(256, 6)
y = x[:, :1] - x[:, 1:2] ** 2
rate = 0.1
for epoch in range(10):
    for at in range(0, 256, 32):
        loss = ((net(x[at : at + 32]) - y[at : at + 32]) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        with torch.no_grad():
            for p in net.parameters():
                p -= rate * p.grad
                p.grad.zero_()
    rate *= 0.9
print(float(loss))
"""
TENSORS = (
    ("net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))", "a = torch.randn(6, 16, requires_grad=True)\nb = torch.zeros(16, 1, requires_grad=True)\nnet = lambda x: (x @ a).tanh() @ b"),
    ("        nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n", ""),
    ("for p in net.parameters()", "for p in (a, b)"),
)  # fmt: skip
MOMENTUM = ("                p.grad.zero_()\n", "                p.grad *= 0.5\n")  # its buffer is the gradient itself
OF_A_PICTURE = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3))
picture = torch.rand(1, 3, 16, 16, requires_grad=True)
for step in range(30):
    (-net(picture)[:, 1].mean()).backward()
    picture.data -= 0.1 * picture.grad / picture.grad.norm()
    picture.grad.zero_()
"""
KEPT = ("                p.grad.zero_()\n", "")
IN_EACH_BATCH = (("                p -= rate * p.grad\n", "                p -= rate * p.grad\n        if epoch > 2:\n            rate /= 1.5\n"), ("                p.grad.zero_()\n", ""), ("        loss.backward()", "        net.zero_grad()\n        loss.backward()"))  # fmt: skip


@pytest.mark.parametrize(
    ("edits", "by", "words"),
    [
        ((), (), ""),
        (TENSORS, (), ""),
        ((("p.grad.zero_()", "p.grad = None"),), (), ""),
        ((("p -= rate * p.grad", "p.data.add_(p.grad, alpha=-rate)"),), (), ""),
        (
            (MOMENTUM, ("        nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n", ""), ("rate = 0.1", "rate = 0.01")),
            (),
            "",
        ),
        (((PROGRAM, OF_A_PICTURE),), (), ""),
        ((KEPT,), ("step_trace",), "never cleared"),
        ((*TENSORS, KEPT), ("step_trace",), "never cleared"),
        (IN_EACH_BATCH, ("learning_rate",), "by less than a thousandth"),
        ((("for p in net.parameters():", "for p in net[2].parameters():"), ("p.grad.zero_()", "pass"), ("        loss.backward()", "        net.zero_grad()\n        loss.backward()")), ("parameter_table",), "never move"),
        ((*TENSORS, ("for p in (a, b)", "for p in (b,)"), ("        loss.backward()", "        a.grad = None\n        loss.backward()")), ("parameter_table",), "never move"),
    ],
    ids=["healthy", "tensors", "none", "data", "momentum", "of a picture", "kept", "tensors kept", "rate falls in each batch", "one layer alone", "one tensor alone"],
)  # fmt: skip
def test_only_what_is_wrong(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], by: tuple[str, ...], words: str) -> None:  # fmt: skip
    program = with_edits(PROGRAM, edits)
    probes = ("step_trace", "learning_rate", "parameter_table")
    found = {name: failing(host, _folder(tmp_path, name), program, name, 200) for name in probes}
    assert [(one.by, one.severity) for name in probes for one in found[name]] == [(f"probe:{name}", "warning") for name in by], found  # fmt: skip
    assert all(words in one.message for name in by for one in found[name])


def _folder(within: Path, name: str) -> Path:
    (within / name).mkdir()
    return within / name
