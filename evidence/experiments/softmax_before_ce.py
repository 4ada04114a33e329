"""Softmax in front of cross-entropy: the loss ends on its own floor, although the accuracy looks like a weak run.

The reachable minimum is ln(1+(C-1)/e): one probability 1, all others 0, through another softmax.
"""

import math

from lab.task import accuracy, fit, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "softmax-before-ce": "400 Adam steps, held-out accuracy {twice_accuracy:.2f} ({twice_accuracy_min:.2f} to "
    "{twice_accuracy_max:.2f}) with the softmax against {right_accuracy:.2f} without; training loss {twice_loss:.2f}",
    "softmax-before-ce-floor": "20 examples by heart: loss {loss:.4f} against a floor of {floor:.4f}, "
    "accuracy {accuracy:.2f}",
}
EXPECT = {
    "the loss on 20 examples ends within 0.002 of the floor": lambda m: abs(m["loss"] - m["floor"]) < 2e-3,
    "and yet all 20 are right": lambda m: m["accuracy"] == 1,
    "the loss on the whole task stays above the floor": lambda m: m["twice_loss"] > m["floor"] - 1e-4,
    "where the right run is below a third of it": lambda m: m["right_loss"] < m["twice_loss"] / 3,
    "the accuracy gives no sign: it is no better, or not by more than a point": lambda m: (
        m["twice_accuracy"] < m["right_accuracy"] + 0.01
    ),
    "and still far above chance": lambda m: m["twice_accuracy"] > 0.5,
}


def twice(scores, labels):
    return F.cross_entropy(scores.softmax(1), labels)


def measure(seed):
    task = linear_teacher(seed)
    small = mlp(seed)
    curve = fit(small, task.x[:20], task.y[:20], seed=seed, steps=2000, size=20, loss=twice)
    wrong, right = mlp(seed), mlp(seed)
    twice_losses = fit(wrong, task.x, task.y, seed=seed, loss=twice)
    right_losses = fit(right, task.x, task.y, seed=seed)
    return {
        "loss": curve[-1],
        "floor": math.log(1 + 9 / math.e),
        "accuracy": accuracy(small, task.x[:20], task.y[:20]),
        "twice_loss": sum(twice_losses[-8:]) / 8,
        "right_loss": sum(right_losses[-8:]) / 8,
        "twice_accuracy": accuracy(wrong, task.held_x, task.held_y),
        "right_accuracy": accuracy(right, task.held_x, task.held_y),
    }


def plot(axes):
    task = linear_teacher(0)
    for name, loss in (("cross-entropy on logits", F.cross_entropy), ("softmax first", twice)):
        axes.plot(fit(mlp(0), task.x[:20], task.y[:20], steps=600, size=20, loss=loss), label=name)
    for height, name in ((math.log(10), "ln C"), (math.log(1 + 9 / math.e), "ln(1+(C-1)/e)")):
        axes.axhline(height, color="grey", linestyle=":")
        axes.text(600, height + 0.03, name, ha="right")
    axes.set(xlabel="step", ylabel="loss on 20 examples", ylim=(0, 2.6))
    axes.legend()
