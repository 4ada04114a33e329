"""A generative adversarial network for points on a ring: two optimizers, one loop."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
NOISE, WIDTH = 8, 64


def ring(count, seed):
    """Points around a circle of radius 2, standardised. Shape (count, 2)."""
    draw = torch.Generator().manual_seed(seed)
    angle = 2 * torch.pi * torch.rand(count, generator=draw)
    radius = 2 + 0.1 * torch.randn(count, generator=draw)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1) / 1.42


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(NOISE, WIDTH), nn.Linear(WIDTH, WIDTH)])
        self.norm = nn.BatchNorm1d(WIDTH)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, z):
        for layer in self.layers:
            z = F.leaky_relu(layer(z), 0.2)
        return self.out(self.norm(z))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(WIDTH, 1)

    def forward(self, x):
        x = F.leaky_relu(self.first(x), 0.2)
        x = self.drop(F.leaky_relu(self.second(x), 0.2))
        return self.out(x)


def judged(logits, real):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, 0.9 if real else 0.0))


def score(generator, discriminator, loader):
    """Mean distance of generated points from the ring, and how often real points are believed."""
    generator.eval(), discriminator.eval()
    with torch.no_grad():
        believed = torch.cat([discriminator(x) for (x,) in loader])
        made = generator(torch.randn(256, NOISE)) * 1.42
    return (made.norm(dim=1) - 2).abs().mean().item(), (believed > 0).float().mean().item()


def main():
    loader = DataLoader(TensorDataset(ring(2048, seed=1)), batch_size=64, shuffle=True, drop_last=True)
    val_loader = DataLoader(TensorDataset(ring(256, seed=2)), batch_size=64)
    generator, discriminator = Generator(), Discriminator()
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.9))
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer_g, step_size=1, gamma=0.7)
    for epoch in range(4):
        generator.train(), discriminator.train()
        for (real,) in loader:
            fake = generator(torch.randn(len(real), NOISE))
            optimizer_d.zero_grad()
            loss_d = judged(discriminator(real), True) + judged(discriminator(fake.detach()), False)
            loss_d.backward()
            optimizer_d.step()
            optimizer_g.zero_grad()
            loss_g = judged(discriminator(fake), True)
            loss_g.backward()
            optimizer_g.step()
        schedule.step()
        away, believed = score(generator, discriminator, val_loader)
        print(f"epoch {epoch} D {loss_d.item():.3f} G {loss_g.item():.3f} away {away:.3f} believed {believed:.2f}")


if __name__ == "__main__":
    main()
