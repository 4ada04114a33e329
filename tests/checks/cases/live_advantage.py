"""Programs for live-advantage."""

from ._programs import mutant

_SEPARATE = """
import torch
from torch import nn
from torch.distributions import Categorical

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))

    def forward(self, x):
        return Categorical(logits=self.net(x))

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)

def main(rollouts):
    actor, critic = Actor(), Critic()
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for states, actions, returns in rollouts:
        values = critic(states)
        advantage = returns - values
        critic_loss = advantage.pow(2).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward(retain_graph=True)
        critic_optimizer.step()
        log_prob = actor(states).log_prob(actions)
        actor_loss = -(log_prob * advantage.detach()).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
"""
_SHARED = """
import torch
from torch import nn

class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 64)
        self.policy = nn.Linear(64, 2)
        self.value = nn.Linear(64, 1)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return torch.distributions.Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)

class Agent:
    def __init__(self):
        self.model = ActorCritic()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-4)

    def learn(self, states, actions, returns):
        dist, values = self.model(states)
        advantages = (returns - values).detach()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy_loss = -(dist.log_prob(actions) * advantages).mean()
        value_loss = nn.functional.mse_loss(values, returns)
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
SILENT = {
    "detached": _SEPARATE,
    "detached where it is made": _SHARED,
    "values without gradients": mutant(
        _SEPARATE,
        ("        values = critic(states)\n", "        with torch.no_grad():\n            values = critic(states)\n"),
        ("advantage.detach()", "advantage"),
    ),
    "returns alone": mutant(_SEPARATE, ("advantage.detach()", "returns")),
    "given from elsewhere": mutant(
        _SHARED,
        ("actions, returns):", "actions, returns, advantages):"),
        ("        advantages = (returns - values).detach()\n", ""),
    ),
}
FAILS = {
    "separate networks": mutant(_SEPARATE, ("advantage.detach()", "advantage")),
    "one network": mutant(_SHARED, ("(returns - values).detach()", "returns - values")),
    "written out": mutant(_SEPARATE, ("advantage.detach()", "(returns - values)")),
    "negated": mutant(_SEPARATE, ("-(log_prob * advantage.detach()).mean()", "(-log_prob * advantage).mean()")),
    "normalised, made here": mutant(
        _SEPARATE,
        ("advantage.detach()", "advantage"),
        (
            "        critic_loss =",
            "        advantage = (advantage - advantage.mean()) / advantage.std()\n        critic_loss =",
        ),
    ),
}
