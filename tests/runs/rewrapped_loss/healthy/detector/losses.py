import torch
from torch import nn
from torch.nn import functional as F

from .geometry import iou


class DetectionLoss(nn.Module):
    def __init__(self, box=5.0, overlap=1.0, kind=1.0):
        super().__init__()
        self.weights = {"box": box, "overlap": overlap, "kind": kind}

    def forward(self, output, target):
        terms = {
            "box": F.smooth_l1_loss(output["box"], target["box"], beta=0.1),
            "overlap": (1 - iou(output["box"], target["box"])).mean(),
            "kind": F.cross_entropy(output["kind"], target["kind"]),
        }
        weighted = [self.weights[name] * value for name, value in terms.items()]
        total = torch.stack(weighted).sum()
        return total, {name: value.item() for name, value in terms.items()}
