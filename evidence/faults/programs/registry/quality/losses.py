from torch import nn

from .registry import register


@register("loss", "nll")
def nll():
    return nn.NLLLoss()
