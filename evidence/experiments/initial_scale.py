"""The scale of the initial weights decides whether a signal crosses twenty layers, and zeros never part."""

import torch
from lab.task import fit, linear_teacher, mlp
from torch import nn

CLAIMS = {
    "he-init-relu": "standard deviation of the activations after 20 ReLU layers of width 256: {he:.2f} with sqrt(2/n), {lecun:.1e} "
    "with sqrt(1/n), {small:.0e} with 0.01",
    "zero-init-symmetry": "after 200 steps the hidden units of a network that began at equal weights are still alike: rank of the "
    "first layer {equal_rank:.0f}, from random weights {random_rank:.0f}",
    "zero-residual-branches": "gradient norm at the first of 20 residual blocks at initialisation: {plain:.0f} times that at the "
    "last, {zeroed:.1f} times when each branch starts at zero",
}
EXPECT = {
    "sqrt(2/n) keeps the scale within a factor of three": lambda m: 1 / 3 < m["he"] < 3,
    "sqrt(1/n) loses more than a factor of 100": lambda m: m["lecun"] < 0.01,
    "0.01 loses all of it": lambda m: m["small"] < 1e-10,
    "equal weights stay of rank one": lambda m: m["equal_rank"] == 1,
    "random weights have full rank": lambda m: m["random_rank"] == 20,
    "zeroed branches keep the gradient within a factor of two": lambda m: m["zeroed"] < 2 < m["plain"],
}


@torch.no_grad()
def after_layers(seed, std):
    torch.manual_seed(seed)
    x = torch.randn(64, 256)
    for _ in range(20):
        x = (x @ (std * torch.randn(256, 256))).relu()
    return x.std().item()


def rank(seed, equal):
    task, net = linear_teacher(seed), mlp(seed)
    if equal:
        for part in (net[0], net[2]):
            nn.init.constant_(part.weight, 0.05)
            nn.init.zeros_(part.bias)
    fit(net, task.x, task.y, seed=seed, steps=200)
    return int(torch.linalg.matrix_rank(net[0].weight.detach(), rtol=1e-4))


def first_over_last(seed, zero):
    """How much larger the gradient is at the input of the first residual block than behind the last."""
    torch.manual_seed(seed)
    blocks = [nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)) for _ in range(20)]
    x = start = torch.randn(64, 64, requires_grad=True)
    for block in blocks:
        nn.init.kaiming_normal_(block[0].weight)
        (nn.init.zeros_ if zero else nn.init.kaiming_normal_)(block[2].weight)
        x = x + block(x)
    x.retain_grad()
    (x * torch.randn(64, 64)).sum().backward()
    return (start.grad.norm() / x.grad.norm()).item()


def measure(seed):
    return {
        "he": after_layers(seed, (2 / 256) ** 0.5),
        "lecun": after_layers(seed, (1 / 256) ** 0.5),
        "small": after_layers(seed, 0.01),
        "equal_rank": rank(seed, True),
        "random_rank": rank(seed, False),
        "plain": first_over_last(seed, False),
        "zeroed": first_over_last(seed, True),
    }
