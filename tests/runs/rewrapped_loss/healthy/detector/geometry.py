import torch


def corners(boxes):
    centre, size = boxes[..., :2], boxes[..., 2:]
    return centre - size / 2, centre + size / 2


def iou(first, second):
    """Intersection over union of boxes (N, 4) given as centre and size."""
    low_a, high_a = corners(first)
    low_b, high_b = corners(second)
    overlap = (torch.minimum(high_a, high_b) - torch.maximum(low_a, low_b)).clamp(min=0).prod(-1)
    union = first[..., 2:].prod(-1) + second[..., 2:].prod(-1) - overlap
    return overlap / union.clamp(min=1e-6)
