"""A metric averaged over batches, padding that counts as correct, and a small test set: three wrong numbers."""

import torch

CLAIMS = {
    "full-test-eval": "1,000 examples in batches of 64, the last one of 40 harder: mean of the batch accuracies {batch_mean:.3f}, "
    "accuracy {whole:.3f}; 95% of estimates from 100 examples lie within {reach_100:.3f} of the truth, from 10,000 within "
    "{reach_10000:.3f}",
    "padding-counted-as-correct": "sequences that are {padded:.0%} padding, a model that is right on {real:.0%} of the real tokens: "
    "{counted:.0%} when padding is counted",
}
EXPECT = {
    "the mean over batches differs from the mean over examples": lambda m: abs(m["batch_mean"] - m["whole"]) > 0.005,
    "a hundred examples are ten times less sure than ten thousand": lambda m: (
        7 < m["reach_100"] / m["reach_10000"] < 14
    ),
    "counted padding makes it look better by more than 0.2": lambda m: m["counted"] - m["real"] > 0.2,
}


def reach(draw, examples):
    estimates = (torch.rand(400, examples, generator=draw) < 0.8).float().mean(1)
    return 1.96 * estimates.std().item()


def measure(seed):
    draw = torch.Generator().manual_seed(seed)
    hard = torch.arange(1000) >= 960
    right = (torch.rand(1000, generator=draw) < torch.where(hard, 0.3, 0.9)).float()
    real = torch.arange(128) < torch.randint(20, 90, (256, 1), generator=draw)
    hit = torch.rand(256, 128, generator=draw) < 0.4
    return {
        "batch_mean": torch.stack([part.mean() for part in right.split(64)]).mean().item(),
        "whole": right.mean().item(),
        "reach_100": reach(draw, 100),
        "reach_10000": reach(draw, 10_000),
        "padded": (~real).float().mean().item(),
        "real": hit[real].float().mean().item(),
        "counted": (hit | ~real).float().mean().item(),
    }
