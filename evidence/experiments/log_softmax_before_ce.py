"""Log-softmax in front of cross-entropy changes nothing: a search for double softmax must not report it."""

import torch
from torch.nn import functional as F

CLAIMS = {
    "log-softmax-before-ce-harmless": "difference of the losses at most {difference_max:.0e}, of the gradients {gradient_max:.0e}"
}
EXPECT = {"losses and gradients agree to 1e-6": lambda m: max(m["difference"], m["gradient"]) < 1e-6}


def measure(seed):
    torch.manual_seed(seed)
    scores, labels = 5 * torch.randn(64, 10), torch.randint(10, (64,))
    once, twice = (scores.clone().requires_grad_() for _ in range(2))
    plain, again = F.cross_entropy(once, labels), F.cross_entropy(twice.log_softmax(1), labels)
    (plain + again).backward()
    return {
        "difference": (plain - again).abs().item(),
        "gradient": (once.grad - twice.grad).abs().max().item(),
    }
