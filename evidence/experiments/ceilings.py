"""The best value that data and metric allow is known before training; a metric may stand still while the loss falls."""

import torch
from lab.task import accuracy, fit, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "metric-ceiling": "a perfect model on labels of which a tenth is wrong: accuracy {perfect:.2f}; inputs that come with two labels, 3 to 1: "
    "majority vote per input {majority:.2f}, trained network {trained:.2f}; regression with noise of variance 0.25: loss {noise_floor:.2f}",
    "metric-is-quantised": "rare class, threshold 0.5: while the loss falls by {loss_fell:.0%} in the first {steps:.0f} steps, accuracy moves by "
    "{accuracy_moved:.3f} and a rank metric by {rank_moved:.2f}",
}
EXPECT = {
    "a perfect model scores 0.90": lambda m: abs(m["perfect"] - 0.9) < 0.02,
    "training ends at the majority vote": lambda m: abs(m["trained"] - m["majority"]) < 0.03,
    "the regression ends at the variance of the noise": lambda m: abs(m["noise_floor"] / 0.25 - 1) < 0.15,
    "the accuracy hardly moves": lambda m: m["accuracy_moved"] < 0.01,
    "the loss and the rank do": lambda m: m["loss_fell"] > 0.3 and m["rank_moved"] > 0.05,
}


def ambiguous(seed):
    """400 inputs, each four times, with one of the four labels turned."""
    task = linear_teacher(seed, train=400, held=10)
    x, y = task.x.repeat(4, 1), task.y.repeat(4)
    y[:400] = (y[:400] + 1) % 10
    net = mlp(seed, width=256)
    fit(net, x, y, seed=seed, steps=600, size=128)
    return accuracy(net, x, y)


def noise_floor(seed):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(8192, 2, generator=draw)
    y = x.sum(1, keepdim=True) + 0.5 * torch.randn(8192, 1, generator=draw)
    net = mlp(seed, inputs=2, outputs=1)
    return sum(fit(net, x, y, seed=seed, steps=600, size=256, loss=F.mse_loss)[-50:]) / 50


def quantised(seed, steps=25):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(4000, 20, generator=draw)
    hidden = x[:, 0] + 0.7 * torch.randn(4000, generator=draw)
    y = (hidden > hidden.quantile(0.98)).float()
    net = mlp(seed, outputs=1)
    torch.nn.init.constant_(net[2].bias, -1.0)
    seen = []
    step = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(steps + 1):
        scores = net(x)[:, 0]
        loss = F.binary_cross_entropy_with_logits(scores, y)
        rank = (scores[y == 1][:, None] > scores[y == 0][None]).float().mean().item()
        seen.append((loss.item(), ((scores > 0) == (y > 0)).float().mean().item(), rank))
        step.zero_grad()
        loss.backward()
        step.step()
    (loss, right, rank), (last_loss, last_right, last_rank) = seen[0], seen[-1]
    return {
        "loss_fell": 1 - last_loss / loss, "accuracy_moved": abs(last_right - right), "rank_moved": last_rank - rank,
        "steps": steps,
    }  # fmt: skip


def measure(seed):
    wrong = torch.rand(4000, generator=torch.Generator().manual_seed(seed)) < 0.1
    return {
        "perfect": 1 - wrong.float().mean().item(),
        "majority": 0.75,
        "trained": ambiguous(seed),
        "noise_floor": noise_floor(seed),
        **quantised(seed),
    }
