"""A network that is only kept in evaluation mode is not evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import map_repository

TRAIN = """
import copy

import torch
from torch import nn

from noise import Noise


def main():
    model = nn.Linear(4, 4)
    ema = copy.deepcopy(model)
    noise = Noise()
    optimizer = torch.optim.Adam(model.parameters())
    model.train()
    ema.eval()
    for x in torch.load("batches.pt"):
        loss = noise.losses(model, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    LAST


if __name__ == "__main__":
    main()
"""
NOISE = """
import torch


class Noise:
    def losses(self, model, x):
        return (self.wrapped(model)(x) - x).square().mean()

    def wrapped(self, model):
        return model

    def sample(self, model, shape):
        with torch.no_grad():
            return self.sample_loop(self.wrapped(model), shape)

    def sample_loop(self, model, shape):
        x = torch.randn(shape)
        for _ in range(10):
            x = self.wrapped(model)(x)
        return x
"""


@pytest.mark.parametrize(("last", "is_found"), [("print('done')", False), ("print(model(torch.ones(4)))", True)])
def test_what_is_asked_of_it_tells(tmp_path: Path, last: str, is_found: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("LAST", last))
    (tmp_path / "noise.py").write_text(NOISE)
    found = map_repository(tmp_path, None, "python train.py").components["evaluation"]
    assert (found.status == "found") is is_found, found


COLLECTS = """
import torch
from torch import nn, distributions


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.parameters())

    @torch.no_grad()
    def sample(self, latent):
        self.eval()
        return distributions.Categorical(logits=self.actor(latent)).sample()

    def update(self, latent):
        self.train()
        loss = self.actor(latent).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


@torch.no_grad()
def imagine(agent, latent):
    agent.eval()
    return [agent.sample(latent) for _ in range(9)]


def train_jointly(env, agent):
    obs = env.reset()
    for step in range(9):
        agent.eval()
        with torch.no_grad():
            action = agent.sample(obs)
        obs, reward, done, info = env.step(action)
        agent.update(imagine(agent, obs))


if __name__ == "__main__":
    train_jointly(None, Agent())
"""
TESTS = """

def measure(env, agent):
    agent.eval()
    with torch.no_grad():
        return [env.step(agent.sample(obs))[1] for obs in env]


if __name__ == "__main__":
    print(measure(None, Agent()))
"""


@pytest.mark.parametrize(("more", "status"), [("", "absent"), (TESTS, "found")])
def test_what_an_agent_collects_in_evaluation_mode_is_no_evaluation(more: str, status: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COLLECTS + more)
    assert map_repository(tmp_path).components["evaluation"].status == status


RENDERS = """import argparse

import torch

from formulas import eval_sh, psnr


def report(net, step, at, views):
    if step in at:
        for view in views:
            print(psnr(net(view), view))


@torch.no_grad()
def draw(net, views):
    for view in views:
        print(net(view).shape)


def densify(net, views):
    for view in views:
        net.weight.add_(view.sum())


def fit(args, test_iterations):
    net = torch.nn.Linear(2, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    views = torch.ones(9, 1, 2)
    for step in range(100):
        loss = eval_sh(3, net(views[step % 9])).sum()
        opt.zero_grad()
        loss.backward()
        with torch.no_grad():
            LOOKS
        opt.step()
        if step % args.every == 0:
            DRAWS


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=7)
    parser.add_argument("--test_iterations", type=int, nargs="+", default=[7, 30])
    args = parser.parse_args()
    fit(args, args.test_iterations)
"""
FORMULAS = (
    "def eval_sh(degree, x):\n    return degree * x\n\n\ndef psnr(x, y):\n    return -(x - y).square().mean().log10()\n"
)


@pytest.mark.parametrize(
    ("looks", "draws", "evaluates"),
    [
        ("report(net, step, test_iterations, views)", "pass", {"report"}),
        ("pass", "draw(net, views)", {"draw"}),
        ("densify(net, views)", "pass", set()),
    ],
)
def test_what_the_loop_calls_to_look_at_its_results_is_evaluation(
    looks: str, draws: str, evaluates: set[str], tmp_path: Path
) -> None:
    text = RENDERS.replace("LOOKS", looks).replace("DRAWS", draws)
    root = write({"train.py": text, "formulas.py": FORMULAS}, tmp_path)
    places = map_repository(root, "train.py").components["evaluation"].places
    said = [one.text for one in places if one.role in ("evaluation call", "definition")]
    names = {name for name in ("report", "draw", "densify", "fit", "eval_sh") if any(f"{name}(" in one for one in said)}
    assert names == evaluates, said
