"""Programs for root-left-out."""

from ._programs import mutant

_BUFFERS = """
import torch
from torch import nn

class Diffusion(nn.Module):
    def __init__(self, betas):
        super().__init__()
        kept = torch.cumprod(1.0 - betas, dim=0)
        self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(kept))
        self.register_buffer("sqrt_one_minus_alphas_cumprod", torch.sqrt(1.0 - kept))
        self.register_buffer("sqrt_recip_alphas_cumprod", torch.sqrt(1.0 / kept))
"""
_ARRAYS = """
import numpy as np
import torch

class Schedule:
    def __init__(self, steps):
        betas = np.linspace(1e-4, 0.02, steps)
        self.alphas_bar = np.cumprod(1 - betas)
        self.sqrt_alphas_bar = np.sqrt(self.alphas_bar)
        self.sqrt_one_minus_alphas_bar = (1 - self.alphas_bar) ** 0.5

    def noisy(self, x, t, noise):
        return self.sqrt_alphas_bar[t] * x + self.sqrt_one_minus_alphas_bar[t] * noise
"""
_FUNCTION = """
import torch

def q_sample(x, t, noise, alpha_bar, extract):
    sqrt_alpha = extract(alpha_bar, t, x.shape)
    sqrt_one_minus = (1 - alpha_bar[t]).sqrt()
    loss = (sqrt_alpha * x + sqrt_one_minus * noise).mean()
    loss.backward()
    return loss
"""
SILENT = {
    "buffers": _BUFFERS,
    "arrays": _ARRAYS,
    "a function": _FUNCTION,
    "made of roots": mutant(_ARRAYS, ("(1 - self.alphas_bar) ** 0.5", "1 / self.sqrt_alphas_bar")),
    "a power": mutant(_BUFFERS, ("torch.sqrt(1.0 - kept)", "torch.pow(1.0 - kept, 0.5)")),
    "a number of them": mutant(_FUNCTION, ("sqrt_one_minus = (1 - alpha_bar[t]).sqrt()", "sqrt_n = len(x) - 1\n    sqrt_one_minus = alpha_bar[t].sqrt()")),
}  # fmt: skip
FAILS = {
    "a buffer": mutant(_BUFFERS, ("torch.sqrt(1.0 - kept)", "1.0 - kept")),
    "a quotient": mutant(_BUFFERS, ("torch.sqrt(1.0 / kept)", "(1.0 / kept).float()")),
    "an attribute": mutant(_ARRAYS, ("(1 - self.alphas_bar) ** 0.5", "1 - self.alphas_bar")),
    "a variable": mutant(_FUNCTION, ("(1 - alpha_bar[t]).sqrt()", "(1 - alpha_bar[t])")),
    "clamped": mutant(_FUNCTION, ("(1 - alpha_bar[t]).sqrt()", "(1 - alpha_bar[t]).clamp(min=0)")),
}  # fmt: skip
_VAE = """
import torch
from torch import nn

class VAE(nn.Module):
    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def sample(self, mean, log_var):
        return mean + torch.randn_like(mean) * (log_var / 2).exp()

    def loss(self, mu, logvar):
        return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())

    def density(self, x, mu, log_std):
        sigma = log_std.exp()
        return (x - mu) / sigma
"""
SILENT["a variational autoencoder"] = _VAE
SILENT["a variance"] = mutant(
    _VAE, ("sigma = log_std.exp()", "var = log_std.mul(2).exp()"), ("(x - mu) / sigma", "(x - mu) / var.sqrt()")
)
FAILS["a deviation"] = mutant(_VAE, ("torch.exp(0.5 * logvar)", "torch.exp(logvar)"))
FAILS["a factor of noise"] = mutant(_VAE, ("(log_var / 2).exp()", "log_var.exp()"))

SILENT["a variance by its name"] = """
import torch

def losses(mu, log_var, eps, x):
    sigma_sq = torch.exp(log_var)
    kl = 0.5 * (sigma_sq + mu**2 - 1 - log_var).sum()
    nll = (torch.exp(-log_var) * (eps - x) ** 2 + log_var).mean()
    (kl + nll).backward()
"""
