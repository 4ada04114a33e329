"""An option that is spelled in another case than the member of an enumeration that code compares it with."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component

TRAIN = """
import argparse
import enum
import torch


class Layout(enum.Enum):
    FLAT = "FLAT"
    DEEP = "DEEP"


parser = argparse.ArgumentParser()
parser.add_argument("--layout", type=lambda text: Layout[text.upper()], default="flat")
args = parser.parse_args()
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def folder(layout):
    if layout == Layout.DEEP:
        return "deep/run"
    elif layout == Layout.FLAT:
        return "flat"


torch.save(net.state_dict(), folder(args.layout))
"""


def test_only_the_arm_of_another_member_is_off(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN + STEP)
    lines = expand_component(tmp_path, "open folder", recipe="python train.py", budget=400).text.splitlines()
    assert any('return "deep/run"' in line and "# off" in line for line in lines)
    assert any('return "flat"' in line and "# off" not in line for line in lines)
