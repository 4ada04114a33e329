import argparse

import torch
from torch.nn import functional as F

from . import data
from .net import build


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--width", type=int, default=48)
    args = parser.parse_args()
    torch.manual_seed(2)
    net = build(args.width)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(args.steps):
        x, y = data.batch(64)
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
