"""Programs for copy-that-is-none."""

from ._programs import mutant

_DQN = """
import torch
from torch import nn

q, target = nn.Linear(4, 2), nn.Linear(4, 2)
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters())
for step in range(1000):
    s, n = torch.randn(8, 4), torch.randn(8, 4)
    with torch.no_grad():
        wished = 1 + 0.9 * target(n).max(1).values
    loss = (q(s).max(1).values - wished).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        target.load_state_dict(q.state_dict())
"""
_AGENT = """
import copy
import torch

class Agent:
    def __init__(self, actor, tau):
        self.actor, self.tau = actor, tau
        self.actor_target = copy.deepcopy(self.actor)

    @torch.no_grad()
    def soft_update(self):
        for param, target_param in zip(self.actor.parameters(), self.actor_target.parameters()):
            target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
"""
_MOMENTUM = """
import copy
import torch
from torch import nn

class MoCo(nn.Module):
    def __init__(self, base, m=0.999):
        super().__init__()
        self.m = m
        self.encoder_q = base()
        self.encoder_k = copy.deepcopy(self.encoder_q)

    @torch.no_grad()
    def momentum_update(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1 - self.m)
"""
_LOCAL = """
import copy

def distill(student, fit, rounds):
    teacher = copy.deepcopy(student)
    for _ in range(rounds):
        fit(student, teacher)
        teacher.load_state_dict(student.state_dict())
    return student
"""
_HARD = """
import copy

class Learner:
    def __init__(self, net):
        self.net = net
        self.old_net = copy.deepcopy(self.net)

    def sync(self):
        self.old_net.load_state_dict(self.net.state_dict())
"""
SILENT = {
    "dqn": _DQN,
    "agent": _AGENT,
    "momentum": _MOMENTUM,
    "local": _LOCAL,
    "hard": _HARD,
    "made by the caller": """
class Average:
    def __init__(self, model):
        self.shadow = model

    def update(self, model):
        for mine, theirs in zip(self.shadow.parameters(), model.parameters()):
            mine.data.lerp_(theirs.data, 0.01)
""",
    "one of two arms": """
import copy

def start(net, other, fit):
    target = copy.deepcopy(net)
    if other is None:
        target = net
    fit(net, target)
    target.load_state_dict(net.state_dict())
""",
    "a name for a part": """
def resume(wrapped, fit):
    net = wrapped.module
    fit(wrapped)
    fit.best.load_state_dict(net.state_dict())
""",
}
FAILS = {
    "dqn": mutant(_DQN, ("\ntarget.load_state_dict(q.state_dict())\n", "\ntarget = q\n")),
    "agent": mutant(_AGENT, ("copy.deepcopy(self.actor)", "self.actor")),
    "momentum": mutant(_MOMENTUM, ("copy.deepcopy(self.encoder_q)", "self.encoder_q")),
    "local": mutant(_LOCAL, ("copy.deepcopy(student)", "student")),
    "hard": mutant(_HARD, ("copy.deepcopy(self.net)", "self.net")),
}
