"""What the log of a healthy run looks like, and how a rate near the edge of stability changes it."""

import torch
from lab.task import batches, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "healthy-log-shape": "SGD at a rate of 0.2: held-out loss falls in {calm_falls:.0%} of ten stretches, the greatest gradient "
    "norm is {calm_spike:.1f} times the median; at ten times the rate {edge_spike:.1f} times, and the training loss rises in {edge_rises:.0%} of the steps "
    "by more than a tenth ({calm_rises:.0%} at the lower rate)"
}
EXPECT = {
    "the held-out loss falls in at least seven of ten stretches": lambda m: m["calm_falls"] >= 0.7,
    "at the edge there are larger spikes": lambda m: m["edge_spike"] > m["calm_spike"],
    "and the loss rises more often": lambda m: m["edge_rises"] > m["calm_rises"],
}


def run(seed, rate, steps=400):
    """Losses on the training set, held-out losses and gradient norms of each step."""
    task, net, log = linear_teacher(seed), mlp(seed), []
    step = torch.optim.SGD(net.parameters(), lr=rate)
    for rows in batches(seed, len(task.x), 256, steps):
        step.zero_grad()
        loss = F.cross_entropy(net(task.x[rows]), task.y[rows])
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
        step.step()
        with torch.no_grad():
            held = F.cross_entropy(net(task.held_x[:500]), task.held_y[:500]).item()
        log.append((loss.item(), held, norm.item()))
    return torch.tensor(log).T


def rises(losses):
    return (losses[1:] > 1.1 * losses[:-1]).float().mean().item()


def spike(norms):
    later = norms[20:]
    return (later.max() / later.median()).item()


def measure(seed):
    calm, edge = run(seed, 0.2), run(seed, 2.0)
    held = calm[1].unflatten(0, (10, 40)).mean(1)
    return {
        "calm_falls": (held[1:] < held[:-1]).float().mean().item(),
        "calm_spike": spike(calm[2]), "edge_spike": spike(edge[2]),
        "calm_rises": rises(calm[0]), "edge_rises": rises(edge[0]),
    }  # fmt: skip


def plot(axes):
    for name, rate in (("rate 0.2", 0.2), ("rate 2", 2.0)):
        axes.semilogy(run(0, rate)[2], label=name, linewidth=0.8)
    axes.set(xlabel="step", ylabel="gradient norm")
    axes.legend()
