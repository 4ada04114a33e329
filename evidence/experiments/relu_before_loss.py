"""A ReLU behind the last layer, in front of cross-entropy or a binary one: no score can be negative.

A binary cross-entropy with its own sigmoid then never says less than 0.5, so its loss cannot fall below
(1 - p) * ln 2 where a share p of the labels is one.
"""

import math

import torch
from lab.task import accuracy, fit, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "relu-before-loss": "400 Adam steps, ten classes, held-out accuracy {rectified_accuracy:.2f} ({rectified_accuracy_min:.2f} to "
    "{rectified_accuracy_max:.2f}) with the ReLU against {right_accuracy:.2f} without; yes or no, with {share:.2f} of the labels "
    "one: loss {binary_loss:.3f} against {plain_loss:.3f}, its floor {floor:.3f}, all {negatives:.0f} negatives called positive",
}
EXPECT = {
    "the binary loss stays above its floor": lambda m: m["binary_loss"] > m["floor"] - 1e-3,
    "which the right run passes": lambda m: m["plain_loss"] < m["floor"],
    "no negative is called one": lambda m: m["called_negative"] == 0,
    "ten classes lose accuracy, or gain no more than a point": lambda m: (
        m["rectified_accuracy"] < m["right_accuracy"] + 0.01
    ),
}


def rectified(scores, labels):
    return F.cross_entropy(scores.relu(), labels)


def score(out):
    return out[:, 0]


def binary(scores, labels):
    return F.binary_cross_entropy_with_logits(score(scores), (labels > 4).float())


def binary_rectified(scores, labels):
    return F.binary_cross_entropy_with_logits(score(scores).relu(), (labels > 4).float())


def measure(seed):
    task = linear_teacher(seed)
    wrong, right = mlp(seed), mlp(seed)
    fit(wrong, task.x, task.y, seed=seed, loss=rectified)
    fit(right, task.x, task.y, seed=seed)
    yes_or_no, plain = mlp(seed), mlp(seed)
    fit(yes_or_no, task.x, task.y, seed=seed, loss=binary_rectified)
    fit(plain, task.x, task.y, seed=seed, loss=binary)
    share = (task.y > 4).float().mean().item()
    with torch.no_grad():
        losses = [float(loss(net(task.x), task.y)) for net, loss in ((yes_or_no, binary_rectified), (plain, binary))]
        called = score(yes_or_no(task.x)).relu() < 0
    return {
        "rectified_accuracy": accuracy(wrong, task.held_x, task.held_y),
        "right_accuracy": accuracy(right, task.held_x, task.held_y),
        "binary_loss": losses[0],
        "plain_loss": losses[1],
        "share": share,
        "floor": (1 - share) * math.log(2),
        "called_negative": int(called.sum()),
        "negatives": int((task.y <= 4).sum()),
    }
