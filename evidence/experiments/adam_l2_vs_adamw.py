"""The same weight_decay in Adam and in AdamW leads to different weights."""

import torch
from lab.task import accuracy, fit, flat, linear_teacher, mlp

CLAIMS = {
    "adam-l2-vs-adamw": "weight_decay 0.1, 1,500 steps: weight norm {adam_norm:.1f} and held-out accuracy {adam:.2f} with Adam, "
    "{adamw_norm:.1f} and {adamw:.2f} with AdamW"
}
EXPECT = {
    "the norms differ by more than a factor of two": lambda m: m["adamw_norm"] > 2 * m["adam_norm"],
    "Adam is less accurate with it": lambda m: m["adam"] < m["adamw"],
}


def measure(seed):
    told = {}
    for name, optimizer in (("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)):
        task, net = linear_teacher(seed), mlp(seed)
        chosen = optimizer(net.parameters(), lr=1e-2, weight_decay=0.1)
        fit(net, task.x, task.y, seed=seed, steps=1500, optimizer=chosen)
        told |= {name: accuracy(net, task.held_x, task.held_y), f"{name}_norm": flat(net).norm().item()}
    return told
