"""Programs for padding-in-mean: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "flattened language model": (
            """
import torch.nn.functional as F

def step(model, ids, attention_mask):
    logits = model(ids[:, :-1])
    losses = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    mask = attention_mask[:, 1:].flatten().float()
    loss = (losses * mask).sum() / mask.sum()
    loss.backward()
""",
            "(losses * mask).sum() / mask.sum()",
            "(losses * mask).mean()",
        ),
        "a criterion of the trainer, mask first": (
            """
from torch import nn

class Trainer:
    def __init__(self, net):
        self.net = net
        self.criterion = nn.MSELoss(reduction="none")

    def step(self, batch):
        valid = batch["mask"]
        error = self.criterion(self.net(batch["x"]), batch["y"])
        masked = valid * error
        return masked.sum() / valid.sum()
""",
            "masked.sum() / valid.sum()",
            "masked.mean()",
        ),
        "padding by its token": (
            """
import torch
import torch.nn.functional as F

def step(model, x, y, pad_id):
    keep = y.ne(pad_id).float()
    each = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    return torch.sum(each * keep) / torch.sum(keep)
""",
            "torch.sum(each * keep) / torch.sum(keep)",
            "torch.mean(each * keep)",
        ),
    }
)
SILENT = ORIGINALS | {
    "weights that are no mask": """
import torch.nn.functional as F

def step(model, x, y, weights):
    each = F.cross_entropy(model(x), y, reduction="none")
    return (each * weights).mean()
""",
    "positions are chosen, not made zero": """
import torch.nn.functional as F

def step(model, x, y, mask):
    each = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    return each[mask].mean()
""",
    "divided in the next line": """
import torch.nn.functional as F

def step(model, x, y, mask):
    each = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    loss = (each * mask).mean()
    loss = loss / mask.mean()
    return loss
""",
    "scaled to what is left": """
import torch.nn.functional as F

def step(model, x, y, mask):
    each = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    return (each * mask).mean() * mask.numel() / mask.sum()
""",
    "a mean of something else": """
import torch.nn.functional as F

def step(model, x, y, mask):
    each = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    print((x * mask).mean())
    return (each * mask).sum() / mask.sum()
""",
    "reduced by the loss": """
import torch.nn.functional as F

def step(model, x, y, mask):
    loss = F.mse_loss(model(x) * mask, y * mask)
    return (loss * mask.any()).mean()
""",
    "pseudo-labels above a threshold": """
import torch
import torch.nn.functional as F

def step(model, weak, strong):
    sure, labels = torch.softmax(model(weak).detach(), -1).max(-1)
    mask = sure.ge(0.95).float()
    return (F.cross_entropy(model(strong), labels, reduction="none") * mask).mean()
""",
}
SILENT |= {
    "a mask whose mean is one": """
import torch.nn.functional as F

def step(model, x, y, mask):
    loss = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    mask = mask.float()
    mask = mask / mask.mean()
    loss *= mask
    return loss.mean()
""",
    "a mask divided in place": """
import torch.nn.functional as F

def step(model, x, y, mask):
    each = F.cross_entropy(model(x).transpose(1, 2), y, reduction="none")
    mask /= mask.mean()
    return (each * mask).mean()
""",
}
