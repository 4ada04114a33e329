import torch


def batch(size):
    """Inputs (size, 4) and targets (size, 1)."""
    x = torch.rand(size, 4) * 2 - 1
    return x, (x[:, :1] * x[:, 1:2] + torch.sin(3 * x[:, 2:3]))
