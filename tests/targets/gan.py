"""A vocoder-shaped GAN: one generator, two discriminators under one optimizer, feature matching.

The generator's backward leaves gradients in the discriminators; they are cleared before the
discriminators' own backward.
"""

import itertools
import math

import torch
from torch import nn
from torch.nn import functional as F

SAMPLES, FRAMES, HOP = 256, 32, 8


def voices(count):
    """Waveforms (count, 1, SAMPLES) and envelopes at the frame rate (count, 2, FRAMES)."""
    t = torch.arange(SAMPLES) / SAMPLES
    pitch = torch.rand(count, 1) * 6 + 4
    envelope = 0.2 + 0.8 * torch.sin(math.pi * (t + torch.rand(count, 1))).abs()
    wave = envelope * torch.sin(2 * math.pi * pitch * t)
    frames = envelope.view(count, FRAMES, HOP).mean(2)
    return wave.unsqueeze(1), torch.stack([frames, (pitch / 10).expand(-1, FRAMES)], dim=1)


class Generator(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.pre = nn.Conv1d(2, channels, 5, padding=2)
        self.up = nn.ConvTranspose1d(channels, channels, 2 * HOP, HOP, padding=HOP // 2)
        self.mix = nn.Conv1d(channels, channels, 9, padding=4)
        self.post = nn.Conv1d(channels, 1, 9, padding=4)

    def forward(self, frames):
        x = F.leaky_relu(self.up(F.leaky_relu(self.pre(frames), 0.1)), 0.1)
        return torch.tanh(self.post(x + F.leaky_relu(self.mix(x), 0.1)))


class Discriminator(nn.Module):
    """Sees the waveform folded to a given period; returns scores and inner features."""

    def __init__(self, period, channels=12):
        super().__init__()
        self.period = period
        self.layers = nn.ModuleList(
            [nn.Conv2d(1, channels, (5, 1), (2, 1)), nn.Conv2d(channels, channels, (5, 1), (2, 1))]
        )
        self.score = nn.Conv2d(channels, 1, (3, 1), padding=(1, 0))

    def forward(self, wave):
        x = wave.view(len(wave), 1, -1, self.period)
        features = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            features.append(x)
        return self.score(x).flatten(1), features


def spectrum(wave):
    window = torch.hann_window(64)
    return torch.stft(wave.squeeze(1), 64, 16, window=window, return_complex=True).abs().clamp(min=1e-3).log()


def main():
    torch.manual_seed(1)
    generator = Generator()
    by_two, by_four = Discriminator(2), Discriminator(4)
    judges = (by_two, by_four)
    optim_g = torch.optim.AdamW(generator.parameters(), lr=3e-3, betas=(0.8, 0.99))
    optim_d = torch.optim.AdamW(
        itertools.chain(by_two.parameters(), by_four.parameters()), lr=1e-3, betas=(0.8, 0.99)
    )
    history = []
    for step in range(60):
        real, frames = voices(16)
        fake = generator(frames)

        optim_d.zero_grad()
        loss_d = 0.0
        for judge in judges:
            score_real, _ = judge(real)
            score_fake, _ = judge(fake.detach())
            loss_d = loss_d + ((1 - score_real) ** 2).mean() + (score_fake**2).mean()
        loss_d.backward()
        optim_d.step()

        optim_g.zero_grad()
        loss_mel = F.l1_loss(spectrum(real), spectrum(fake))
        loss_g = 10 * loss_mel
        for judge in judges:
            _, features_real = judge(real)
            score_fake, features_fake = judge(fake)
            loss_g = loss_g + ((1 - score_fake) ** 2).mean()
            loss_g = loss_g + sum(F.l1_loss(a, b.detach()) for a, b in zip(features_fake, features_real))
        loss_g.backward()
        optim_g.step()

        history.append(loss_mel.item())
        if step % 10 == 0:
            print(f"step {step} d {loss_d.item():.3f} g {loss_g.item():.3f} spectrum {history[-1]:.3f}")
    print(f"loss {history[0]:.4f} -> {history[-1]:.4f}")


if __name__ == "__main__":
    main()
