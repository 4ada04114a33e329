"""Averaging the means of micro-batches of unequal length is not the mean over all tokens."""

import torch
from lab.task import gradient, mlp
from torch.nn import functional as F

CLAIMS = {
    "average-loss-per-token": "micro-batches of 2 and 50 tokens: relative error of the gradient {means:.1f}, with the sum "
    "divided by the number of tokens {tokens:.0e}"
}
EXPECT = {
    "the mean of means is off by more than 10%": lambda m: m["means"] > 0.1,
    "the sum over all tokens is exact": lambda m: m["tokens"] < 1e-5,
}


def measure(seed):
    torch.manual_seed(seed)
    net, parts = mlp(seed), [(torch.randn(n, 20), torch.randint(10, (n,))) for n in (2, 50)]

    def accumulated(loss):
        net.zero_grad()
        for x, y in parts:
            loss(net(x), y).backward()
        return gradient(net)

    net.zero_grad()
    F.cross_entropy(net(torch.cat([x for x, _ in parts])), torch.cat([y for _, y in parts])).backward()
    whole = gradient(net)
    means = accumulated(lambda scores, y: F.cross_entropy(scores, y) / 2)
    tokens = accumulated(lambda scores, y: F.cross_entropy(scores, y, reduction="sum") / 52)
    return {
        "means": ((means - whole).norm() / whole.norm()).item(),
        "tokens": ((tokens - whole).norm() / whole.norm()).item(),
    }
