"""A table: regression on standardised columns, SGD with momentum, StepLR, an evaluation at the end."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def rows(count, seed):
    rng = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 6, generator=rng) * torch.tensor([1.0, 5.0, 0.1, 2.0, 1.0, 30.0]) + 3.0
    target = inputs[:, 0] - 0.3 * inputs[:, 1] + 0.05 * torch.randn(count, generator=rng)
    return inputs, target.unsqueeze(1)


torch.manual_seed(0)
inputs, target = rows(480, 1)
mean, std = inputs.mean(0), inputs.std(0)
val_inputs, val_target = rows(96, 2)
train_set = TensorDataset((inputs - mean) / std, target)
val_set = TensorDataset((val_inputs - mean) / std, val_target)
loader = DataLoader(train_set, batch_size=24, shuffle=True)
val_loader = DataLoader(val_set, batch_size=48)

model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
criterion = nn.MSELoss()
for epoch in range(4):
    model.train()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        error = sum(criterion(model(x), y).item() for x, y in val_loader) / len(val_loader)
    print(epoch, error)
