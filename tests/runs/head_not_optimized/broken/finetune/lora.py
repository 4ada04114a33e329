"""Low-rank adapters on the feed-forward layers of a frozen network."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.down.T @ self.up.T)


def add_adapters(model, rank):
    """Freeze the model, then put trainable adapters on its feed-forward layers."""
    model.requires_grad_(False)
    for layers in (model.up, model.down):
        for i, base in enumerate(layers):
            layers[i] = LoRALinear(base, rank)
    model.head.requires_grad_(True)
    return model


def trainable(model):
    return [p for p in model.parameters() if p.requires_grad]
