import torch
from torch import nn


class SketchTower(nn.Module):
    """(B, 1, 16, 16) sketches to (B, dim)."""

    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Flatten(),
            nn.Linear(32 * 16, 64),
            nn.GELU(),
            nn.Linear(64, dim),
        )

    def forward(self, sketches):
        return self.net(sketches)


class CaptionTower(nn.Module):
    """(B, T) token ids to (B, dim)."""

    def __init__(self, vocabulary, dim):
        super().__init__()
        self.words = nn.Embedding(vocabulary, 48)
        self.mix = nn.Sequential(nn.Linear(48, 64), nn.GELU(), nn.Linear(64, dim))

    def forward(self, tokens):
        return self.mix(self.words(tokens).mean(dim=1))


class PairModel(nn.Module):
    def __init__(self, vocabulary, dim=32):
        super().__init__()
        self.sketch = SketchTower(dim)
        self.caption = CaptionTower(vocabulary, dim)
        self.log_scale = nn.Parameter(torch.tensor(2.0))
