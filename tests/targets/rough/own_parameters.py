"""Weights that are adapted to each task before they are trained; `parameters` takes no argument and gives a list."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [(32, 1), (32,), (1, 32), (1,)]
        self.weights = nn.ParameterList(nn.Parameter(0.3 * torch.randn(size)) for size in sizes)

    def forward(self, x, weights=None):
        first, shift, last, offset = self.weights if weights is None else weights
        return F.linear(torch.tanh(F.linear(x, first, shift)), last, offset)

    def parameters(self):
        return self.weights


class Meta(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.net = Learner()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.01)
        self.rate = rate

    def forward(self, tasks):
        losses = []
        for x, y in tasks:
            gradients = torch.autograd.grad(F.mse_loss(self.net(x[:8]), y[:8]), self.net.parameters(), create_graph=True)
            fast = [one - self.rate * its for one, its in zip(self.net.parameters(), gradients)]
            losses.append(F.mse_loss(self.net(x[8:], fast), y[8:]))
        loss = torch.stack(losses).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def waves(count=4):
    for _ in range(count):
        x = 6 * torch.rand(24, 1) - 3
        yield x, (0.5 + torch.rand(1)) * torch.sin(x + 3 * torch.rand(1))


meta = Meta()
for _ in range(60):
    meta(list(waves()))
