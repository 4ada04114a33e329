"""KLDivLoss takes log-probabilities first, and its default mean does not divide by the batch."""

import torch
from torch.nn import functional as F

CLAIMS = {
    "kl-argument-order": "two discrete Gaussians, closed form {truth:.3f}: batchmean gives {right:.3f}, the default mean over 100 "
    "bins {mean:.4f}, probabilities in the first place {probabilities:.2f}, and the other order {swapped:.3f}",
}
SEEDS = 1
EXPECT = {
    "batchmean agrees with the closed form to 1%": lambda m: abs(m["right"] / m["truth"] - 1) < 0.01,
    "the default mean is smaller by the number of bins": lambda m: abs(m["mean"] * 100 / m["right"] - 1) < 1e-3,
    "probabilities in the first place give a negative number": lambda m: m["probabilities"] < 0,
    "the order matters": lambda m: abs(m["swapped"] / m["right"] - 1) > 0.1,
}


def measure(seed):
    grid = torch.linspace(-8, 8, 100)
    p, q = ((-((grid - mean) ** 2) / (2 * std**2)).softmax(0)[None] for mean, std in ((0.0, 1.0), (1.0, 1.5)))
    return {
        "truth": torch.tensor(1.5).log().item() + (1 + 1) / (2 * 1.5**2) - 0.5,  # KL of N(0, 1) from N(1, 1.5)
        "right": F.kl_div(q.log(), p, reduction="batchmean").item(),
        "swapped": F.kl_div(p.log(), q, reduction="batchmean").item(),
        "mean": F.kl_div(q.log(), p, reduction="mean").item(),
        "probabilities": F.kl_div(q, p, reduction="batchmean").item(),
    }
