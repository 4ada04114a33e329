"""A codebook whose values are read without a call, and that nothing moves, is a note; codebooks that learn are not told."""

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


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Embedding(16, 8)
        self.unused = nn.Linear(8, 8)

    def forward(self, z):
        distances = (self.codes.weight**2).sum(1) - 2 * z @ self.codes.weight.t()
        nearest = nn.functional.one_hot(distances.argmin(1), 16).float()
        q = nearest @ CODES
        loss = LOSS
        return loss, z + (q - z).detach()

    @torch.no_grad()
    def average(self, z):
        distances = (self.codes.weight**2).sum(1) - 2 * z @ self.codes.weight.t()
        self.codes.weight.data[distances.argmin(1)] += 0.01 * (z - self.codes.weight[distances.argmin(1)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.quantizer, self.decoder = nn.Linear(4, 8), Quantizer(), nn.Linear(8, 4)

    def forward(self, x):
        loss, z = self.quantizer(self.encoder(x))
        return loss + (self.decoder(z) - x).square().mean()


net = Net()
net.quantizer.requires_grad_(LEARNS)
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad])
for step in range(30):
    x = torch.randn(32, 4)
    loss = net(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    AFTER
"""
BOTH = "(q.detach() - z).square().mean() + 0.25 * (q.detach() - z).square().mean()"
RIGHT = "(q - z.detach()).square().mean() + 0.25 * (q.detach() - z).square().mean()"
READ, CUT = "self.codes.weight", "self.codes.weight.detach()"


def said(host: Host, folder: Path, codes: str, loss: str, learns: str, after: str) -> list[Finding]:
    parts = {"CODES": codes, "LOSS": loss, "LEARNS": learns, "AFTER": after}
    text = PROGRAM
    for name, part in parts.items():
        text = text.replace(name, part)
    (folder / "coded.py").write_text(text)
    trace, ended = host.run(folder / "coded.py", folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = list(probes.judge("observe", trace, frozenset({"parameter_table"})))
    return [one for one in told if one.outcome == "fail"]


def test_both_terms_that_detach_the_codes_are_a_note(host: Host, tmp_path: Path) -> None:
    (told,) = said(host, tmp_path, READ, BOTH, "True", "pass")
    assert told.severity == "note" and "(quantizer.codes.weight) are read" in told.message and told.line == 18, told


HEALTHY = {
    "the codes get a gradient": (READ, RIGHT, "True", "pass"),
    "an average of what is near them": (READ, BOTH, "True", "net.quantizer.average(net.encoder(x))"),
    "codes that are fixed": (READ, BOTH, "False", "pass"),
    "codes that are taken as they are": (CUT, BOTH, "True", "pass"),
    "called, and learning": ("self.codes.weight + 0 * self.codes(nearest.argmax(1)).sum()", RIGHT, "True", "pass"),
    "a layer that nothing reads": (READ, RIGHT + " + 0", "True", "pass"),
}  # fmt: skip


@pytest.mark.parametrize(("codes", "loss", "learns", "after"), one_in(4, HEALTHY.values()), ids=HEALTHY)
def test_codes_that_move_or_are_to_stay_are_not_told(
    host: Host, tmp_path: Path, codes: str, loss: str, learns: str, after: str
) -> None:
    assert not said(host, tmp_path, codes, loss, learns, after)
