"""Scores of a loss with its own sigmoid, compared with 0.5 as if they were probabilities.

A score of 0.5 is a probability of 1 / (1 + exp(-0.5)) = 0.62: whatever lies between 0.5 and that is called no.
"""

import math

import torch
from lab.task import fit, linear_teacher, mlp
from torch.nn import functional as F

CLAIMS = {
    "logits-at-half": "200 Adam steps, one in {one_in:.0f} examples is a yes: of the held-out ones {recall:.2f} ({recall_min:.2f} "
    "to {recall_max:.2f}) are found with the scores compared with 0.5, {right_recall:.2f} with them compared with 0; the "
    "probability that is really asked for is {probability:.2f}",
}
EXPECT = {
    "fewer are found": lambda m: m["recall"] < m["right_recall"],
    "a half as a score is no half as a probability": lambda m: m["probability"] > 0.6,
}


def score(out):
    return out[:, 0]


def is_yes(labels):
    return labels == 0


def loss(scores, labels):
    return F.binary_cross_entropy_with_logits(score(scores), is_yes(labels).float())


def recall(scores, labels, threshold):
    found = (score(scores) > threshold) & is_yes(labels)
    return (found.sum() / is_yes(labels).sum()).item()


def measure(seed):
    task, net = linear_teacher(seed), mlp(seed)
    fit(net, task.x, task.y, seed=seed, loss=loss, steps=200)
    with torch.no_grad():
        scores = net(task.held_x)
    return {
        "recall": recall(scores, task.held_y, 0.5),
        "right_recall": recall(scores, task.held_y, 0.0),
        "one_in": 1 / is_yes(task.held_y).float().mean().item(),
        "probability": 1 / (1 + math.exp(-0.5)),
    }
