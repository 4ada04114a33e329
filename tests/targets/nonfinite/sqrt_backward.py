import torch
from torch import nn


class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 3, bias=False)

    def forward(self, a, b):
        d = self.embed(a) - self.embed(b)
        squares = (d**2).sum(1)  # then: mul
        return squares.sqrt()  # expect: div


torch.manual_seed(0)
net = Distance()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(15):
    a, b = torch.randn(6, 4), torch.randn(6, 4)
    if step == 8:
        b[2] = a[2]
    loss = net(a, b).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
