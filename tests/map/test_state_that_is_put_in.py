"""What a run sheet says that a checkpoint holds, where keys are put into it one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component

TRAIN = """\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--half", action="store_true")
args = parser.parse_args()
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for epoch in range(3):
    for batch in torch.ones(8, 4, 2):
        opt.zero_grad()
        net(batch).mean().backward()
        opt.step()
    of_steps = {"optimizer": opt.state_dict()}
    state = {"model": net.state_dict(), "epoch": epoch}
    state.update(of_steps)
    state.update(seen=epoch)
    if args.half:
        state["scaler"] = scaler.state_dict()
    torch.save(state, "last.pt")
"""


@pytest.mark.parametrize(
    ("option", "held"), [("", "model, epoch, optimizer, seen"), (" --half", "model, epoch, optimizer, seen, scaler")]
)
def test_keys_of_an_update_are_held(tmp_path: Path, option: str, held: str) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    sheet = expand_component(tmp_path, "run", "train.py", f"python train.py{option}").text
    assert f"a checkpoint holds {held} train.py:22" in sheet, sheet


def test_the_expansion_of_checkpoints_tells_them_too(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    shown = expand_component(tmp_path, "checkpointing", "train.py").text
    assert "holds model, epoch, optimizer, seen, scaler (train.py:17)" in shown, shown
