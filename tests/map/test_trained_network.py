"""The network that is trained and its loss, beside networks that only help, arms that do not run and gradients aside."""

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


def test_the_network_that_the_loss_is_made_with_comes_first(tmp_path: Path) -> None:
    root = write({"train.py": TUNED}, tmp_path)
    found = map_repository(root, recipe="python train.py").components
    networks = sorted(found["model"].places, key=lambda one: -one.score)
    assert networks[0].text.startswith("net = UNet2DModel")
    forwards = [one.text.partition(" ")[0] for one in found["training_loop"].places if one.role == "forward"]
    assert forwards == ["guess", "context", "old"]


CHECKED = {
    "train.py": "from lib import Trainer\n\ntrainer = Trainer()\nfor task in range(3):\n    trainer.check()\n    trainer.fit()\n",
    "lib.py": "import torch\n\n\nclass Trainer:\n    def __init__(self):\n        self.net = torch.nn.Linear(2, 1)\n\n"
    "    def check(self):\n        probe = self.net(torch.ones(1, 2)).sum()\n        probe.backward()\n"
    "        print(self.net.weight.grad)\n\n"
    "    def fit(self):\n        opt = torch.optim.SGD(self.net.parameters(), lr=0.1)\n        for step in range(10):\n"
    "            loss = self.net(torch.ones(1, 2)).sum()\n            {backward}\n"
    "            opt.step()\n            opt.zero_grad()\n{more}",
}
PART = "\n    def push(self, loss):\n        loss.backward()\n"


@pytest.mark.parametrize(("backward", "more"), [("loss.backward()", ""), ("self.push(loss)", PART)])
def test_a_gradient_that_only_checks_is_no_part_of_the_step(backward: str, more: str, tmp_path: Path) -> None:
    files = {name: text.replace("{backward}", backward).replace("{more}", more) for name, text in CHECKED.items()}
    places = map_repository(write(files, tmp_path)).components["training_loop"].places
    scores = {one.text: one.score for one in places if one.role == "backward"}
    assert scores["probe.backward()"] < 0.5 <= scores["loss.backward()"]
