from torch import nn

from .registry import register


class Block(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.inner = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        return x + self.inner(x)


@register("model", "residual_mlp")
class ResidualMLP(nn.Module):
    """Features (N, inputs) -> log-probabilities (N, classes)."""

    def __init__(self, inputs, classes, width, depth, dropout):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList([Block(width, dropout) for _ in range(depth)])
        self.head = nn.Linear(width, classes)

    def forward(self, features):
        x = self.stem(features)
        for block in self.blocks:
            x = block(x)
        return self.head(x).log_softmax(-1)
