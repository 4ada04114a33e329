"""A detach in the loss path leaves everything upstream without a gradient, and the rest goes on learning."""

from lab.task import accuracy, fit, linear_teacher, mlp
from torch import nn

CLAIMS = {
    "detach-breaks-learning": "layers upstream of the detach without gradient: {without:.0f} of 2 tensors; held-out accuracy "
    "{cut:.2f} against {whole:.2f}, so it looks like a weak run"
}
EXPECT = {
    "everything upstream has gradient None": lambda m: m["without"] == 2,
    "the cut run is worse": lambda m: m["cut"] < m["whole"],
    "and far above chance": lambda m: m["cut"] > 0.3,
}


class Cut(nn.Module):
    def forward(self, x):
        return x.detach()


def measure(seed):
    task, whole = linear_teacher(seed), mlp(seed)
    first, activation, last = mlp(seed)
    cut = nn.Sequential(first, activation, Cut(), last)
    fit(whole, task.x, task.y, seed=seed)
    fit(cut, task.x, task.y, seed=seed)
    return {
        "without": sum(p.grad is None for p in first.parameters()),
        "cut": accuracy(cut, task.held_x, task.held_y),
        "whole": accuracy(whole, task.held_x, task.held_y),
    }
