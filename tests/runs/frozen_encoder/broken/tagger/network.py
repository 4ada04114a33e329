import torch
from torch import nn

from .treebank import PAD


class Encoder(nn.Module):
    def __init__(self, words, dim, hidden):
        super().__init__()
        self.vectors = nn.Embedding(words, dim, padding_idx=PAD)
        self.forth = nn.GRU(dim, hidden, batch_first=True)
        self.mix = nn.Linear(hidden + dim, hidden)

    def forward(self, words):
        vectors = self.vectors(words)
        states, _ = self.forth(vectors)
        return torch.tanh(self.mix(torch.cat([states, vectors], dim=-1)))


class Tagger(nn.Module):
    def __init__(self, words, tags, dim=24, hidden=48):
        super().__init__()
        self.encoder = Encoder(words, dim, hidden)
        self.output = nn.Linear(hidden, tags)

    def forward(self, words):
        return self.output(self.encoder(words))
