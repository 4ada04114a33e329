import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(60):
    if step == 50:
        net[2].weight.data[1, 2] = float("nan")
    out = net(torch.randn(8, 6))  # expect: parameter
    loss = nn.functional.cross_entropy(out, torch.randint(3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
