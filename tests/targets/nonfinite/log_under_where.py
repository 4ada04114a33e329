import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        h = x * self.scale
        logs = h.log()  # expect: div
        return torch.where(h > 0, logs, torch.zeros_like(h))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
for step in range(9):
    x = torch.rand(5, 4) + 0.1
    if step == 6:
        x[3, 1] = 0.0
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
