"""What happens between the towers and the objective."""

import torch
from torch.nn import functional as F


def unit_embeddings(tower, batch):
    raw = tower(batch)
    return F.normalize(raw, dim=-1)


def similarity(model, sketches, captions):
    left = unit_embeddings(model.sketch, sketches)
    right = unit_embeddings(model.caption, captions)
    return model.log_scale.exp() * left @ right.T


def symmetric_loss(scores):
    target = torch.arange(len(scores))
    return 0.5 * (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target))
