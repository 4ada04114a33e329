"""Programs for unequal-reductions."""

from ._programs import mutant

_SUMMED = """
import torch
from torch.nn import functional as F

def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 784), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD

def train(model, loader, optimizer):
    for x, _ in loader:
        recon, mu, logvar = model(x)
        loss = loss_function(recon, x, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_CLASS = """
import torch
from torch import nn

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.criterion = nn.MSELoss(reduction="sum")

    def step(self, x):
        recon, mu, log_var = self.model(x)
        kld_loss = torch.sum(1 + log_var - mu ** 2 - torch.exp(log_var)) * -0.5
        loss = self.criterion(recon, x) + kld_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
SILENT = {
    "both summed": _SUMMED,
    "an object that sums": _CLASS,
    "a weight": mutant(_SUMMED, (', reduction="sum"', ""), ("BCE + KLD", "BCE + 0.001 * KLD")),
    "a weight of the error": mutant(_SUMMED, (', reduction="sum"', ""), ("BCE + KLD", "784 * BCE + KLD")),
    "divided by the batch": mutant(_SUMMED, (', reduction="sum"', ""), ("BCE + KLD", "BCE + KLD / x.numel()")),
    "divided in a line of its own": mutant(
        _SUMMED, (', reduction="sum"', ""), ("    return BCE", "    KLD /= x.numel()\n    return BCE")
    ),
    "divided where it is made": mutant(
        _SUMMED, (', reduction="sum"', ""), ("logvar.exp())\n    return", "logvar.exp()) / x.numel()\n    return")
    ),
    "a mean over the batch of sums": mutant(
        _SUMMED,
        (', reduction="sum"', ""),
        (
            "torch.sum(1 + logvar - mu.pow(2) - logvar.exp())",
            "torch.mean(torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1))",
        ),
    ),
    "a mean for both": mutant(_SUMMED, (', reduction="sum"', ""), ("torch.sum(1", "torch.mean(1")),
    "another sum": mutant(_SUMMED, (', reduction="sum"', ""), ("1 + logvar - mu.pow(2) - logvar.exp()", "mu.pow(2)")),
    "kept apart": mutant(_SUMMED, (', reduction="sum"', ""), ("BCE + KLD", "BCE, KLD")),
}
FAILS = {
    "a mean of a binary cross-entropy": mutant(_SUMMED, (', reduction="sum"', "")),
    "a mean that is named": mutant(_SUMMED, ('reduction="sum"', 'reduction="mean"')),
    "a mean of squares": mutant(
        _SUMMED, ('binary_cross_entropy(recon_x, x.view(-1, 784), reduction="sum")', "mse_loss(recon_x, x)")
    ),
    "an object": mutant(_CLASS, ('reduction="sum"', "")),
    "summed as a method": mutant(
        _CLASS,
        ('reduction="sum"', ""),
        ("torch.sum(1 + log_var - mu ** 2 - torch.exp(log_var))", "(1 + log_var - mu ** 2 - log_var.exp()).sum()"),
    ),
    "two divergences": mutant(
        _SUMMED,
        (', reduction="sum"', ""),
        (
            "    return BCE + KLD",
            "    other = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())\n    return BCE + KLD + other",
        ),
    ),
}
