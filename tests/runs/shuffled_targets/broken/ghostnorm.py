import torch
from torch import nn


class GhostBatchNorm(nn.Module):
    """Batch norm over parts of the batch while training."""

    def __init__(self, features, part=16):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.part = part

    def forward(self, x):
        if not self.training:
            return self.norm(x)
        return torch.cat([self.norm(chunk) for chunk in x.split(self.part)])
