"""With one positive in a hundred a model that knows nothing is 99% accurate; a rank metric is not fooled."""

import torch
from lab.task import mlp
from torch.nn import functional as F

CLAIMS = {
    "class-imbalance-accuracy": "one positive in a hundred: accuracy {constant:.3f} for the constant answer, {learned:.3f} for a model "
    "that ranks positives above negatives in {auc:.0%} of the pairs (the constant: {constant_auc:.0%})"
}
EXPECT = {
    "the constant is at least 98% accurate": lambda m: m["constant"] > 0.98,
    "the model is not much more accurate": lambda m: m["learned"] - m["constant"] < 0.01,
    "and yet it ranks far above chance": lambda m: m["auc"] > 0.8 and m["constant_auc"] == 0.5,
}


def pairs_right(scores, y):
    """Area under the ROC curve: the share of pairs of a positive and a negative in the right order, ties as half."""
    difference = scores[y == 1][:, None] - scores[y == 0][None]
    return ((difference > 0).float() + 0.5 * (difference == 0).float()).mean().item()


def measure(seed):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(8000, 20, generator=draw)
    hidden = x[:, 0] + x[:, 1] + 1.2 * torch.randn(8000, generator=draw)
    y = (hidden > hidden.quantile(0.99)).long()
    net = mlp(seed, width=16, outputs=1)
    step = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(150):
        step.zero_grad()
        F.binary_cross_entropy_with_logits(net(x[:4000])[:, 0], y[:4000].float()).backward()
        step.step()
    scores, held = net(x[4000:]).detach()[:, 0], y[4000:]
    return {
        "constant": (held == 0).float().mean().item(),
        "learned": ((scores > 0).long() == held).float().mean().item(),
        "auc": pairs_right(scores, held),
        "constant_auc": pairs_right(torch.zeros_like(scores), held),
    }
