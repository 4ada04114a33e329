import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1, eps=0.0)
for step in range(12):
    x = torch.randn(5, 4)
    x[:, 2] = 0.0
    out = net(x)  # expect: parameter
    loss = out.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
