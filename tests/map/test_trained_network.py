"""The network that is trained and its loss, beside networks that only help and arms that do not run."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component, map_repository

TUNED = """import argparse

import torch
import torch.nn.functional as F
from diffusers import UNet2DModel
from transformers import CLIPTextModel

parser = argparse.ArgumentParser()
parser.add_argument("--plain", action="store_true")
parser.add_argument("--base", default="some/base")
args = parser.parse_args()
args.method = "plain" if args.plain else "paired"

encoder = CLIPTextModel.from_pretrained(args.base)
net = UNet2DModel.from_pretrained(args.base)
old_net = UNet2DModel.from_pretrained(args.base)
opt = torch.optim.AdamW(net.parameters(), lr=1e-5)
for x, text, noise in torch.load("data.pt"):
    context = encoder(text)[0]
    guess = net(x, context).sample
    if args.method == "plain":
        loss = F.mse_loss(guess, noise)
    elif args.method == "paired":
        with torch.no_grad():
            old = old_net(x, context).sample
        won, lost = ((guess - noise).pow(2) - (old - noise).pow(2)).chunk(2)
        loss = -F.logsigmoid(lost - won).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
"""


@pytest.mark.parametrize(
    ("option", "runs", "idle"), [("", "logsigmoid", "mse_loss"), (" --plain", "mse_loss", "logsigmoid")]
)
def test_the_loss_is_that_of_the_arm_that_an_option_made_by_code_takes(
    option: str, runs: str, idle: str, tmp_path: Path
) -> None:
    root = write({"train.py": TUNED}, tmp_path)
    sheet = expand_component(root, "run", recipe=f"python train.py{option}", budget=3000).text
    loss = sheet.partition("# loss")[2].partition("\n# ")[0]
    assert runs in loss
    assert idle not in loss
    found = map_repository(root, recipe=f"python train.py{option}").components["loss"].places
    assert max(found, key=lambda one: one.score).text.partition("= ")[2].lstrip("-").startswith(f"F.{runs}")
