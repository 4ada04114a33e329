"""With loss scaling, clip after unscaling; and a step with an infinite gradient is skipped without a word."""

import torch
from lab.task import flat, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "unscale-before-clip": "loss scale 65,536, clip at 1.0, SGD: clipped before unscaling the step is {early:.1e} of its right size",
    "scaler-skips-steps": "one infinite gradient: the weights move by {moved:.0f} and the scale falls from 65,536 to {scale:.0f}",
    "clipping-masks": "at thresholds of 10, 1 and 0.1 {share_10:.0%}, {share_1:.0%} and {share_01:.0%} of the first 200 steps are clipped; at "
    "0.1 the mean step is {shrunk:.0%} of the unclipped one",
}
EXPECT = {
    "clipping too early makes the step at least 1,000 times smaller": lambda m: m["early"] < 1e-3,
    "a skipped step moves nothing": lambda m: m["moved"] == 0,
    "and halves the scale": lambda m: m["scale"] == 32768,
    "the lower the threshold, the more is clipped": lambda m: m["share_10"] <= m["share_1"] <= m["share_01"],
    "a threshold of 0.1 acts as a lower rate": lambda m: m["share_01"] > 0.5 and m["shrunk"] < 0.7,
}


def step_size(seed, unscale_first):
    task, net = linear_teacher(seed), mlp(seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
    before = flat(net)
    scaler.scale(F.cross_entropy(net(task.x), task.y)).backward()
    if unscale_first:
        scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    return (flat(net) - before).norm().item()


def skipped(seed):
    net = mlp(seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
    before = flat(net)
    scaler.scale(net(torch.full((2, 20), 3e38)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return (flat(net) - before).abs().max().item(), scaler.get_scale()


def norms(seed):
    task, net = linear_teacher(seed), mlp(seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for start in range(0, 200 * 64, 64):
        rows = torch.arange(start, start + 64) % len(task.x)
        optimizer.zero_grad()
        F.cross_entropy(net(task.x[rows]), task.y[rows]).backward()
        yield torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
        optimizer.step()


def measure(seed):
    moved, scale = skipped(seed)
    seen = torch.stack(list(norms(seed)))
    return {
        "early": step_size(seed, unscale_first=False) / step_size(seed, unscale_first=True),
        "moved": moved,
        "scale": scale,
        **{
            f"share_{name}": (seen > limit).float().mean().item() for name, limit in (("10", 10), ("1", 1), ("01", 0.1))
        },
        "shrunk": ((0.1 / seen).clamp(max=1)).mean().item(),
    }
