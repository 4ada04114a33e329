"""A network that is only kept in evaluation mode is not evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
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
