"""A program to be killed: small steps with something written in each, in one of four shapes.

python victim.py | victim.py workers | victim.py daemon | torchrun --nproc-per-node 2 victim.py ranks
"""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def leave_daemon():
    """A process of a session of its own that no parent waits for."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(600)
    os._exit(0)


def main(shape):
    torch.manual_seed(0)
    if shape == "ranks":
        dist.init_process_group("gloo")
    if shape == "daemon":
        leave_daemon()
    x = torch.randn(256, 4)
    workers = 2 if shape == "workers" else 0
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 16, shuffle=True, num_workers=workers)
    model = nn.Linear(4, 1)
    if shape == "ranks":
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    step = 0
    while True:
        for inputs, target in loader:
            loss = nn.functional.mse_loss(model(inputs), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            with open("notes.txt", "a") as log:
                log.write(f"{step} {loss.item()}\n")
            torch.save(model.state_dict(), "last.pt")
            time.sleep(0.02)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "plain")
