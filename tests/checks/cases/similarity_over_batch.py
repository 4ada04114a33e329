"""Programs for similarity-over-batch."""

from ._programs import mutant

_AUTOENCODER = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

net = nn.Sequential(nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 512))
optimizer = torch.optim.Adam(net.parameters())

def fit(dataset, device):
    loader = DataLoader(dataset, batch_size=32, shuffle=True)
    for i, features in enumerate(loader):
        data = features.to(device).float()
        out = net(data)
        loss = F.mse_loss(out, data) + 1 - F.cosine_similarity(out, data, dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_LAYER = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Matcher:
    def __init__(self, net, pairs):
        self.net = net
        self.loader = DataLoader(pairs, 16)
        self.similarity = nn.CosineSimilarity(dim=-1)

    def epoch(self, optimizer):
        for one, other in self.loader:
            loss = 1 - self.similarity(self.net(one), other).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
_HEADS = """
import torch
from torch import nn

class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 4)
        self.right = nn.Linear(8, 4)

    def forward(self, x):
        x = x.flatten(1)
        return torch.cosine_similarity(self.left(x), self.right(x), dim=1)
"""
_OVER_BATCH = mutant(_AUTOENCODER, ("dim=1", "dim=0"))

FAILS = {
    "a batch of the loader": _OVER_BATCH,
    "by place": mutant(_AUTOENCODER, ("out, data, dim=1", "out, data, 0")),
    "a layer": mutant(_LAYER, ("dim=-1", "dim=0")),
    "two heads": mutant(_HEADS, ("dim=1", "dim=0")),
    "the target alone is known": mutant(_OVER_BATCH, ("out, data, dim=0", "out.squeeze(), features, dim=0")),
}

SILENT = {
    "over the features": _AUTOENCODER,
    "a layer over the features": _LAYER,
    "heads over the features": _HEADS,
    "the default axis": mutant(_AUTOENCODER, ("out, data, dim=1", "out, data")),
    "one example at a time": mutant(_OVER_BATCH, ("batch_size=32", "batch_size=None")),
    "one of the batch": mutant(_OVER_BATCH, ("out, data, dim=0", "out[0], data[0], dim=0")),
    "flattened": mutant(_OVER_BATCH, ("out, data, dim=0", "out.flatten(), data.flatten(), dim=0")),
}
