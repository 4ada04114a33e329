"""A default device, everything else left to it; bfloat16 autocast, label smoothing, a hand-made warm-up."""

import torch
from torch import nn

torch.set_default_device("cpu")
torch.manual_seed(0)
centres = torch.randn(5, 16)
label = torch.randint(0, 5, (600,))
points = centres[label] + 0.7 * torch.randn(600, 16)
model = nn.Sequential(nn.Linear(16, 64), nn.LayerNorm(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 5))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

step = 0
for epoch in range(8):
    order = torch.randperm(600)
    for start in range(0, 600, 40):
        rows = order[start : start + 40]
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1.0, (step + 1) / 20)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = criterion(model(points[rows]), label[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        step += 1
    print(epoch, loss.item())
