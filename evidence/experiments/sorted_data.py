"""Data in the order of their class: the loss swings with a period of one epoch, and the result is worse."""

import torch
from lab.task import accuracy, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "sorted-dataset-hurts": "10 epochs: held-out accuracy {sorted:.2f} in the order of the labels, {shuffled:.2f} shuffled; within "
    "the last epoch the training loss swings by {swing:.2f} in order and by {steady:.2f} shuffled"
}
EXPECT = {
    "order costs at least two points": lambda m: m["shuffled"] - m["sorted"] > 0.02,
    "and the loss swings at least twice as far": lambda m: m["swing"] > 2 * m["steady"],
}


def train(seed, order):
    task, net, losses = linear_teacher(seed), mlp(seed), []
    step = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(10):
        for rows in order(task, epoch).split(32):
            step.zero_grad()
            loss = F.cross_entropy(net(task.x[rows]), task.y[rows])
            loss.backward()
            step.step()
            losses.append(loss.item())
    return losses, accuracy(net, task.held_x, task.held_y)


def by_label(task, epoch):
    return task.y.argsort()


def shuffled(task, epoch):
    return torch.randperm(len(task.x), generator=torch.Generator().manual_seed(epoch))


def measure(seed):
    in_order, worse = train(seed, by_label)
    mixed, better = train(seed, shuffled)
    swing, steady = (max(losses[-16:]) - min(losses[-16:]) for losses in (in_order, mixed))
    return {"sorted": worse, "shuffled": better, "swing": swing, "steady": steady}


def plot(axes):
    for name, order in (("in the order of the labels", by_label), ("shuffled", shuffled)):
        axes.plot(train(0, order)[0], label=name, linewidth=0.8)
    axes.set(xlabel="step", ylabel="training loss", title="a period of one epoch is an order")
    axes.legend()
