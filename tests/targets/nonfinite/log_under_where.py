import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        h = self.lin(x).relu()
        logs = h.log()  # expect: div
        return torch.where(h > 0, logs, torch.zeros_like(h))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
for step in range(6):
    x = torch.randn(5, 4)
    if step < 4:
        x = x.abs()
        net.lin.weight.data.abs_(), net.lin.bias.data.abs_()
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
