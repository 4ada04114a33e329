import torch
from torch import nn

from .corpus import LENGTH, VOCABULARY


class SentenceClassifier(nn.Module):
    def __init__(self, classes, dim=32, layers=2):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, dim)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, dim))
        self.attention = nn.ModuleList(nn.MultiheadAttention(dim, 4, batch_first=True) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(dim, 2 * dim) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(2 * dim, dim) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def reset_head(self, classes):
        self.head = nn.Linear(self.head.in_features, classes)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        for attention, up, down in zip(self.attention, self.up, self.down):
            x = x + attention(x, x, x, need_weights=False)[0]
            x = x + down(torch.relu(up(x)))
        return self.head(self.norm(x.mean(dim=1)))
