import torch
from torch.utils.data import DataLoader, TensorDataset

from .registry import register

FEATURES, CLASSES = 10, 5


def measure(count, rng):
    """Ten raw measurements per wine, each on a scale of its own, and the grade that they follow."""
    hidden = torch.randn(count, 3, generator=rng)
    mixing = torch.randn(3, FEATURES, generator=rng)
    measured = hidden @ mixing + 0.1 * torch.randn(count, FEATURES, generator=rng)
    score = hidden[:, 0] + hidden[:, 1].abs() - 0.8
    grade = torch.bucketize(score, torch.tensor([-1.2, -0.4, 0.4, 1.2]))
    scales = torch.logspace(-1, 2, FEATURES)
    return measured * scales + 3 * scales, grade


@register("data", "wines")
def wines(count, batch_size):
    rng = torch.Generator().manual_seed(11)
    measured, grade = measure(count, rng)
    split = int(0.8 * count)
    mean, std = measured[:split].mean(0), measured[:split].std(0)
    standard = (measured - mean) / std
    train = TensorDataset(standard[:split], grade[:split])
    valid = TensorDataset(standard[split:], grade[split:])
    return DataLoader(train, batch_size, shuffle=True), DataLoader(valid, 4 * batch_size)
