"""The model as a function of its parameters, which an ordinary optimizer holds; gradients by torch.func."""

import torch
from torch import nn
from torch.func import functional_call, grad_and_value

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
leaves = dict(net.named_parameters())
optimizer = torch.optim.Adam(leaves.values(), lr=0.01)


def loss_of(parameters, x, y):
    return nn.functional.mse_loss(functional_call(net, parameters, (x,)), y)


for step in range(150):
    x = 2 * torch.rand(64, 3) - 1
    y = torch.sin(2 * x[:, :1]) * x[:, 1:2]
    gradients, loss = grad_and_value(loss_of)(leaves, x, y)
    for name, leaf in leaves.items():
        leaf.grad = gradients[name].detach()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())
