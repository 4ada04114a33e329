"""The first step of Adam moves every weight by the learning rate, whatever the gradient."""

import torch
from lab.task import flat, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "adam-first-step-is-lr": "mean movement of a weight in the first step, in learning rates: {rates:.4f}",
    "update-ratio": "norm of the first update over the norm of the weights at a rate of 3e-4, by layer: {least:.1e} to {most:.1e}",
}
EXPECT = {
    "every weight moves by the rate, to 1%": lambda m: abs(m["rates"] - 1) < 0.01,
    "the update ratio is between 1e-4 and 1e-2": lambda m: m["least"] > 1e-4 and m["most"] < 1e-2,
}


def measure(seed):
    task, net = linear_teacher(seed), mlp(seed)
    before, old = flat(net), [p.detach().clone() for p in net.parameters()]
    step = torch.optim.Adam(net.parameters(), lr=3e-4)
    F.cross_entropy(net(task.x), task.y).backward()
    step.step()
    ratios = [((new - was).norm() / was.norm()).item() for new, was in zip(net.parameters(), old, strict=True)]
    return {
        "rates": ((flat(net) - before).abs().mean() / 3e-4).item(),
        "least": min(ratios),
        "most": max(ratios),
    }
