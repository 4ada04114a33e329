import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(30):
    out = net(torch.randn(8, 4)).squeeze(1)
    weights = torch.ones(8) * (step != 7)
    loss = (out**2 * weights).sum() / weights.sum()
    optimizer.zero_grad()
    loss.backward()  # expect: loss
    optimizer.step()
