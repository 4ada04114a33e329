import torch
from torch import nn

from .dataset import PAD, STARS, WORDS


class AttentionPool(nn.Module):
    """(B, T, dim) and a (B, T) mask of real words to (B, dim)."""

    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, 1)

    def forward(self, states, real):
        scores = self.query(states).squeeze(-1)
        scores = scores.masked_fill(~real, float("-inf"))  # cause
        weights = torch.softmax(scores, dim=-1)
        return torch.einsum("bt,btd->bd", weights, states)


class ReviewModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.words = nn.Embedding(WORDS, dim, padding_idx=PAD)
        self.mix = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Dropout(0.1))
        self.pool = AttentionPool(dim)
        self.stars = nn.Linear(dim, STARS)

    def forward(self, words):
        states = self.mix(self.words(words))
        return self.stars(self.pool(states, words != PAD))
