"""Under which name an option sets its value: that of its dest, whatever the command or a document call it."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--bs", dest="batch_size", type=int, default=1)
parser.add_argument("--nw", dest="num_workers", type=int, default=0)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
loader = torch.utils.data.DataLoader(range(9), batch_size=args.batch_size, num_workers=args.num_workers)
net = torch.nn.Linear(2, 4)
opt = torch.optim.SGD(net.parameters(), lr=args.lr)
"""


def _sheet(root: Path, command: str, train: str = TRAIN, readme: str = "") -> str:
    (root / "train.py").write_text(train + STEP)
    (root / "README.md").write_text(readme)
    return expand_component(root, "run", recipe=command, budget=3000).text


def test_an_option_that_a_document_writes_too_sets_what_its_dest_says(tmp_path: Path) -> None:
    readme = "```\npython train.py --bs $SIZE --nw $WORKERS \\\n  --lr $LR\n```\n"
    sheet = _sheet(tmp_path, "python train.py --bs 4 --nw 2 --lr 0.3", readme=readme)
    assert "batch_size=4, num_workers=2 the command" in sheet
    assert " bs=" not in sheet and " nw=" not in sheet
