import math

import torch
from torch.utils.data import DataLoader, TensorDataset


def hourly_load(hours, rng):
    """Electricity-like load: a day, a week, a slow trend and noise."""
    t = torch.arange(hours, dtype=torch.float32)
    day = torch.sin(2 * math.pi * t / 24) + 0.4 * torch.sin(4 * math.pi * t / 24 + 1.0)
    week = 0.6 * torch.cos(2 * math.pi * t / 168)
    trend = 0.3 * torch.sin(2 * math.pi * t / 2000)
    return day * (1 + 0.3 * week) + week + trend + 0.1 * torch.randn(hours, generator=rng)


def windows(series, window, horizon, stride):
    length = window + horizon
    cut = series.unfold(0, length, stride)
    return cut[:, :window].unsqueeze(-1), cut[:, window:]


def build_loaders(settings):
    rng = torch.Generator().manual_seed(42)
    series = hourly_load(4200, rng)
    train, valid = series[:3600], series[3600:]
    mean, std = train.mean(), train.std()
    past, future = windows((train - mean) / std, settings.window, settings.horizon, stride=4)
    train_set = TensorDataset(past, future)
    valid_set = TensorDataset(*windows((valid - mean) / std, settings.window, settings.horizon, stride=8))
    return (
        DataLoader(train_set, settings.batch_size, shuffle=True, drop_last=True),
        DataLoader(valid_set, 256),
    )
