"""Losses have planes without a slope: a clamp, a rounding, a double softmax that is confident and wrong."""

import torch
from torch.nn import functional as F

CLAIMS = {
    "softmax-before-ce-gradient": "two classes, logits wrong by 10: the gradient is {plain:.2f} for cross-entropy and {twice:.0e} when a softmax "
    "comes first",
    "flat-parts-of-a-loss": "share of the plane -5 to 5 without any gradient: cross-entropy {ce_flat:.0%}, clamped at 3 {clamp_flat:.0%}, "
    "hinge {hinge_flat:.0%}, a score rounded before a squared error {round_flat:.0%}",
}
SEEDS = 1
EXPECT = {
    "the double softmax has lost its gradient there": lambda m: m["twice"] < 0.001 * m["plain"],
    "cross-entropy has a gradient everywhere": lambda m: m["ce_flat"] == 0,
    "a clamp flattens a part": lambda m: 0.05 < m["clamp_flat"] < 0.9,
    "rounding flattens all": lambda m: m["round_flat"] == 1,
}


def cross_entropy(scores):
    return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long), reduction="none")


def twice(scores):
    return cross_entropy(scores.softmax(1))


def clamped(scores):
    return cross_entropy(scores).clamp(max=3)


def hinge(scores):
    return (1 - scores[:, 0] + scores[:, 1]).clamp(min=0)


def rounded(scores):
    return (scores.round() - torch.tensor([1.0, 0.0])).pow(2).sum(1)


def gradients(loss, scores):
    scores = scores.clone().requires_grad_()
    loss(scores).sum().backward()
    return scores.grad


def flat(loss):
    plane = torch.cartesian_prod(torch.linspace(-5, 5, 81), torch.linspace(-5, 5, 81))
    return (gradients(loss, plane).abs().sum(1) == 0).float().mean().item()


def measure(seed):
    wrong = torch.tensor([[-5.0, 5.0]])
    return {
        "plain": gradients(cross_entropy, wrong)[0, 0].abs().item(),
        "twice": gradients(twice, wrong)[0, 0].abs().item(),
        "ce_flat": flat(cross_entropy), "clamp_flat": flat(clamped), "hinge_flat": flat(hinge),
        "round_flat": flat(rounded),
    }  # fmt: skip


def plot(axes):
    margin = torch.linspace(-10, 10, 201)
    scores = torch.stack([margin / 2, -margin / 2], 1)
    for name, loss in (("cross-entropy", cross_entropy), ("softmax first", twice), ("clamped at 3", clamped)):
        axes.plot(margin, gradients(loss, scores)[:, 0].abs(), label=name)
    axes.set(
        xlabel="margin of the right class", ylabel="size of the gradient", title="confident and wrong is on the left"
    )
    axes.legend()
