from torch import nn


def dice(logits, mask, smooth=1.0):
    said = logits.sigmoid()
    both = (said * mask).sum((1, 2, 3))
    total = said.sum((1, 2, 3)) + mask.sum((1, 2, 3))
    return (1 - (2 * both + smooth) / (total + smooth)).mean()


def segmentation_loss(logits, mask):
    return nn.functional.binary_cross_entropy_with_logits(logits, mask) + dice(logits, mask)
