import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(5, 4)

    def forward(self, x):
        e = self.head(x).exp()  # expect: exp
        return e / e.sum(dim=1, keepdim=True)  # then: div


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(15):
    x = torch.randn(8, 5) * (1000.0 if step == 9 else 1.0)
    p = net(x)
    loss = ((p - 0.25) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
