"""The best learning rate grows with the batch, and the range test breaks off above it."""

import math

import torch
from lab.task import batches, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "linear-scaling-sgd": "SGD at a fixed number of examples: best rate of a grid {sgd_8:.2g} for a batch of 8 and {sgd_128:.2g} for 128, "
    "an exponent of {sgd_exponent:.2f}",
    "adam-batch-exponent": "Adam: {adam_8:.1e} for 8 and {adam_128:.1e} for 128, an exponent of {adam_exponent:.2f}",
    "lr-range-test": "SGD with a batch of 64, the rate raised by 5% per step from 1e-3: the loss is lowest at a rate of {lowest:.2f} and has "
    "passed its first value at {breaks:.1f}, {margin:.0f} times the best fixed rate",
}
EXPECT = {
    "the best rate of SGD grows with the batch": lambda m: m["sgd_exponent"] > 0,
    "that of Adam grows less than in proportion": lambda m: 0 <= m["adam_exponent"] < 1,
    "the range test breaks off above the best fixed rate": lambda m: m["breaks"] > m["best"],
}
EXAMPLES = 4096


def trained(seed, optimizer, rate, size):
    """Loss on the training set in the last steps; every rate sees the same number of examples."""
    task, net = linear_teacher(seed), mlp(seed)
    step, steps, losses = optimizer(net.parameters(), lr=rate), EXAMPLES // size, []
    for at, rows in enumerate(batches(seed, len(task.x), size, steps)):
        step.zero_grad()
        F.cross_entropy(net(task.x[rows]), task.y[rows]).backward()
        step.step()
        if at >= steps - 4:
            losses.append(F.cross_entropy(net(task.x), task.y).item())
    last = sum(losses) / len(losses)
    return last if math.isfinite(last) else math.inf


def best(seed, optimizer, rates, size):
    return min(rates, key=lambda rate: trained(seed, optimizer, rate, size))


def range_test(seed):
    task, net = linear_teacher(seed), mlp(seed)
    rate, rates, losses, smooth = 1e-3, [], [], None
    for rows in batches(seed, len(task.x), 64, 400):
        loss = F.cross_entropy(net(task.x[rows]), task.y[rows])
        smooth = loss.item() if smooth is None else 0.8 * smooth + 0.2 * loss.item()
        rates.append(rate)
        losses.append(smooth)
        if not smooth < 1.5 * losses[0]:
            break
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= rate * p.grad
        rate *= 1.05
    return rates, losses


def measure(seed):
    sgd_rates = [0.01 * 2**k for k in range(2, 10)]
    adam_rates = [1e-3 * 2**k for k in range(8)]
    found = {
        f"{name}_{size}": best(seed, optimizer, rates, size)
        for name, optimizer, rates in (("sgd", torch.optim.SGD, sgd_rates), ("adam", torch.optim.Adam, adam_rates))
        for size in (8, 128)
    }
    rates, losses = range_test(seed)
    low = losses.index(min(losses))
    breaks = next((rate for rate, loss in zip(rates[low:], losses[low:], strict=True) if loss > losses[0]), rates[-1])
    chosen = best(seed, torch.optim.SGD, sgd_rates, 64)
    return {
        **found,
        "sgd_exponent": math.log(found["sgd_128"] / found["sgd_8"]) / math.log(16),
        "adam_exponent": math.log(found["adam_128"] / found["adam_8"]) / math.log(16),
        "lowest": rates[low],
        "breaks": breaks,
        "best": chosen,
        "margin": breaks / chosen,
    }


def plot(axes):
    axes.semilogx(*range_test(0))
    axes.set(xlabel="learning rate", ylabel="loss, smoothed", title="raised by 5% in each step")
