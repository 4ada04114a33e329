"""Two heads with optimizers of their own: fused Adam for one, foreach SGD for the other, rates on schedules."""

import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(512, 12)
kind = (inputs[:, :3].sum(1) > 0).long()
height = inputs[:, 3:6] @ torch.tensor([[0.5], [-1.0], [2.0]])

classifier = nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.Linear(32, 2))
regressor = nn.Sequential(nn.Linear(12, 32), nn.SiLU(), nn.Linear(32, 1))
fused = torch.optim.Adam(classifier.parameters(), lr=3e-3, fused=True)
foreach = torch.optim.SGD(regressor.parameters(), lr=0.02, momentum=0.9, nesterov=True, foreach=True)
schedules = [torch.optim.lr_scheduler.CosineAnnealingLR(one, 160) for one in (fused, foreach)]

for step in range(160):
    rows = torch.randint(0, 512, (32,))
    loss = nn.functional.cross_entropy(classifier(inputs[rows]), kind[rows])
    loss = loss + nn.functional.huber_loss(regressor(inputs[rows]), height[rows])
    fused.zero_grad()
    foreach.zero_grad()
    loss.backward()
    fused.step()
    foreach.step()
    for schedule in schedules:
        schedule.step()
    if step % 40 == 0:
        print(step, loss.item())
