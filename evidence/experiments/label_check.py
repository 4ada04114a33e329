"""Wrong labels are found by asking a simple model where it disagrees most; not every disagreement is one."""

import torch
from lab.task import fit, linear_teacher
from torch import nn

CLAIMS = {
    "confidence-sorted-label-check": "5% of 2,000 labels flipped: of the 100 examples to which a linear model gives its label the "
    "least probability {precision:.0%} were flipped; at random {base:.0%} would be"
}
EXPECT = {"at least five times as many as at random": lambda m: m["precision"] > 5 * m["base"]}


def measure(seed):
    task = linear_teacher(seed, train=2000, held=10)
    draw = torch.Generator().manual_seed(seed)
    flipped = torch.randperm(2000, generator=draw)[:100]
    labels = task.y.clone()
    labels[flipped] = (labels[flipped] + torch.randint(1, 10, (100,), generator=draw)) % 10
    torch.manual_seed(seed)
    net = nn.Linear(20, 10)
    fit(net, task.x, labels, seed=seed)
    confidence = net(task.x).softmax(1).gather(1, labels[:, None])[:, 0]
    suspects = confidence.argsort()[:100]
    return {"precision": torch.isin(suspects, flipped).float().mean().item(), "base": 0.05}
