"""torch.func: parameters live in a dictionary and every update makes a new one."""

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
params = {name: p.detach().clone() for name, p in net.named_parameters()}


def loss_of(params, x, y):
    return ((functional_call(net, params, (x,)) - y) ** 2).mean()


step_fn = grad_and_value(loss_of)
losses = []
for _ in range(200):
    x = torch.rand(64, 2) * 2 - 1
    y = torch.cos(2 * x[:, :1]) + 0.5 * x[:, 1:]
    grads, loss = step_fn(params, x, y)
    params = {name: p - 0.3 * grads[name] for name, p in params.items()}
    losses.append(loss.item())

per_example = vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
norms = torch.stack([g.flatten(1).norm(dim=1) for g in per_example.values()]).norm(dim=0)
print(f"largest gradient of one example {norms.max():.4f}")
print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
