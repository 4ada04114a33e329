import torch
from torch import nn

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(4, 3), nn.Linear(4, 1)

    def evaluate(self, obs, action):
        return torch.distributions.Categorical(logits=self.actor(obs)).log_prob(action), self.critic(obs)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for iteration in range(6):
    obs = torch.randn(32, 4)
    with torch.no_grad():
        action = torch.randint(3, (32,))
        old, value = agent.evaluate(obs, action)
        if iteration == 4:
            old = old - 1000.0
    for part in torch.randperm(32).split(8):
        new, value = agent.evaluate(obs[part], action[part])
        ratio = (new - old[part]).exp()  # expect: exp
        loss = -(ratio * (ratio - ratio)).mean() + value.pow(2).mean()  # then: sub
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
