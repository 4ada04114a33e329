import torch
from torch import nn


def block(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()
    )


class UNet(nn.Module):
    """Two levels with one skip connection: (N, 3, H, W) -> (N, 1, H, W) logits."""

    def __init__(self, width=8):
        super().__init__()
        self.outer = block(3, width)
        self.inner = nn.Sequential(block(width, 2 * width), block(2 * width, 2 * width))
        self.merge = block(3 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, picture):
        fine = self.outer(picture)
        coarse = self.inner(nn.functional.max_pool2d(fine, 2))
        coarse = nn.functional.interpolate(coarse, scale_factor=2)
        return self.head(self.merge(torch.cat([fine, coarse], 1)))
