"""A series that is trained on in its order: its beginning lies elsewhere than what is evaluated, and that accuses nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
series = torch.linspace(-1.5, 1.5, 1000) + 0.1 * torch.randn(1000)
windows = series.unfold(0, 13, 1)
train, val = (TensorDataset(part[:, :12], part[:, 12:]) for part in (windows[:800], windows[800:]))
loader, evaluation = DataLoader(train, 20, shuffle=SHUFFLE), DataLoader(val, 20)
net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(2):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(sum(nn.functional.mse_loss(net(SCALE * x), y).item() for x, y in evaluation))
"""


@pytest.mark.parametrize(
    ("shuffle", "scale", "severity"), [("False", "1", ["note"]), ("True", "1", []), ("True", "200", ["warning"])]
)
def test_only_data_in_another_order_are_held_against_evaluation(
    host: Host, tmp_path: Path, shuffle: str, scale: str, severity: list[str]
) -> None:
    program = tmp_path / "series.py"
    program.write_text(PROGRAM.replace("SHUFFLE", shuffle).replace("SCALE", scale))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"batch_as_seen"})))
    assert [one.severity for one in told if "what is evaluated" in one.message] == severity, (told, ended)
