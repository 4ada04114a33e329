"""The first loss of a default classifier lies just above ln C; a head with large weights starts far above."""

import math

import torch
from lab.task import INPUTS, mlp
from torch import nn
from torch.nn import functional as F

CLAIMS = {
    "init-loss-at-chance": "{of_2:.2f}, {of_10:.2f}, {of_100:.2f} and {of_1000:.2f} for 2, 10, 100 and 1,000 classes, "
    "at most {excess_max:.1%} above ln C; output weights times 10: {scaled:.2f} for 10 classes; a tied head over 1,000 "
    "tokens with embedding std 1.0: {tied_1:.1f} against ln C of 6.91, with std 0.02: {tied_002:.2f}"
}
SEEDS = 5
EXPECT = {
    "default heads start between 2% below and 8% above ln C": lambda m: m["least"] > -0.02 and m["excess"] < 0.08,
    "ten times the output weights start at least half above": lambda m: m["scaled"] > 1.5 * math.log(10),
    "a tied head with std 1 starts at least at twice ln C": lambda m: m["tied_1"] > 2 * math.log(1000),
    "a tied head with std 0.02 starts at ln C": lambda m: abs(m["tied_002"] / math.log(1000) - 1) < 0.05,
}


def first_loss(net, x, classes, seed):
    labels = torch.randint(classes, (len(x),), generator=torch.Generator().manual_seed(seed))
    return F.cross_entropy(net(x), labels).item()


def tied(seed, std):
    """A language model whose output layer is its embedding, as in GPT-2."""
    torch.manual_seed(seed)
    embedding = nn.Embedding(1000, 64)
    nn.init.normal_(embedding.weight, std=std)
    body = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64), nn.LayerNorm(64))
    tokens = torch.randint(1000, (512,))
    return F.cross_entropy(body(embedding(tokens)) @ embedding.weight.T, torch.randint(1000, (512,))).item()


@torch.no_grad()
def measure(seed):
    x = torch.randn(2048, INPUTS, generator=torch.Generator().manual_seed(seed))
    first = {classes: first_loss(mlp(seed, outputs=classes), x, classes, seed) for classes in (2, 10, 100, 1000)}
    excess = [loss / math.log(classes) - 1 for classes, loss in first.items()]
    loud = mlp(seed)
    loud[2].weight *= 10
    return {
        **{f"of_{classes}": loss for classes, loss in first.items()},
        "excess": max(excess),
        "least": min(excess),
        "scaled": first_loss(loud, x, 10, seed),
        "tied_1": tied(seed, 1.0),
        "tied_002": tied(seed, 0.02),
    }
