"""A value that code puts together is shown with the texts of its f-string, not only with what is filled in."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
parser.add_argument("--places", type=int, nargs="+", default=[2])
args = parser.parse_args()
args.device = torch.device(f"cuda:{args.places[0]}")
net = torch.nn.Linear(2, 1).to(args.device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(8, 4, 2):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
print(f"{net}: {optimizer}")
"""


def test_a_value_is_shown_with_the_text_around_what_is_filled_in(tmp_path: Path) -> None:
    write({"train.py": TRAIN}, tmp_path)
    text = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert "may become torch.device(f'cuda:{args.places[0]}') train.py:9" in text, text
