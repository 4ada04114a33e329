"""Runs with the same seeds pair up: a small true gain is seen with fewer of them than across seeds."""

from statistics import fmean, stdev

import torch
from lab.task import accuracy, fit, linear_teacher, mlp

CLAIMS = {
    "paired-seeds": "two widths of one small classifier, 12 seeds each: the difference is {gain:.4f}; its standard error {cross:.4f} across "
    "seeds and {paired:.4f} in pairs when the seed fixes the data too, where the pairs correlate at {correlation:.2f}"
}
SEEDS = 1
EXPECT = {
    "the runs of one seed go together": lambda m: m["correlation"] > 0.3,
    "and so the paired error is smaller": lambda m: m["paired"] < m["cross"],
}


def score(seed, width):
    """The seed fixes what differs between runs: the examples, their order and the first weights."""
    task, net = linear_teacher(seed, train=256), mlp(seed, width=width)
    fit(net, task.x, task.y, seed=seed, steps=150)
    return accuracy(net, task.held_x, task.held_y)


def measure(seed):
    narrow, wide = ([score(one, width) for one in range(12)] for width in (48, 96))
    differences = [b - a for a, b in zip(narrow, wide, strict=True)]
    return {
        "gain": fmean(differences),
        "cross": ((stdev(narrow) ** 2 + stdev(wide) ** 2) / 12) ** 0.5,
        "paired": stdev(differences) / 12**0.5,
        "correlation": torch.corrcoef(torch.tensor([narrow, wide]))[0, 1].item(),
    }
