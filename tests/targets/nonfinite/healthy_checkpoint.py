import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.01)
for step in range(10):
    x = torch.randn(5, 4, requires_grad=True)
    for number, block in enumerate(blocks):
        x = checkpoint(block, x, use_reentrant=bool(number % 2))
    optimizer.zero_grad()
    x.square().mean().backward()
    optimizer.step()
