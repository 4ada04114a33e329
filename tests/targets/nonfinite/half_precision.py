import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        h = self.a(x)
        h = h * h  # expect: mul
        return self.b(h)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
for step in range(8):
    x = torch.randn(4, 16) * (1 if step < 4 else 600)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = net(x).float().abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
