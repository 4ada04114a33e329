import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(2, width), nn.Linear(width, width)])
        self.actor = nn.Linear(width, 3)
        self.critic = nn.Linear(width, 1)

    def forward(self, observation):
        x = observation
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.actor(x), self.critic(x).squeeze(-1)

    def act(self, observation):
        logits, value = self(observation)
        chosen = Categorical(logits=logits)
        action = chosen.sample()
        return action, chosen.log_prob(action), value

    def judge(self, observation, action):
        logits, value = self(observation)
        chosen = Categorical(logits=logits)
        return chosen.log_prob(action), chosen.entropy(), value
