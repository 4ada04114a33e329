"""Clamping the loss instead of the gradient silences exactly the examples that are most wrong."""

import torch
from torch.nn import functional as F

CLAIMS = {
    "clip-loss-instead-of-grad": "random logits of std 4, clamp at 3: {silent:.0%} of the examples get no gradient; their "
    "mean loss is {silent_loss:.1f} against {heard_loss:.1f} of the others"
}
EXPECT = {
    "more than half get no gradient": lambda m: m["silent"] > 0.5,
    "those are the hard ones": lambda m: m["silent_loss"] > 2 * m["heard_loss"],
}


def measure(seed):
    torch.manual_seed(seed)
    scores, labels = (4 * torch.randn(4096, 10)).requires_grad_(), torch.randint(10, (4096,))
    losses = F.cross_entropy(scores, labels, reduction="none")
    losses.clamp(max=3.0).mean().backward()
    silent = scores.grad.abs().sum(1) == 0
    return {
        "silent": silent.float().mean().item(),
        "silent_loss": losses[silent].mean().item(),
        "heard_loss": losses[~silent].mean().item(),
    }
