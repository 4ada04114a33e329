import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for step in range(40):
    loss = nn.functional.cross_entropy(1e3 * net(torch.randn(5, 4)), torch.randint(3, (5,)))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
    scaler.step(optimizer)
    scaler.update()
