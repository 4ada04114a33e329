"""The task that most experiments train on: ten classes, drawn by a fixed linear teacher from 20 Gaussian inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

INPUTS, CLASSES = 20, 10
Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Task:
    """Inputs of shape (N, 20) and labels of shape (N,); `held_x` and `held_y` are never trained on."""

    x: Tensor
    y: Tensor
    held_x: Tensor
    held_y: Tensor


def linear_teacher(seed: int, train: int = 512, held: int = 2000, classes: int = CLASSES) -> Task:
    """The teacher is the same for every seed; the examples differ."""
    teacher = torch.randn(INPUTS, classes, generator=torch.Generator().manual_seed(12345))
    x = torch.randn(train + held, INPUTS, generator=torch.Generator().manual_seed(seed))
    y = (x @ teacher).argmax(1)
    return Task(x[:train], y[:train], x[train:], y[train:])


def mlp(seed: int, *, inputs: int = INPUTS, width: int = 64, outputs: int = CLASSES) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))


def batches(seed: int, examples: int, size: int, steps: int) -> list[Tensor]:
    """`steps` index tensors of `size` examples each, drawn epoch by epoch without replacement."""
    draw = torch.Generator().manual_seed(1000 + seed)
    order = [torch.randperm(examples, generator=draw) for _ in range(steps * size // examples + 1)]
    return list(torch.cat(order).split(size))[:steps]


def fit(
    net: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    seed: int = 0,
    steps: int = 400,
    size: int = 64,
    loss: Loss = F.cross_entropy,
    optimizer: torch.optim.Optimizer | None = None,
) -> list[float]:
    """Trains in place, Adam at 1e-2 unless told otherwise, and returns the loss of every step."""
    optimizer = optimizer or torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for rows in batches(seed, len(x), min(size, len(x)), steps):
        optimizer.zero_grad()
        value = loss(net(x[rows]), y[rows])
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


@torch.no_grad()
def accuracy(net: nn.Module, x: Tensor, y: Tensor) -> float:
    """Share of right answers, 0 to 1, in the mode that the network is in."""
    return (net(x).argmax(1) == y).float().mean().item()


def flat(net: nn.Module) -> Tensor:
    """All weights as one vector, detached."""
    return torch.cat([p.detach().flatten() for p in net.parameters()])


def gradient(net: nn.Module) -> Tensor:
    """All gradients as one vector; the parameters without one count as zero."""
    return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in net.parameters()])
