import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1, bias=False)
for step in range(12):
    x = torch.randn(5, 4)
    if step == 7:
        x[2] = 0.0
    loss = net(x).square().sum(1).sqrt().mean()  # expect: div
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.01 * p.grad
            p.grad.zero_()
