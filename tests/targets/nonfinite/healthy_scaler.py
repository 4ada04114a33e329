import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=5e-5)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for step in range(40):
    x = torch.randn(5, 4)
    loss = 2e3 * nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
    scaler.step(optimizer)
    scaler.update()
