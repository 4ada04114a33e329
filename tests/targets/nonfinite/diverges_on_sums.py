"""The gradients of eight batches are added up and none is divided: SGD takes steps that are eight times as large."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(2048, 12)
data = TensorDataset(x, torch.sin(2 * x[:, :1]) + x[:, 1:2])
model = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.MSELoss()
for epoch in range(10):
    for number, (inputs, target) in enumerate(DataLoader(data, 16, shuffle=True), 1):
        criterion(model(inputs), target).backward()
        if number % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()
