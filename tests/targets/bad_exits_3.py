"""Leaves with its own exit code before training starts."""

import sys

import torch

model = torch.nn.Linear(2, 1)
print("no data set found, giving up", file=sys.stderr)
sys.exit(3)
