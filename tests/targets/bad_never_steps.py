"""Builds a model and an optimizer, evaluates, and ends without one training step."""

import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.no_grad():
    loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(2, (8,)))
print(f"evaluated: {loss.item():.3f}")
