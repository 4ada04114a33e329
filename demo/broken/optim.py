import math

import torch


def build_optimizer(model, config):
    """AdamW; matrices decay, vectors (biases and norms) do not."""
    decay = [p for p in model.parameters() if p.dim() >= 2]
    no_decay = [p for p in model.parameters() if p.dim() < 2]
    groups = [
        {"params": decay, "weight_decay": config.weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, 0.99))


def build_schedule(optimizer, config):
    """Linear warmup, then half a cosine down to min_lr; one tick per step."""

    def factor(step):
        if step < config.warmup:
            return (step + 1) / config.warmup
        done = (step - config.warmup) / max(1, config.steps - config.warmup)
        low = config.min_lr / config.lr
        return low + (1 - low) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
