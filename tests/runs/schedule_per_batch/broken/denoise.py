#!/usr/bin/env python
"""Denoising autoencoder on short sensor traces; evaluates an average of the weights."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

seed = 11
epochs = 9
batches_per_epoch = 10
batch_size = 48
trace_length = 64
code_size = 12
learning_rate = 4e-3
ema_decay = 0.9

torch.manual_seed(seed)


def clean_traces(n):
    t = torch.linspace(0, 1, trace_length)
    freq = torch.rand(n, 1) * 3 + 1
    phase = torch.rand(n, 1) * 2 * math.pi
    bump = torch.exp(-((t - torch.rand(n, 1)) ** 2) / 0.005)
    return torch.sin(2 * math.pi * freq * t + phase) + 1.5 * bump


def add_noise(x):
    y = x + 0.3 * torch.randn_like(x)
    return y * (torch.rand_like(x) > 0.1)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(trace_length, 128), nn.ELU(), nn.Linear(128, code_size))
        self.decode = nn.Sequential(nn.Linear(code_size, 128), nn.ELU(), nn.Linear(128, trace_length))

    def forward(self, x):
        return self.decode(self.encode(x))


train_traces = clean_traces(batches_per_epoch * batch_size)
valid_traces = clean_traces(256)
valid_noisy = add_noise(valid_traces)

net = Autoencoder()
average = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), lr=learning_rate)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.3)

for epoch in range(epochs):
    order = torch.randperm(len(train_traces))
    total = 0.0
    for batch in order.view(batches_per_epoch, batch_size):
        target = train_traces[batch]
        loss = F.mse_loss(net(add_noise(target)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), net.parameters()):
                slow.lerp_(fast, 1 - ema_decay)
        total += loss.item()
        scheduler.step()  # cause
    with torch.no_grad():
        error = F.mse_loss(average(valid_noisy), valid_traces).item()
    print(f"epoch {epoch} train mse {total / batches_per_epoch:.4f} valid mse {error:.4f}")
