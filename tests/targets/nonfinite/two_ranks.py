import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.lin = nn.BatchNorm1d(4), nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return self.norm(x).mean() + self.lin(x).square().sum(1).sqrt()  # expect: div


torch.distributed.init_process_group(
    "gloo", "file://" + os.environ["MEETING"], rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"])
)
rank = torch.distributed.get_rank()
torch.manual_seed(rank)
net = nn.parallel.DistributedDataParallel(Net())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(12):
    x = torch.randn(6, 4)
    if step == 6 and rank == 1:
        x[2] = 0.0
    loss = net(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
