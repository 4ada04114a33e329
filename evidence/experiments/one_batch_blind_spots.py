"""Learning a batch by heart succeeds although the labels are noise or belong to other inputs."""

import torch
from lab.task import accuracy, fit, linear_teacher, mlp

CLAIMS = {
    "overfit-one-batch-blind-spots": "one batch with misaligned labels ends at a loss of {one_batch:.0e}; random labels of 512 "
    "examples are memorised to {memorised:.0%}",
    "labels-shuffled-together": "misaligned labels: one-batch loss {one_batch:.0e}, held-out accuracy {misaligned:.2f} against "
    "{aligned:.2f}",
}
EXPECT = {
    "the misaligned batch is learned": lambda m: m["one_batch"] < 0.01,
    "random labels are memorised": lambda m: m["memorised"] > 0.99,
    "misaligned labels stay near chance": lambda m: m["misaligned"] < 0.2,
    "aligned ones do not": lambda m: m["aligned"] > 0.6,
}


def measure(seed):
    task = linear_teacher(seed)
    rolled = task.y.roll(1)
    batch, whole, right, noise = mlp(seed), mlp(seed), mlp(seed), mlp(seed, width=512)
    curve = fit(batch, task.x[:64], rolled[:64], seed=seed, steps=600)
    fit(whole, task.x, rolled, seed=seed)
    fit(right, task.x, task.y, seed=seed)
    random = torch.randint(10, (512,), generator=torch.Generator().manual_seed(seed))
    fit(noise, task.x, random, seed=seed, steps=800, size=128)
    return {
        "one_batch": curve[-1],
        "memorised": accuracy(noise, task.x, random),
        "misaligned": accuracy(whole, task.held_x, task.held_y),
        "aligned": accuracy(right, task.held_x, task.held_y),
    }
