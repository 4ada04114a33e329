import torch

from .registry import register


@register("optimizer", "sgd")
def sgd(parameters, lr, momentum, weight_decay):
    return torch.optim.SGD(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)


@register("schedule", "cosine")
def cosine(optimizer, steps):
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
