"""Programs for temperature-on-one-side."""

from ._programs import mutant

_MODULE = """
import torch.nn as nn
import torch.nn.functional as F

class DistillKL(nn.Module):
    def __init__(self, T):
        super().__init__()
        self.T = T

    def forward(self, y_s, y_t):
        p_s = F.log_softmax(y_s / self.T, dim=1)
        p_t = F.softmax(y_t / self.T, dim=1)
        return F.kl_div(p_s, p_t, reduction="sum") * (self.T**2) / y_s.shape[0]
"""
_STEP = """
import torch
import torch.nn.functional as F

def step(student, teacher, optimizer, x, y, args):
    logits = student(x)
    with torch.no_grad():
        teacher_logits = teacher(x)
    soft = torch.nn.KLDivLoss(reduction="batchmean")(
        F.log_softmax(logits / args.temperature, dim=-1), F.softmax(teacher_logits / args.temperature, dim=-1).detach()
    )
    criterion = torch.nn.KLDivLoss(reduction="batchmean")
    loss = F.cross_entropy(logits, y) + criterion(
        (logits / args.temperature).log_softmax(-1), (teacher_logits / args.temperature).softmax(-1)
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return soft
"""
SILENT = {
    "module": _MODULE,
    "step": _STEP,
    "divided before": """
import torch.nn.functional as F

def loss_of(student, teacher, x, T):
    s = student(x) / T
    t = teacher(x) / T
    return F.kl_div(F.log_softmax(s, 1), F.softmax(t, 1), reduction="batchmean")
""",
    "divided by the caller": """
import torch.nn.functional as F

def kd(student, target, T):
    return F.kl_div(F.log_softmax(student / T, 1), F.softmax(target, 1), reduction="batchmean")

def step(net, teacher, x, T):
    return kd(net(x), teacher(x) / T, T)
""",
    "sharpened": """
import torch.nn.functional as F

def consistency(weak, strong, T):
    return F.kl_div(F.log_softmax(strong, 1), F.softmax(weak / T, 1).detach(), reduction="batchmean")
""",
    "no temperature": """
import torch.nn.functional as F

def loss_of(adversarial, natural):
    return F.kl_div(F.log_softmax(adversarial, 1), F.softmax(natural, 1), reduction="batchmean")
""",
    "told to the teacher": """
import torch.nn.functional as F

def loss_of(student, teacher, x, T):
    t = teacher(x, temperature=T)
    return F.kl_div(F.log_softmax(student(x) / T, 1), F.softmax(t, 1), reduction="batchmean")
""",
}
FAILS = {
    "module": mutant(_MODULE, ("F.softmax(y_t / self.T", "F.softmax(y_t")),
    "criterion": mutant(_STEP, ("(teacher_logits / args.temperature).softmax", "teacher_logits.softmax")),
}

_NT_XENT = """
import torch
from torch import nn

class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature

    def forward(self, similarity, positives, mask):
        numerator = torch.exp(positives / self.temperature)
        denominator = mask * torch.exp(similarity / self.temperature)
        return -torch.log(numerator / denominator.sum(1)).mean() * self.temperature
"""
SILENT["both divided"] = _NT_XENT
FAILS["one multiplied"] = mutant(_NT_XENT, ("positives / self", "positives * self"))
