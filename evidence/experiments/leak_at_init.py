"""A label hidden in the input does not lower the first loss; it makes the loss fall implausibly fast."""

import torch
from lab.task import fit, mlp
from torch.nn import functional as F

CLAIMS = {
    "init-loss-far-below-chance": "random labels, 10 classes: first loss {leak_first:.2f} with the leak and "
    "{clean_first:.2f} without; after 100 Adam steps {leak_last:.3f} and {clean_last:.2f}"
}
EXPECT = {
    "the first losses differ by less than 5%": lambda m: abs(m["leak_first"] / m["clean_first"] - 1) < 0.05,
    "after 100 steps the leak is at least ten times lower": lambda m: m["leak_last"] < 0.1 * m["clean_last"],
}


def curve(seed, leak):
    draw = torch.Generator().manual_seed(seed)
    x, y = torch.randn(512, 20, generator=draw), torch.randint(10, (512,), generator=draw)
    hidden = F.one_hot(y, 10).float() if leak else torch.randn(512, 10, generator=draw)
    return fit(mlp(seed, inputs=30), torch.cat([x, hidden], 1), y, seed=seed, steps=101)


def measure(seed):
    with_leak, without = curve(seed, True), curve(seed, False)
    return {
        "leak_first": with_leak[0],
        "clean_first": without[0],
        "leak_last": sum(with_leak[-8:]) / 8,
        "clean_last": sum(without[-8:]) / 8,
    }


def plot(axes):
    axes.plot(curve(0, True), label="label hidden in the input")
    axes.plot(curve(0, False), label="no leak")
    axes.set(xlabel="step", ylabel="training loss")
    axes.legend()
