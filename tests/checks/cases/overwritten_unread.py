"""Programs for overwritten-unread."""

from ._programs import mutant

_TD3 = """
import torch

def train(self, replay, gamma):
    for _ in range(10):
        state, action, reward, after, done = replay.sample()
        with torch.no_grad():
            target_Q1, target_Q2 = self.critics(after, self.actor_target(after))
            target_Q = torch.min(target_Q1, target_Q2)
            target_Q = reward + (1 - done) * gamma * target_Q
        loss = (self.critic(state, action) - target_Q).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
_LAYERS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.hidden = nn.ModuleList(layers)

    def forward(self, u):
        for layer in self.hidden:
            y = layer(u)
            y = torch.tanh(y)
            u = u + y
        return u
"""
SILENT = {
    "td3": _TD3,
    "layers": _LAYERS,
    "read by a function within": """
import torch

def forward(net, x):
    y = net(x)
    def show():
        return y.mean()
    z = show()
    y = torch.tanh(z)
    return y
""",
    "in one arm": """
import torch

def loss_of(net, x, y, smooth):
    loss = net(x).sub(y).pow(2).mean()
    if smooth:
        loss = net(x).sub(y).abs().mean()
    return loss
""",
    "printed in between": """
import torch

def train(net, x, y, optimizer):
    loss = net(x).sub(y).pow(2).mean()
    print(f"{loss}")
    loss = net(x).sub(y).abs().mean()
    loss.backward()
    optimizer.step()
""",
    "a beginning": """
import torch

def train(net, x, y, optimizer):
    loss = torch.zeros(1)
    loss = net(x).sub(y).abs().mean()
    loss.backward()
    optimizer.step()
""",
    "the same twice": """
import torch

def forward(net, x):
    y = net(x)
    y = net(x)
    return y
""",
}
FAILS = {
    "targets": mutant(_TD3, ("gamma * target_Q\n", "gamma\n")),
    "a layer": mutant(_LAYERS, ("torch.tanh(y)", "torch.tanh(u)")),
}
