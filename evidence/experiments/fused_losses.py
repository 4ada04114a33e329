"""Written out, log of softmax and log of sigmoid underflow; the fused functions do not."""

import torch
from torch.nn import functional as F

CLAIMS = {
    "log-of-softmax-underflows": "logits [200, 0]: log of softmax gives {naive}, log_softmax {fused:.0f}",
    "bce-with-logits": "logit 200, target 0: sigmoid and log give a gradient of {split_gradient:.0f}, the fused loss "
    "{fused_gradient:.0f} of a loss of {fused_loss:.0f}",
    "stable-softmax-max": "exp(1000) by hand gives {by_hand}; with the maximum subtracted {shifted:.0f}",
    "nll-wants-log-probs": "on probabilities the loss is {nll_probabilities:.2f}, below zero, and on logits of std 5 "
    "{nll_logits:.2f}; on log-probabilities {nll_right:.2f}",
}
SEEDS = 1
EXPECT = {
    "log of softmax is -inf": lambda m: m["naive"] == float("-inf"),
    "log_softmax is exact": lambda m: m["fused"] == -200,
    "the split sigmoid has no gradient left or a broken one": lambda m: not m["split_gradient"] > 0.5,
    "the fused one has a gradient of 1": lambda m: m["fused_gradient"] == 1,
    "softmax by hand is nan": lambda m: m["by_hand"] != m["by_hand"],
    "NLL of probabilities is negative": lambda m: -1 <= m["nll_probabilities"] < 0,
}


def measure(seed):
    scores = torch.tensor([200.0, 0.0])
    split, fused = (torch.tensor(200.0, requires_grad=True) for _ in range(2))
    F.binary_cross_entropy(split.sigmoid(), torch.tensor(0.0)).backward()
    loss = F.binary_cross_entropy_with_logits(fused, torch.tensor(0.0))
    loss.backward()
    large = torch.tensor([1000.0, 0.0])
    torch.manual_seed(seed)
    logits, labels = 5 * torch.randn(256, 10), torch.randint(10, (256,))
    return {
        "naive": scores.softmax(0).log()[1].item(),
        "fused": scores.log_softmax(0)[1].item(),
        "split_gradient": split.grad.item(),
        "fused_gradient": fused.grad.item(),
        "fused_loss": loss.item(),
        "by_hand": (large.exp() / large.exp().sum())[0].item(),
        "shifted": large.softmax(0)[0].item(),
        "nll_probabilities": F.nll_loss(logits.softmax(1), labels).item(),
        "nll_logits": F.nll_loss(logits, labels).item(),
        "nll_right": F.nll_loss(logits.log_softmax(1), labels).item(),
    }
