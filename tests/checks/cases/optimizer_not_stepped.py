"""Programs for optimizer-not-stepped."""

from ._programs import mutant

_GAN = """
import torch
from torch import nn


def train(generator, discriminator, loader):
    optimizer_g = torch.optim.Adam(generator.parameters())
    optimizer_d = torch.optim.Adam(discriminator.parameters())
    for real in loader:
        fake = generator(torch.randn(len(real), 8))
        optimizer_d.zero_grad()
        (discriminator(fake.detach()).mean() - discriminator(real).mean()).backward()
        optimizer_d.step()
        optimizer_g.zero_grad()
        (-discriminator(fake).mean()).backward()
        optimizer_g.step()
"""
_AGENT = """
import torch
from torch import nn


class Agent:
    def __init__(self, actor, critic):
        self.actor, self.critic = actor, critic
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), 1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), 1e-3)

    def update(self, state, value):
        self.critic_optimizer.zero_grad()
        nn.functional.mse_loss(self.critic(state), value).backward()
        self.critic_optimizer.step()
        self.actor_optimizer.zero_grad()
        (-self.critic(self.actor(state)).mean()).backward()
        self.actor_optimizer.step()
"""
_HANDED = """
# file: engine.py
def one_round(body, head, x, body_optimizer, head_optimizer):
    body_optimizer.zero_grad()
    head_optimizer.zero_grad()
    head(body(x)).mean().backward()
    body_optimizer.step()
    head_optimizer.step()

# file: main.py
import torch

from engine import one_round


def main(body, head, loader):
    slow = torch.optim.SGD(body.parameters(), lr=1e-3)
    fast = torch.optim.SGD(head.parameters(), lr=1e-1)
    for x in loader:
        one_round(body, head, x, slow, fast)
"""
_ATTACK = """
import torch


def attack(model, x, y, criterion):
    x = torch.autograd.Variable(x, requires_grad=True)
    for _ in range(10):
        optimizer = torch.optim.SGD([x], lr=1e-3)
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        x = torch.autograd.Variable(x + 0.01 * x.grad.sign(), requires_grad=True)
    return x
"""
SILENT = {
    "of a copy that follows": """
import torch
from torch import nn

class Agent:
    def __init__(self, actor, actor_target):
        self.actor, self.actor_target = actor, actor_target
        self.optimizer = torch.optim.Adam(self.actor.parameters(), 1e-3)
        self.target_optimizer = torch.optim.Adam(self.actor_target.parameters(), 1e-3)

    def update(self, state, wished):
        self.optimizer.zero_grad()
        self.target_optimizer.zero_grad()
        nn.functional.mse_loss(self.actor(state), wished).backward()
        self.optimizer.step()
        for mine, its in zip(self.actor_target.parameters(), self.actor.parameters()):
            mine.data.lerp_(its.data, 0.01)
""",
    "two players": _GAN,
    "an agent": _AGENT,
    "handed to a function": _HANDED,
    "an optimizer that only clears an attacked image": _ATTACK,
    "by a scaler": mutant(
        _GAN,
        ("    for real in", "    scaler = torch.amp.GradScaler()\n    for real in"),
        ("        optimizer_g.step()\n", "        scaler.step(optimizer_g)\n        scaler.update()\n"),
    ),
    "in a list": mutant(
        _GAN,
        ("    for real in", "    both = [optimizer_g, optimizer_d]\n    for real in"),
        ("        optimizer_g.step()\n", "        both[0].step()\n"),
    ),
    "a closure": mutant(
        _GAN, ("        optimizer_g.step()\n", "        step = lambda: optimizer_g.step()\n        step()\n")
    ),
    "prepared by a library": mutant(
        _GAN,
        ("import torch\n", "import torch\nfrom accelerate import Accelerator\n"),
        (
            "    for real in",
            "    optimizer_g, optimizer_d = Accelerator().prepare(optimizer_g, optimizer_d)\n    for real in",
        ),
    ),
    "another optimizer trains the module": mutant(
        _GAN,
        ("    for real in", "    every = torch.optim.SGD(generator.parameters(), lr=0.1)\n    for real in"),
        ("        optimizer_g.step()\n", "        every.step()\n"),
    ),
    "of a rate of 0, to clear gradients with": mutant(
        _GAN,
        ("        optimizer_g.step()\n", ""),
        ("torch.optim.Adam(generator.parameters()", "torch.optim.Adam(generator.parameters(), lr=0"),
    ),
    "made to load its state, in a script that trains nothing": """
import torch

def resume(model, path):
    optimizer = torch.optim.Adam(model.parameters())
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    optimizer.zero_grad()
    return model
""",
}
FAILS = {
    "two players": mutant(_GAN, ("        optimizer_g.step()\n", "")),
    "an agent that steps the other twice": mutant(
        _AGENT, ("        self.actor_optimizer.step()\n", "        self.critic_optimizer.step()\n")
    ),
    "the function that is handed it ignores it": mutant(_HANDED, ("    head_optimizer.step()\n", "")),
    "with a schedule": mutant(
        _GAN,
        ("    for real in", "    schedule = torch.optim.lr_scheduler.StepLR(optimizer_g, 10)\n    for real in"),
        ("        optimizer_g.step()\n", "        schedule.step()\n"),
    ),
    "saved beside the model": mutant(
        _GAN, ("        optimizer_g.step()\n", "    torch.save(optimizer_g.state_dict(), 'g.pt')\n")
    ),
}
