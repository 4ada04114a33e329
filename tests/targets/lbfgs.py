"""L-BFGS: the optimizer calls a closure that clears, computes and differentiates the loss."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 80).unsqueeze(1)
y = torch.sin(2 * x) * torch.exp(-(x**2) / 2)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


losses = [optimizer.step(closure).item() for _ in range(20)]
print(f"loss {losses[0]:.6f} -> {losses[-1]:.6f}")
