"""Units that are saturated or dead at the start learn less, and the share of them says so before training."""

import torch
from lab.task import accuracy, fit, linear_teacher
from torch import nn

CLAIMS = {
    "saturated-tanh": "first-layer weights times 1, 5 and 25: {share_1:.0%}, {share_5:.0%} and {share_25:.0%} of the tanh units beyond "
    "0.97, held-out accuracy {held_1:.2f}, {held_5:.2f} and {held_25:.2f}",
    "dead-relu-forty-percent": "after 400 steps of SGD at rates of 0.1, 1 and 10: {dead_01:.0%}, {dead_1:.0%} and {dead_10:.0%} of the "
    "ReLU units are silent on the whole training set",
}
EXPECT = {
    "saturation grows with the scale": lambda m: m["share_1"] < m["share_5"] < m["share_25"],
    "and the most saturated is less accurate than the default": lambda m: m["held_25"] < m["held_1"] - 0.02,
    "a rate of 0.1 kills less than 5%": lambda m: m["dead_01"] < 0.05,
    "a rate of 10 kills more than 40%": lambda m: m["dead_10"] > 0.4,
}


def network(seed, activation, scale=1.0):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(20, 64), activation(), nn.Linear(64, 10))
    with torch.no_grad():
        net[0].weight *= scale
    return net


def measure(seed):
    task, told = linear_teacher(seed), {}
    for scale in (1, 5, 25):
        net = network(seed, nn.Tanh, scale)
        told[f"share_{scale}"] = (net[:2](task.x).abs() > 0.97).float().mean().item()
        fit(net, task.x, task.y, seed=seed)
        told[f"held_{scale}"] = accuracy(net, task.held_x, task.held_y)
    for name, rate in (("01", 0.1), ("1", 1.0), ("10", 10.0)):
        net = network(seed, nn.ReLU)
        fit(net, task.x, task.y, seed=seed, optimizer=torch.optim.SGD(net.parameters(), lr=rate))
        told[f"dead_{name}"] = (net[:2](task.x).amax(0) <= 0).float().mean().item()
    return told
