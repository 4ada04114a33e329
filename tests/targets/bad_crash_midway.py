"""Trains six steps; the seventh batch has a column too many."""

import torch
from torch import nn


def batches():
    for step in range(20):
        yield torch.randn(16, 3 if step < 6 else 4)


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, x in enumerate(batches(), start=1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
