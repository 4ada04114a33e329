"""Pen strokes of several writers: 24 points (x, y) each."""

import torch


class Signatures:
    def __init__(self, writers, per_writer, seed):
        rng = torch.Generator().manual_seed(seed)
        harmonics = torch.randn(writers, 1, 4, 2, generator=rng) / torch.arange(1, 5).view(1, 1, 4, 1)
        wobble = 0.25 * torch.randn(writers, per_writer, 4, 2, generator=rng)
        phase = torch.linspace(0, 1, 24)
        basis = torch.sin(torch.pi * torch.outer(torch.arange(1, 5).float(), phase))
        self.strokes = torch.einsum("wshc,ht->wstc", harmonics + wobble, basis)
        self.writers, self.per_writer = writers, per_writer

    def pairs(self, count, rng):
        """Half of the pairs show one writer twice, the other half two writers."""
        left = torch.randint(self.writers, (count,), generator=rng)
        shift = torch.randint(1, self.writers, (count,), generator=rng)
        genuine = torch.arange(count) < count // 2
        right = torch.where(genuine, left, (left + shift) % self.writers)
        first, second = torch.randint(self.per_writer, (2, count), generator=rng)
        return self.strokes[left, first], self.strokes[right, second], genuine.float()
