import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, pixels, hidden, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.Tanh(), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, pixels))
        self.latent = latent

    def encode(self, pictures):
        mean, log_variance = self.encoder(pictures).chunk(2, dim=1)
        return mean, log_variance.clamp(-8, 4)

    def forward(self, pictures):
        mean, log_variance = self.encode(pictures)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), mean, log_variance

    @torch.no_grad()
    def sample(self, count):
        return self.decoder(torch.randn(count, self.latent)).sigmoid()
