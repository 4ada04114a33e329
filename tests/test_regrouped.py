"""Views in the place of a permutation are told at their line; views that keep each row together are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing
from twins import one_in

pytest.importorskip("torch")

from trainsleuth.finding import Finding

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Conv2d(8, 5, 1)
        self.memory = nn.LSTM(8, 6, batch_first=True)
        self.last = nn.Linear(6, 5)

    def forward(self, x):
        return FORWARD


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    x, y = torch.randn(4, 3, 12, 8), torch.randint(5, (4, 6, 4))
    loss = nn.functional.cross_entropy(net(x).reshape(-1, 5), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PLACES = "self.body(x).permute(0, 2, 3, 1).flatten(1, 2)"
FAULTS = {
    "the scores of a convolution": ("self.head(self.body(x)).view(-1, 5)", "not the 5 channels of one place"),
    "scores with the examples apart": ("self.head(self.body(x)).view(4, -1, 5)", "moved to the last axis first"),
    "channels behind a norm and a pool": (
        "self.last(self.memory(self.body(x).view(4, 24, 8))[0])", "into [4, 24, 8]"
    ),
    "rows that become channels": (
        f"self.head(self.body(x) + {PLACES}.reshape(-1, 8).view(4, 8, 6, 4)).permute(0, 2, 3, 1)",
        "the 8 numbers of one row",
    ),
    "time and examples": (f"self.last(self.memory({PLACES})[0].reshape(24, 4, 6))", "expected transpose(0, 1)"),
}  # fmt: skip
HEALTHY = {
    "channels moved": "self.head(self.body(x)).permute(0, 2, 3, 1).reshape(-1, 5)",
    "channels flattened and moved": "self.head(self.body(x)).flatten(2).transpose(1, 2).reshape(-1, 5)",
    "time and examples moved": f"self.last(self.memory({PLACES})[0].transpose(0, 1)).transpose(0, 1)",
    "the places in one axis": "self.head(self.body(x)).view(4, 5, 24).permute(0, 2, 1)",
    "groups of channels": "self.head(self.body(x).view(4, 2, 4, 6, 4).flatten(1, 2)).permute(0, 2, 3, 1)",
    "as many places as channels": "self.head(self.body(x)[..., :2, :4].reshape(4, 8, 8).view(4, 8, 2, 4).repeat(1, 1, 3, 1)).permute(0, 2, 3, 1)",
    "rows that are moved": f"self.head({PLACES}.reshape(4, 6, 4, 8).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)",
    "heads put together over a map": f"self.head({PLACES}.reshape(4, 24, 2, 4).view(4, 4, 6, 8).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)",
    "a map of a layer's numbers": "self.head(self.memory(self.body(x).flatten(1)[:, :8])[0].repeat(1, 32).view(4, 8, 6, 4)).permute(0, 2, 3, 1)",
    "scores of relative positions": "self.head(self.body(x)).flatten(2).transpose(1, 2) + 0 * self.head(self.body(x)).flatten(1)[:, :20].view(4, 5, 4).view(4, 4, 5).sum()",
    "one place": "self.head(self.body(x).mean((2, 3), keepdim=True)).view(-1, 5).repeat(24, 1)",
    "a row for each place": f"self.last(self.memory({PLACES})[0].reshape(96, 6))",
}


def said(host: Host, folder: Path, forward: str) -> list[Finding]:
    return failing(host, folder, PROGRAM.replace("FORWARD", forward), "shapes", 10)


@pytest.mark.parametrize("name", one_in(3, FAULTS))
def test_a_view_for_a_permutation_is_told_at_its_line(host: Host, tmp_path: Path, name: str) -> None:
    forward, words = FAULTS[name]
    (told,) = said(host, tmp_path, forward)
    assert told.severity == "warning" and words in told.message, told
    line = PROGRAM.replace("FORWARD", forward).splitlines()[(told.line or 0) - 1]
    assert forward in line


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x.reshape(4, 8, 36)", ["a view of [4, 36, 8] as [4, 8, 36]"]),
        ("x.transpose(1, 2)", []),
        ("x.transpose(1, 2).contiguous()", []),
        ("x.reshape(4, 36, 8).transpose(1, 2)", []),
    ],
)
def test_data_whose_axes_a_view_exchanges(host: Host, tmp_path: Path, given: str, words: list[str]) -> None:
    text = PROGRAM.replace("FORWARD", "self.head(self.body(x.view(4, 3, 12, 8))).permute(0, 2, 3, 1)")
    text = text.replace("torch.randn(4, 3, 12, 8)", "torch.randn(4, 36, 8)").replace("net(x)", f"net({given})")
    text = text.replace("x.view(4, 3, 12, 8)", "x.reshape(4, 3, 12, 8)")
    told = failing(host, tmp_path, text, "shapes", 10)
    assert len(told) == len(words) and all(word in one.message for one, word in zip(told, words, strict=True)), told


def test_a_compiled_model_stays_whole(host: Host, tmp_path: Path) -> None:
    text = PROGRAM.replace("FORWARD", "self.head(self.body(x)).flatten(2).transpose(1, 2).reshape(-1, 5)")
    text = text.replace("net = Net()", "net = torch.compile(Net(), backend='eager', fullgraph=True)")
    assert failing(host, tmp_path, text, "shapes", 10) == []


@pytest.mark.parametrize("name", one_in(3, HEALTHY))
def test_a_view_that_keeps_rows_together_is_not_told(host: Host, tmp_path: Path, name: str) -> None:
    assert said(host, tmp_path, HEALTHY[name]) == []
