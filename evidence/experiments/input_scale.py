"""The same weights on inputs of another range: no error, and most of what was learned is gone."""

import torch
from lab.task import accuracy, fit, linear_teacher, mlp

CLAIMS = {
    "pretrained-normalisation-must-match": "a trained network, evaluated on its own inputs {own:.2f}, on the same inputs with "
    "another mean {shifted:.2f}, with their features in another order {reordered:.2f} (chance 0.10)"
}
EXPECT = {
    "another mean costs more than 0.2": lambda m: m["own"] - m["shifted"] > 0.2,
    "another order ends near chance": lambda m: m["reordered"] < 0.25,
}


def measure(seed):
    task, net = linear_teacher(seed), mlp(seed)
    fit(net, task.x, task.y, seed=seed)
    order = torch.randperm(task.x.shape[1], generator=torch.Generator().manual_seed(seed))
    return {
        "own": accuracy(net, task.held_x, task.held_y),
        "shifted": accuracy(net, task.held_x + 1.5, task.held_y),
        "reordered": accuracy(net, task.held_x[:, order], task.held_y),
    }
