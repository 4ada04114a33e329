"""With imbalanced classes an output bias at the log-odds starts where a bias of zero arrives only after training."""

import math

import torch
from lab.task import mlp
from torch.nn import functional as F

CLAIMS = {
    "final-bias-from-base-rate": "one positive in ten: first loss {zero:.2f} with bias 0, {log_odds:.2f} with the log-odds as "
    "bias, and {entropy:.2f} is the best constant"
}
EXPECT = {
    "bias 0 starts at more than twice the loss": lambda m: m["zero"] > 2 * m["log_odds"],
    "the log-odds start within 10% of the best constant": lambda m: m["log_odds"] < 1.1 * m["entropy"],
}


@torch.no_grad()
def measure(seed):
    x = torch.randn(2000, 20, generator=torch.Generator().manual_seed(seed))
    y = (torch.arange(2000) % 10 == 0).float()
    net, first = mlp(seed, outputs=1), {}
    for name, bias in (("zero", 0.0), ("log_odds", math.log(0.1 / 0.9))):
        net[2].bias.fill_(bias)
        first[name] = F.binary_cross_entropy_with_logits(net(x)[:, 0], y).item()
    return {**first, "entropy": -(0.1 * math.log(0.1) + 0.9 * math.log(0.9))}
