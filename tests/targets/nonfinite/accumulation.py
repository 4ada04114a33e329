import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 1, bias=False)

    def forward(self, x):
        return self.lin(x).square().sum(1).sqrt()  # expect: div


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(10):
    for micro in range(4):
        x = torch.randn(3, 4)
        if step == 6 and micro == 1:
            x[1] = 0.0
        (net(x).mean() / 4).backward()
    optimizer.step()
    optimizer.zero_grad()
