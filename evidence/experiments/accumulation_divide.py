"""Four parts of four examples give the gradient of sixteen, if the loss is divided; Adam hides it when it is not."""

import torch
from lab.task import accuracy, gradient, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "accumulation-divide": "4 x 4 against 1 x 16: relative difference of the gradients {divided:.0e}, undivided the norm is "
    "{undivided:.2f} times as large; 300 steps, greatest difference between the two loss curves {curve:.0e}; "
    "held-out accuracy undivided {adam_wrong:.2f} against {adam_right:.2f} with Adam, {sgd_wrong:.2f} against "
    "{sgd_right:.2f} with SGD at a rate of 0.5"
}
EXPECT = {
    "divided, the gradients agree to 1e-5": lambda m: m["divided"] < 1e-5,
    "undivided, the gradient is four times as large": lambda m: abs(m["undivided"] - 4) < 0.01,
    "divided, the curves agree to 1e-2 at every step": lambda m: m["curve"] < 1e-2,
    "Adam changes by less than two points": lambda m: abs(m["adam_wrong"] - m["adam_right"]) < 0.02,
    "SGD loses more than Adam does": lambda m: m["sgd_right"] - m["sgd_wrong"] > m["adam_right"] - m["adam_wrong"],
}


def backward(net, x, y, parts, divide=True):
    total = 0.0
    for part_x, part_y in zip(x.chunk(parts), y.chunk(parts), strict=True):
        loss = F.cross_entropy(net(part_x), part_y)
        (loss / parts if divide else loss).backward()
        total += loss.item() / parts
    return total


def train(seed, parts, divide, optimizer):
    task, net = linear_teacher(seed), mlp(seed)
    step, draw, losses = optimizer(net.parameters()), torch.Generator().manual_seed(seed), []
    for _ in range(300):
        rows = torch.randint(len(task.x), (16,), generator=draw)
        step.zero_grad()
        losses.append(backward(net, task.x[rows], task.y[rows], parts, divide))
        step.step()
    return losses, accuracy(net, task.held_x, task.held_y)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=3e-3)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.5)


def measure(seed):
    task, grads = linear_teacher(seed), []
    for parts, divide in ((1, True), (4, True), (4, False)):
        net = mlp(seed)
        backward(net, task.x[:16], task.y[:16], parts, divide)
        grads.append(gradient(net))
    whole, divided, undivided = grads
    one, adam_right = train(seed, 1, True, sgd)[0], train(seed, 4, True, adam)[1]
    four, sgd_right = train(seed, 4, True, sgd)
    return {
        "divided": ((divided - whole).norm() / whole.norm()).item(),
        "undivided": (undivided.norm() / whole.norm()).item(),
        "curve": max(abs(a - b) for a, b in zip(one, four, strict=True)),
        "adam_right": adam_right,
        "adam_wrong": train(seed, 4, False, adam)[1],
        "sgd_right": sgd_right,
        "sgd_wrong": train(seed, 4, False, sgd)[1],
    }
