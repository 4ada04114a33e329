"""Evaluation in training mode gives a score that depends on the batch size, and `no_grad` does not help."""

import torch
from lab.task import accuracy, fit, linear_teacher
from torch import nn

CLAIMS = {
    "train-eval-mode": "accuracy {eval:.2f} in eval mode; in train mode {batch_2:.2f}, {batch_8:.2f} and {batch_64:.2f} "
    "with batches of 2, 8 and 64",
    "no-grad-is-not-eval": "one pass in train mode under no_grad moved a running mean by {moved:.2f}",
}
EXPECT = {
    "eval mode is best": lambda m: m["eval"] > max(m["batch_2"], m["batch_8"], m["batch_64"]),
    "small batches are worst": lambda m: m["batch_2"] < m["batch_8"] < m["batch_64"],
    "running statistics move under no_grad": lambda m: m["moved"] > 0.01,
}


def measure(seed):
    task = linear_teacher(seed)
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
    fit(net, task.x, task.y, seed=seed)
    held = {"eval": accuracy(net.eval(), task.held_x, task.held_y)}
    before = net[1].running_mean.clone()
    net.train()
    for size in (2, 8, 64):
        parts = zip(task.held_x.split(size), task.held_y.split(size), strict=True)
        right = [accuracy(net, x, y) * len(x) for x, y in parts if len(x) > 1]
        held[f"batch_{size}"] = sum(right) / len(task.held_x)
    return {**held, "moved": (net[1].running_mean - before).abs().max().item()}
