"""A variational autoencoder of small generated pictures, its loss written by hand."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
SIDE, LATENT = 8, 4


def squares(count, seed):
    """Bright rectangles on dark ground, values in [0, 1]. Shape (count, 64)."""
    draw = torch.Generator().manual_seed(seed)
    rows, columns = torch.arange(SIDE)[None, :, None], torch.arange(SIDE)[None, None, :]
    top, left = torch.randint(0, 5, (2, count, 1, 1), generator=draw)
    height, width = torch.randint(2, 5, (2, count, 1, 1), generator=draw)
    inside = (rows >= top) & (rows < top + height) & (columns >= left) & (columns < left + width)
    noise = 0.1 * torch.rand(count, SIDE, SIDE, generator=draw)
    return (0.85 * inside + noise).flatten(1)


class VAE(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.down = nn.ModuleList([nn.Linear(SIDE * SIDE, width), nn.Linear(width, width)])
        self.mean, self.log_variance = nn.Linear(width, LATENT), nn.Linear(width, LATENT)
        self.norm = nn.LayerNorm(LATENT)
        self.drop = nn.Dropout(0.02)
        self.up = nn.Linear(LATENT, width)
        self.out = nn.Linear(width, SIDE * SIDE)

    def encode(self, x):
        for layer in self.down:
            x = torch.relu(layer(x))
        return self.mean(x), self.log_variance(x)

    def decode(self, z):
        return torch.sigmoid(self.out(torch.relu(self.up(self.drop(z)))))

    def forward(self, x):
        mean, log_variance = self.encode(x)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance) if self.training else mean
        return self.decode(z), mean, log_variance


def elbo(x, shown, mean, log_variance):
    reconstruction = -(x * torch.log(shown + 1e-7) + (1 - x) * torch.log(1 - shown + 1e-7)).sum(1).mean()
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean()
    return reconstruction + divergence


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(elbo(x, *model(x)).item() for x in loader) / len(loader)


def main():
    train, val = squares(1024, seed=1), squares(256, seed=2)
    loader = DataLoader(train, batch_size=32, shuffle=True)
    val_loader = DataLoader(val, batch_size=64)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(7):
        model.train()
        for x in loader:
            loss = elbo(x, *model(x))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        print(f"epoch {epoch} loss {loss.item():.3f} validation {evaluate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
