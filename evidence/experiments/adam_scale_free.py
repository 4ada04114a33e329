"""Adam hardly notices that the loss was multiplied by 1,000; SGD at the same rate breaks."""

import math

import torch
from lab.task import fit, flat, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "adam-update-is-scale-free": "loss times 1,000, 400 steps: greatest difference of a weight {adam:.0e} with Adam; "
    "the last loss of SGD {sgd_loss:.3g} instead of {sgd_plain:.2f}"
}
EXPECT = {
    "Adam ends at the same weights to 1e-3": lambda m: m["adam"] < 1e-3,
    "SGD does not": lambda m: not math.isfinite(m["sgd_loss"]) or m["sgd_loss"] > 2 * m["sgd_plain"],
}


def loud(scores, labels):
    return 1000 * F.cross_entropy(scores, labels)


def train(seed, loss, optimizer):
    task, net = linear_teacher(seed), mlp(seed)
    last = fit(net, task.x, task.y, seed=seed, loss=loss, optimizer=optimizer(net.parameters()))[-1]
    return flat(net), last


def measure(seed):
    plain, scaled = (train(seed, loss, lambda p: torch.optim.Adam(p, lr=1e-3))[0] for loss in (F.cross_entropy, loud))
    sgd = [train(seed, loss, lambda p: torch.optim.SGD(p, lr=0.1))[1] for loss in (F.cross_entropy, loud)]
    return {"adam": (plain - scaled).abs().max().item(), "sgd_plain": sgd[0], "sgd_loss": sgd[1] / 1000}
