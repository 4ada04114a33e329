"""Zero input and random input show what a run owes to its inputs; a destroyed input looks like both."""

import torch
from lab.task import fit, linear_teacher, mlp

CLAIMS = {
    "zero-input-baseline": "loss after 400 steps: {real:.2f} with the real input, {zero:.2f} with zeros (entropy of the labels "
    "{entropy:.2f})",
    "random-input-test": "loss of new batches, each with fresh noise as input: {noise:.2f}; with the real input {real:.2f}; when "
    "the pipeline destroys the input {destroyed:.2f}",
}
EXPECT = {
    "real input is at less than half of zeros": lambda m: m["real"] < 0.5 * m["zero"],
    "zeros end near the entropy of the labels": lambda m: abs(m["zero"] / m["entropy"] - 1) < 0.05,
    "a destroyed input behaves as noise does": lambda m: abs(m["destroyed"] / m["noise"] - 1) < 0.1,
}


def last(losses):
    return sum(losses[-40:]) / 40


def fresh(seed, make):
    """Trains on inputs that `make` draws anew in every step; the labels are the real ones."""
    task, net = linear_teacher(seed), mlp(seed)
    draw = torch.Generator().manual_seed(seed)
    return last(fit(Redrawn(net, make, draw), task.x, task.y, seed=seed))


class Redrawn(torch.nn.Module):
    def __init__(self, net, make, draw):
        super().__init__()
        self.net, self.make, self.draw = net, make, draw

    def forward(self, x):
        return self.net(self.make(x, self.draw))


def measure(seed):
    task = linear_teacher(seed)
    shares = torch.bincount(task.y, minlength=10) / len(task.y)
    return {
        "real": last(fit(mlp(seed), task.x, task.y, seed=seed)),
        "zero": last(fit(mlp(seed), torch.zeros_like(task.x), task.y, seed=seed)),
        "noise": fresh(seed, lambda x, draw: torch.randn(x.shape, generator=draw)),
        "destroyed": fresh(seed, lambda x, draw: x[torch.randperm(len(x), generator=draw)]),
        "entropy": -(shares * shares.clamp(min=1e-9).log()).sum().item(),
    }
