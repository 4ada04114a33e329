"""Programs for ineffective-requires-grad: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "loop over parameters": (
            """
from torchvision import models

net = models.resnet18()
for param in net.parameters():
    param.requires_grad = False
""",
            "param.requires_grad",
            "param.require_grad",
        ),
        "flag on a module in a helper of a class": (
            """
from torch import nn

class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

    def freeze(self):
        self.model.requires_grad_(False)
""",
            "self.model.requires_grad_(False)",
            "self.model.requires_grad = False",
        ),
        "method replaced by a flag": (
            """
def set_grad(nets, flag):
    for net in nets:
        for p in net.parameters():
            p.requires_grad = flag
""",
            "p.requires_grad = flag",
            "p.requires_grad_ = flag",
        ),
        "setattr in a closure": (
            """
def freezer(model):
    def freeze():
        for name, p in model.named_parameters():
            if "bias" not in name:
                setattr(p, "requires_grad", False)
    return freeze
""",
            '"requires_grad"',
            '"requires_gradient"',
        ),
        "comparison in place of an assignment": (
            """
import lightning as L
from torch import nn

class Lit(L.LightningModule):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        for p in self.backbone.parameters():
            p.requires_grad = False
""",
            "p.requires_grad = False",
            "p.requires_grad == False",
        ),
        "the place that was just filled": (
            """
from torch import nn
from torchvision import models

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.vgg = models.vgg11()
        self.vgg.classifier[6] = nn.Linear(4096, 10)
        self.vgg.classifier[6].requires_grad_(True)
""",
            "self.vgg.classifier[6].requires_grad_(True)",
            "self.vgg.classifier[6].requires_grad = True",
        ),
        "module from another file": (
            """
# file: nets.py
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)
# file: train.py
from nets import Encoder

def build():
    teacher = Encoder()
    for p in teacher.parameters():
        p.requires_grad = False
    return teacher
""",
            "for p in teacher.parameters():\n        p.requires_grad = False",
            "teacher.requires_grad = False",
        ),
    }
)

SILENT = ORIGINALS | {
    "inputs": "import torch\nx = torch.ones(3)\nx.requires_grad = True\ny = (x * 2).requires_grad_()\n",
    "set from an expression": "def pick(params, names):\n    for n, p in params:\n        p.requires_grad = n in names\n",
    "chained": "def both(a, b):\n    a.requires_grad = b.requires_grad = False\n",
    "own attribute that is read": """
class Option:
    def __init__(self):
        self.require_grad = False

def use(option, p):
    p.requires_grad = option.require_grad
""",
    "property of a module": """
from torch import nn

class Net(nn.Module):
    @property
    def requires_grad(self):
        return any(p.requires_grad for p in self.parameters())

    @requires_grad.setter
    def requires_grad(self, flag):
        self.requires_grad = flag
""",
    "tested, not set": """
def count(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad == True)
""",
    "asserted": "def same(p, q):\n    assert p.requires_grad == q.requires_grad\n",
    "a table that is never trained": """
import math
import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self, width, length=500):
        super().__init__()
        table = torch.zeros(length, width).float()
        table.require_grad = False
        position = torch.arange(0, length).float().unsqueeze(1)
        table[:, 0::2] = torch.sin(position * math.log(10000.0))
        self.register_buffer("table", table.unsqueeze(0))

    def forward(self, x):
        return self.table[:, : x.size(1)]
""",
    "one of a dict of parameters": """
import torch
from torch import nn

class Adapted(nn.Module):
    def __init__(self, width, tasks):
        super().__init__()
        self.adapters = nn.ModuleList(
            [nn.ParameterDict({"a": nn.Parameter(torch.randn(2, width))}) for _ in range(tasks)]
        )
        for adapter in self.adapters:
            adapter["a"].requires_grad = False
""",
    "another place among layers that are not seen": """
from torch import nn
from torchvision import models

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.vgg = models.vgg11()
        for p in self.vgg.parameters():
            p.requires_grad = False
        self.vgg.classifier[6] = nn.Linear(4096, 10)
        self.vgg.classifier.add_module("last", nn.LogSoftmax(1))
        self.vgg.classifier[7].requires_grad = True
""",
}
