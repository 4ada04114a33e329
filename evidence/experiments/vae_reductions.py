"""A mean squared error beside a summed KL divergence: the code of an autoencoder is driven to the prior.

Data lie on a ring, carried into 32 dimensions. Each of two autoencoders sees the same batches for 1,500 steps; one adds the mean
over all values to the sum of the divergence over the batch, the other sums both.
"""

import torch
from torch import nn

CLAIMS = {
    "mean-beside-summed-divergence": "data on a ring in 32 dimensions, 1,500 Adam steps: with the mean of the error beside the "
    "summed divergence the code keeps {mixed_kl:.4f} nats and {mixed_error:.0%} of the variance is left unexplained; with both "
    "summed {summed_kl:.1f} nats and {summed_error:.0%}",
}
EXPECT = {
    "the code is at the prior": lambda m: m["mixed_kl"] < 0.01,
    "the decoder gives the mean": lambda m: m["mixed_error"] > 0.95,
    "with both summed the code says where on the ring": lambda m: m["summed_kl"] > 1,
    "and most of the variance is explained": lambda m: m["summed_error"] < 0.3,
}


def ring(count, draws):
    angle = torch.rand(count, generator=draws) * 2 * torch.pi
    carry = torch.randn(2, 32, generator=torch.Generator().manual_seed(7))
    return torch.stack([angle.cos(), angle.sin()], 1) @ carry


def fitted(seed, reduction):
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 4))
    decoder = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 32))
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
    draws = torch.Generator().manual_seed(seed)
    for _ in range(1500):
        x = ring(64, draws)
        mu, logvar = encoder(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        error = nn.functional.mse_loss(decoder(z), x, reduction=reduction)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        optimizer.zero_grad()
        (error + kl).backward()
        optimizer.step()
    with torch.no_grad():
        x = ring(1000, draws)
        mu, logvar = encoder(x).chunk(2, 1)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        left = (decoder(mu) - x).square().sum() / (x - x.mean(0)).square().sum()
    return kl.item(), left.item()


def measure(seed):
    mixed, summed = fitted(seed, "mean"), fitted(seed, "sum")
    return {"mixed_kl": mixed[0], "mixed_error": mixed[1], "summed_kl": summed[0], "summed_error": summed[1]}
