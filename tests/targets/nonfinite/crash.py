import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
for step in range(12):
    obs = torch.randn(6, 4)
    if step == 9:
        obs[1] = float("nan")
    logits = actor(obs)  # expect: input
    action = torch.distributions.Categorical(logits=logits).sample()
    loss = nn.functional.cross_entropy(logits, action)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
