"""Where gradients are cleared does not matter, unless it is between backward and step, or never."""

import torch
from lab.task import accuracy, batches, flat, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "zero-grad-position-variants": "weights after 200 steps, cleared before the forward pass or after the step: "
    "greatest difference {position:.0e}",
    "zero-grad-forgotten": "held-out accuracy {adam_never:.2f} against {adam_right:.2f} with Adam, "
    "{sgd_never:.2f} against {sgd_right:.2f} with SGD",
}
EXPECT = {
    "both good places give the same weights": lambda m: m["position"] == 0,
    "cleared before the step, nothing moves": lambda m: m["too_early"] == 0,
    "never cleared is worse with Adam": lambda m: m["adam_never"] < m["adam_right"] - 0.02,
    "never cleared is worse with SGD": lambda m: m["sgd_never"] < m["sgd_right"] - 0.02,
}


def train(seed, clear, optimizer):
    task, net = linear_teacher(seed), mlp(seed)
    step = optimizer(net.parameters())
    for rows in batches(seed, len(task.x), 64, 200):
        if clear == "before forward":
            step.zero_grad()
        F.cross_entropy(net(task.x[rows]), task.y[rows]).backward()
        if clear == "before step":
            step.zero_grad()
        step.step()
        if clear == "after step":
            step.zero_grad()
    return net, accuracy(net, task.held_x, task.held_y)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-2)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


def measure(seed):
    before, right = train(seed, "before forward", adam)
    after, _ = train(seed, "after step", adam)
    stuck, _ = train(seed, "before step", sgd)
    return {
        "position": (flat(before) - flat(after)).abs().max().item(),
        "too_early": (flat(stuck) - flat(mlp(seed))).abs().max().item(),
        "adam_right": right,
        "adam_never": train(seed, "never", adam)[1],
        "sgd_right": train(seed, "before forward", sgd)[1],
        "sgd_never": train(seed, "never", sgd)[1],
    }
