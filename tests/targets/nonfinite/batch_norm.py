import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(6, 4)
    if step == 7:
        x[5, 0] = float("inf")
    out = net(x)  # expect: input
    loss = nn.functional.cross_entropy(out, torch.randint(2, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
