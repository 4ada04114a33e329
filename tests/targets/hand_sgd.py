"""Gradient descent by hand: no torch.optim anywhere."""

import torch

torch.manual_seed(0)
w1 = (torch.randn(3, 32) / 3**0.5).requires_grad_()
b1 = torch.zeros(32, requires_grad=True)
w2 = (torch.randn(32, 1) / 32**0.5).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
parameters = [w1, b1, w2, b2]
lr = 0.1

losses = []
for step in range(120):
    x = torch.rand(64, 3) * 2 - 1
    y = (x[:, :1] ** 2 - x[:, 1:2] * x[:, 2:]).sin()
    prediction = torch.tanh(x @ w1 + b1) @ w2 + b2
    loss = ((prediction - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= lr * p.grad
            p.grad = None
    losses.append(loss.item())
print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
