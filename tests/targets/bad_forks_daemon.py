"""Trains, and leaves behind a process of its own session that would live for a minute.

The stray process writes its id to daemon.pid, so that whoever runs this can see it gone.
"""

import os
import time

import torch
from torch import nn


def leave_daemon():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    with open("daemon.pid", "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
    os._exit(0)


leave_daemon()
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(16, 3)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
