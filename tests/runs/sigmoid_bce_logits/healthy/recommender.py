import torch
from torch import nn


class Recommender(nn.Module):
    """Product of embeddings beside a small network on their concatenation."""

    def __init__(self, users, items, dim, hidden):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)
        self.popularity = nn.Embedding(items, 1)
        nn.init.zeros_(self.popularity.weight)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.criterion = nn.BCEWithLogitsLoss()

    def score(self, user, item):
        u, i = self.user(user), self.item(item)
        deep = self.mlp(torch.cat([u, i], dim=-1)).squeeze(-1)
        value = (u * i).sum(-1) + deep + self.popularity(item).squeeze(-1)
        return value

    def forward(self, user, item, label=None):
        scores = self.score(user, item)
        if label is None:
            return {"scores": scores}
        return {"scores": scores, "loss": self.criterion(scores, label)}
