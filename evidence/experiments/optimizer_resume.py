"""Loading the state of an optimizer brings back its old settings; a resume with a fresh sampler repeats data."""

import torch
from lab.task import linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "optimizer-state-reload": "built with a rate of {asked:.0e} and beta2 {asked_beta:.2f}, after loading the saved state it has "
    "{got:.0e} and {got_beta:.3f}",
    "resume-repeats-data": "resumed in the middle of an epoch, the first batches have a training loss of {repeated:.2f} when the order "
    "restarts and {right:.2f} when it continues; {again:.0%} of the examples are seen twice in that epoch",
}
EXPECT = {
    "the saved rate wins": lambda m: m["got"] != m["asked"],
    "the saved beta wins": lambda m: m["got_beta"] != m["asked_beta"],
    "repeated data has a lower loss": lambda m: m["repeated"] < m["right"],
    "half of the epoch is seen twice": lambda m: abs(m["again"] - 0.5) < 0.01,
}


def reloaded(seed):
    saved = torch.optim.Adam(mlp(seed).parameters(), lr=1e-3)
    fresh = torch.optim.Adam(mlp(seed).parameters(), lr=1e-5, betas=(0.9, 0.95))
    fresh.load_state_dict(saved.state_dict())
    return fresh.param_groups[0]


def resumed(seed, restart):
    """Mean loss of the 8 batches after a resume; eight passes over the first half make it known by heart."""
    task, net = linear_teacher(seed), mlp(seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    order = torch.randperm(512, generator=torch.Generator().manual_seed(seed))
    first, second = order[:256], order[256:]
    after = first if restart else second
    losses = []
    for rows in [*(first.split(32) * 8), *after.split(32)]:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(task.x[rows]), task.y[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses[-8:]) / 8, torch.isin(after, first).float().mean().item() / 2


def measure(seed):
    group = reloaded(seed)
    repeated, again = resumed(seed, restart=True)
    return {
        "asked": 1e-5, "got": group["lr"], "asked_beta": 0.95, "got_beta": group["betas"][1],
        "repeated": repeated, "right": resumed(seed, restart=False)[0], "again": again,
    }  # fmt: skip
