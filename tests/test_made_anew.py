"""Layers that forward() makes anew: those with weights never learn, norms only lose scales and shifts that could."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(LAYER(self.body(x)).relu())


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("layer", "severity", "words"),
    [
        ("nn.Linear(16, 16)", "error", "never trained, saved or moved"),
        ("nn.LayerNorm(16)", "note", "scales and shifts that never learn"),
        ("nn.Parameter(torch.zeros(16)).add", "error", "never trained, saved or moved"),
    ],
)
def test_layers_made_in_forward(host: Host, tmp_path: Path, layer: str, severity: str, words: str) -> None:
    (told,) = failing(host, tmp_path, PROGRAM.replace("LAYER", layer), "parameter_table", 12)
    assert told.severity == severity and words in told.message, told
