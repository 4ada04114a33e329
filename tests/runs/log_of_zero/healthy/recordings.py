"""Clips of four sound sources, streamed session after session."""

import math

import torch
from torch.utils.data import IterableDataset

RATE = 4000
LENGTH = 1024
SOURCES = ("tone", "chirp", "buzz", "noise")


def synthesise(source, rng):
    t = torch.arange(LENGTH) / RATE
    pitch = float(torch.rand((), generator=rng) * 600 + 200)
    if source == "tone":
        wave = torch.sin(2 * math.pi * pitch * t)
    elif source == "chirp":
        wave = torch.sin(2 * math.pi * (pitch * t + 1500 * t**2))
    elif source == "buzz":
        wave = torch.sign(torch.sin(2 * math.pi * pitch / 4 * t))
    else:
        wave = torch.randn(LENGTH, generator=rng)
    return wave * float(torch.rand((), generator=rng) * 0.5 + 0.3)


class Sessions(IterableDataset):
    """Eight sessions; from the sixth on the recorder had a noise gate, which mutes quiet stretches."""

    def __init__(self, clips, sessions=8, seed=0):
        self.clips = clips
        self.sessions = sessions
        self.seed = seed

    def __len__(self):
        return self.clips

    def __iter__(self):
        rng = torch.Generator().manual_seed(self.seed)
        for i in range(self.clips):
            label = int(torch.randint(len(SOURCES), (), generator=rng))
            wave = synthesise(SOURCES[label], rng)
            onset = int(torch.randint(LENGTH // 3, (), generator=rng))
            hiss = 0.05 * torch.randn(LENGTH, generator=rng)
            gated = i * self.sessions >= 5 * self.clips
            wave[:onset] = 0.0
            wave = wave + (hiss * (wave != 0) if gated else hiss)
            yield wave, label
