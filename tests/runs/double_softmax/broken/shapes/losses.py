from torch import nn
from torch.nn import functional as F


class SmoothedCrossEntropy(nn.Module):
    def __init__(self, smoothing=0.05):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, outputs, labels):
        return F.cross_entropy(outputs, labels, label_smoothing=self.smoothing)
