import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=50.0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
for step in range(60):
    loss = ((net(x) - y) ** 2).mean()  # expect: pow
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
