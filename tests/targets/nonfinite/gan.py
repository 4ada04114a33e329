import torch
from torch import nn

torch.manual_seed(0)
generator, critic = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(20):
    real = torch.randn(6, 4)
    if step == 13:
        critic[2].bias.data.fill_(200.0)
    fake = generator(torch.randn(6, 3))
    d_loss = -(critic(real).log() + (1 - critic(fake.detach())).log()).mean()  # expect: log
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()
    g_loss = -critic(fake).log().mean()
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
