"""Programs for softmax-into-bce: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "functional": (
            """
import torch
import torch.nn.functional as F

def loss_of(net, x, y):
    return F.binary_cross_entropy(torch.sigmoid(net(x)), y)
""",
            "torch.sigmoid(net(x))",
            "torch.softmax(net(x), -1)",
        ),
        "class and trainer": (
            """
# file: model.py
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(self.fc(x))
# file: train.py
from torch import nn
from model import Tagger

class Trainer:
    def __init__(self):
        self.net = Tagger()
        self.loss = nn.BCELoss(reduction="sum")

    def step(self, x, y):
        return self.loss(self.net(x), y)
""",
            "nn.Sigmoid()",
            "nn.Softmax(dim=1)",
        ),
        "two-class output, one column": (
            """
from torch import nn

net = nn.Sequential(nn.Linear(4, 2), nn.Sigmoid())
bce = nn.BCELoss()

def step(x, y):
    prob = net(x)[:, 1]
    return bce(prob, y)
""",
            "nn.Sigmoid()",
            "nn.Softmax(1)",
        ),
        "helper": (
            """
import torch.nn.functional as F

def activate(z):
    return z.sigmoid()

def loss_of(net, x, y):
    out = activate(net(x))
    return F.binary_cross_entropy(input=out, target=y)
""",
            "z.sigmoid()",
            "z.softmax(dim=1)",
        ),
        "lightning": (
            """
import lightning as L
from torch import nn

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 3), nn.Sigmoid())
        self.criterion = nn.BCELoss()

    def training_step(self, batch, i):
        return self.criterion(self.net(batch["x"]), batch["y"])
""",
            "nn.Sigmoid()",
            "nn.Softmax(dim=1)",
        ),
    }
)

SILENT = ORIGINALS | {
    "with logits": "import torch.nn.functional as F\n\ndef f(n, x, y):\n    return F.binary_cross_entropy_with_logits(n(x), y)\n",
    "probability of one class by arithmetic": """
import torch.nn.functional as F

def f(n, x, y):
    p = F.softmax(n(x), 1)
    return F.binary_cross_entropy(1 - p[:, 0], y)
""",
    "attention before": """
import torch
import torch.nn.functional as F

def f(q, k, v, head, y):
    a = torch.softmax(q @ k.T, -1) @ v
    return F.binary_cross_entropy(torch.sigmoid(head(a)), y)
""",
    "unknown": "from torch import nn\n\nbce = nn.BCELoss()\n\ndef f(n, x, y):\n    return bce(n(x), y)\n",
    "softmax for the metric": """
import torch.nn.functional as F

def f(n, x, y):
    out = n(x)
    loss = F.binary_cross_entropy(out.sigmoid(), y)
    return loss, F.softmax(out, 1).argmax(1)
""",
    "cross entropy": "import torch.nn.functional as F\n\ndef f(n, x, y):\n    return F.cross_entropy(n(x), y)\n",
    "sum of two probabilities": """
import torch.nn.functional as F

def f(n, x, y):
    p = F.softmax(n(x), 1)
    return F.binary_cross_entropy(p[:, 0] + p[:, 1], y)
""",
}
