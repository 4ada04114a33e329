import torch


def jitter(pictures, amount=0.1):
    gain = 1 + amount * torch.randn(len(pictures), 1, 1)
    return pictures * gain + amount * torch.randn(len(pictures), 1, 1)


def regroup(pictures, targets):
    """Order the batch anew: ghost batches are its consecutive parts."""
    order = torch.randperm(len(pictures))
    return pictures[order], targets[order]
