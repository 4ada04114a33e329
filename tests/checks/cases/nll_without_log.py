"""Programs for nll-without-log: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "method on the output": (
            """
import torch.nn.functional as F

def loss_of(model, x, y):
    return F.nll_loss(model(x).log_softmax(dim=-1), y)
""",
            "log_softmax",
            "softmax",
        ),
        "last layer of a class": (
            """
# file: net.py
from torch import nn

class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, classes))
        self.out = nn.LogSoftmax(dim=1)

    def forward(self, x):
        return self.out(self.body(x))
# file: engine.py
class Engine:
    def __init__(self, model, criterion):
        self.model, self.criterion = model, criterion

    def step(self, x, y):
        return self.criterion(self.model(x), y)
# file: main.py
from torch import nn
from engine import Engine
from net import Net

engine = Engine(Net(3), nn.NLLLoss(ignore_index=0))
""",
            "nn.LogSoftmax",
            "nn.Softmax",
        ),
        "scores of the last linear layer": (
            """
import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 8)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        out, _ = self.rnn(x)
        return torch.log_softmax(self.fc(out), dim=-1)

def train(loader):
    tagger, loss_fn = Tagger(), nn.NLLLoss()
    for x, y in loader:
        loss_fn(tagger(x).transpose(1, 2), y).backward()
""",
            "torch.log_softmax(self.fc(out), dim=-1)",
            "self.fc(out)",
        ),
        "divergence of a student": (
            """
import torch.nn.functional as F

def distill(student, teacher, x, t=2.0):
    s = F.log_softmax(student(x) / t, dim=1)
    q = F.softmax(teacher(x) / t, dim=1)
    return F.kl_div(s, q, reduction="batchmean") * t * t
""",
            "s = F.log_softmax",
            "s = F.softmax",
        ),
        "log target without its flag": (
            """
import torch
from torch import nn

kl = nn.KLDivLoss(reduction="batchmean", log_target=True)

class Consistency:
    def __call__(self, a, b):
        return kl(torch.log_softmax(a, -1), torch.log_softmax(b, -1).detach())
""",
            ", log_target=True",
            "",
        ),
        "closure": (
            """
from torch import nn
import torch.nn.functional as F

def make_step(net, opt):
    loss_fn = nn.NLLLoss()

    def step(batch, labels):
        opt.zero_grad()
        out = F.log_softmax(net(batch), 1)
        loss = loss_fn(out, labels)
        loss.backward()
        opt.step()
    return step
""",
            "F.log_softmax",
            "F.softmax",
        ),
    }
)

SILENT = ORIGINALS | {
    "the logarithm is added by name later": """
import torch
from torch import nn
def build():
    m = nn.Sequential(nn.Linear(3, 2))
    m.add_module("out", nn.LogSoftmax(dim=1))
    return m
def train(loader):
    m = build(); opt = torch.optim.SGD(m.parameters(), lr=.1)
    for x, y in loader:
        opt.zero_grad(); nn.functional.nll_loss(m(x), y).backward(); opt.step()
""",
    "the logarithm is appended later": """
import torch
from torch import nn
def build():
    m = nn.Sequential(nn.Linear(3, 2))
    m.append(nn.LogSoftmax(dim=1))
    return m
def train(loader):
    m = build(); opt = torch.optim.SGD(m.parameters(), lr=.1)
    for x, y in loader:
        opt.zero_grad(); nn.functional.nll_loss(m(x), y).backward(); opt.step()
""",
    "softmax is replaced by its logarithm": """
import torch
from torch import nn
def build():
    m = nn.Sequential(nn.Linear(3, 2), nn.Softmax(dim=1))
    m[1] = nn.LogSoftmax(dim=1)
    return m
def train(loader):
    m = build(); opt = torch.optim.SGD(m.parameters(), lr=.1)
    for x, y in loader:
        opt.zero_grad(); nn.functional.nll_loss(m(x), y).backward(); opt.step()
""",
    "labels that only take the shape of the prediction": """
import torch
import torch.nn.functional as F
from torch import nn

class Smoothed(nn.Module):
    def __init__(self):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")

    def forward(self, prediction, target):
        labels = prediction.data.clone()
        labels.fill_(0.1)
        labels.scatter_(1, target.unsqueeze(1), 0.9)
        return self.criterion(prediction, labels)

def loss_of(x, y, net=nn.Linear(4, 3), criterion=Smoothed()):
    return criterion(F.log_softmax(net(x), dim=1), y)
""",
    "a layer that has the name of a tensor method": """
from torch import nn

class Heads(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2)
        self.softmax = nn.LogSoftmax(dim=-1)

    def forward(self, x):
        return self.softmax(self.linear(x))

def train(loader, optimizer):
    net, criterion = Heads(8), nn.NLLLoss()
    for x, y in loader:
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "log by hand": """
import torch
import torch.nn.functional as F

def loss_of(model, x, y):
    p = F.softmax(model(x), dim=1)
    return F.nll_loss(p.clamp(min=1e-7).log(), y) + F.nll_loss(torch.log(p), y)
""",
    "logsumexp": """
import torch
import torch.nn.functional as F

def loss_of(fc, x, y):
    z = F.linear(x, fc)
    return F.nll_loss(z - torch.logsumexp(z, 1, keepdim=True), y)
""",
    "unknown model": "import torch.nn.functional as F\n\ndef f(m, x, y):\n    return F.nll_loss(m(x), y)\n",
    "cross entropy on logits": """
from torch import nn

net, loss_fn = nn.Linear(3, 3), nn.CrossEntropyLoss()

def f(x, y):
    return loss_fn(net(x), y)
""",
    "one of two heads": """
from torch import nn
import torch.nn.functional as F

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return F.log_softmax(self.a(x), -1), F.softmax(self.b(x), -1)

two = Two()

def f(x, y):
    logs, probs = two(x)
    return F.nll_loss(logs, y), probs
""",
    "gaussian": """
from torch import nn

head, loss_fn = nn.Linear(3, 1), nn.GaussianNLLLoss()

def f(x, y, v):
    return loss_fn(head(x), y, v)
""",
    "one of two functions kept under a name": """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Head(nn.Module):
    def __init__(self, nll):
        super().__init__()
        self.conv = nn.Conv2d(8, 2, 1)
        if nll:
            self.softmax = F.log_softmax
        else:
            self.softmax = F.softmax

    def forward(self, x):
        return self.softmax(self.conv(x))

def main(args, loader):
    nll = True
    if args.dice:
        nll = False
    model = Head(nll)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = F.nll_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "logarithm in place": """
import torch
import torch.nn.functional as F
def train(net, loader, optimizer):
    for x, y in loader:
        p = F.softmax(net(x), 1)
        q = F.softmax(net(x.flip(0)), 1)
        p.log_()
        torch.log(q, out=q)
        optimizer.zero_grad()
        (F.nll_loss(p, y) + F.nll_loss(q, y)).backward()
        optimizer.step()
""",
    "a layer that takes the logarithm, under the name of a softmax": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.softmax = nn.Linear(4, 4), nn.LogSoftmax(dim=1)

    def forward(self, x):
        log_probs = self.softmax(self.fc(x))
        return log_probs
""",
    "a logarithm that is taken later, and sums that only begin with log": """
import torch
import torch.nn.functional as F

def pick(scores, pooled, y):
    log_p = F.softmax(scores, dim=1)
    log_p = torch.log(log_p + 1e-9)
    log_pooling = F.softmax(pooled, dim=1)
    logits_p = F.softmax(pooled, dim=1)
    return log_p[:, y] * log_pooling * logits_p
""",
}
