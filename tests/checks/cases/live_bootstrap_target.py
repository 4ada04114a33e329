"""Programs for live-bootstrap-target: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "method of a class": (
            """
import torch.nn.functional as F

class Agent:
    def learn(self, batch):
        s, a, r, s2, done = batch
        current = self.model(s).gather(1, a)
        ahead = self.model(s2).detach().max(1)[0]
        wanted = r + self.gamma * ahead * (1 - done)
        loss = F.smooth_l1_loss(current, wanted.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
            "self.model(s2).detach()",
            "self.model(s2)",
        ),
        "critic in a function": (
            """
import torch

def critic_step(critic, opt, s, r, s2, done, gamma):
    with torch.no_grad():
        goal = r + gamma * (1 - done) * critic(s2)
    loss = (goal - critic(s)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            "    with torch.no_grad():\n        goal",
            "    goal",
        ),
        "helper in another file": (
            """
# file: targets.py
def td_target(reward, done, ahead, gamma):
    return reward + gamma * (1.0 - done) * ahead
# file: train.py
import torch.nn as nn
from targets import td_target

mse = nn.MSELoss()

def train(buffer, value_net, opt):
    for s, r, s2, done in buffer:
        value = value_net(s)
        loss = mse(value, td_target(r, done, value_net(s2), 0.9).detach())
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
            ", 0.9).detach()",
            ", 0.9)",
        ),
        "closure": (
            """
import torch.nn.functional as F

def make_update(q, opt, gamma=0.99):
    def update(s, a, rewards, s2, d):
        chosen = q(s)[range(len(a)), a]
        best, _ = q(s2).max(dim=1)
        target = (rewards + gamma * best * (1 - d)).detach()
        loss = F.mse_loss(chosen, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return update
""",
            ".detach()",
            ".float()",
        ),
        "lightning": (
            """
import lightning as L
import torch
from torch import nn

class Lit(L.LightningModule):
    def training_step(self, batch, i):
        states, actions, rewards, dones, next_states = batch
        now = self.net(states).gather(1, actions.unsqueeze(-1)).squeeze(-1)
        with torch.no_grad():
            ahead = self.net(next_states).max(1)[0]
        wanted = rewards + self.hparams.gamma * ahead * (1 - dones)
        return nn.MSELoss()(now, wanted)
""",
            "        with torch.no_grad():\n            ahead",
            "        ahead",
        ),
    }
)
SILENT = ORIGINALS | {
    "target network": """
def step(q, q_target, s, a, r, s2, done, gamma):
    y = r + gamma * q_target(s2).max(1)[0] * (1 - done)
    ((q(s).gather(1, a).squeeze() - y) ** 2).mean().backward()
""",
    "detached at the end": """
def step(v, s, r, s2, done, gamma):
    y = r + gamma * v(s2) * (1 - done)
    ((v(s) - y.detach()) ** 2).mean().backward()
""",
    "data": """
def step(v, s, r, s2, done, gamma):
    y = r + gamma * v(s2).data * (1 - done)
    ((v(s) - y) ** 2).mean().backward()
""",
    "decorated": """
import torch

class Agent:
    @torch.no_grad()
    def target(self, r, s2, done, gamma):
        return r + gamma * self.v(s2) * (1 - done)

    def step(self, s, r, s2, done):
        ((self.v(s) - self.target(r, s2, done, 0.9)) ** 2).mean().backward()
""",
    "value from the buffer": """
def step(v, s, r, next_values, done, gamma):
    y = r + gamma * next_values * (1 - done)
    ((v(s) - y) ** 2).mean().backward()
""",
    "return of an episode": """
def step(v, states, rewards, gamma):
    total, loss = 0, 0
    for s, r in zip(states[::-1], rewards[::-1]):
        total = r + gamma * total
        loss = loss + (v(s) - total) ** 2
    loss.backward()
""",
    "not trained": """
def error(v, s, r, s2, done, gamma):
    return (r + gamma * v(s2) * (1 - done) - v(s)).abs().item()
""",
}
