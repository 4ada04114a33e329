import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return x + self.lin(x).square().sum(1, keepdim=True).sqrt()  # expect: div


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return x


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(5, 4)
    if step == 5:
        x[2] = 0.0
    loss = net(x.requires_grad_()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
