import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))
net[0].eval()
optimizer = torch.optim.SGD(net[1].parameters(), lr=0.01)
for step in range(12):
    if step == 7:
        net[0].running_var[2] = float("nan")
    out = net(torch.randn(6, 4))  # expect: buffer
    loss = nn.functional.cross_entropy(out, torch.randint(2, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
