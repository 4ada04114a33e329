"""A scheduler stepped before the optimizer skips the first value of its schedule."""

import warnings

import torch

CLAIMS = {
    "scheduler-order": "rates used in the first two steps of a schedule 1, 0.5, 0.25: {right_1:.2f}, {right_2:.2f} in the right "
    "order, {wrong_1:.2f}, {wrong_2:.2f} in the other",
    "lr-decay-defaults": "a halving every 30 epochs, called every batch with 100 batches in an epoch: after one epoch the rate "
    "is {per_batch:.3f} of its start instead of {per_epoch:.0f}",
}
SEEDS = 1
EXPECT = {
    "the right order starts with the first value": lambda m: (m["right_1"], m["right_2"]) == (1.0, 0.5),
    "the other order skips it": lambda m: (m["wrong_1"], m["wrong_2"]) == (0.5, 0.25),
    "stepped per batch it has decayed to an eighth": lambda m: m["per_batch"] == 0.125,
}


def rates(schedule_first, steps=2):
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    used = []
    for _ in range(steps):
        weight.grad = torch.ones(1)
        if schedule_first:
            schedule.step()
        used.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if not schedule_first:
            schedule.step()
    return used


def after_one_epoch(calls):
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
    for _ in range(calls):
        optimizer.step()
        schedule.step()
    return optimizer.param_groups[0]["lr"]


def measure(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of the wrong order; this is what follows
        wrong = rates(schedule_first=True)
    right = rates(schedule_first=False)
    return {
        "right_1": right[0], "right_2": right[1], "wrong_1": wrong[0], "wrong_2": wrong[1],
        "per_batch": after_one_epoch(100), "per_epoch": after_one_epoch(1),
    }  # fmt: skip
