"""Prints 100 MB around its training steps, most of it as one line that never ends."""

import sys

import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
chunk = "\r" + "#" * 99_999
for step in range(10):
    for _ in range(100):
        sys.stdout.write(chunk)
    loss = model(torch.randn(16, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sys.stdout.write(f"\nstep {step} loss {loss.item():.4f}\n" if step == 9 else "")
