"""Programs for frozen-with-base: must be found in FAILS, and not in SILENT."""

from . import mutants

FREEZE = "    for p in model.parameters():\n        p.requires_grad = False\n"
FAILS, ORIGINALS = mutants(
    {
        "loop in a function": (
            f"""
import torch
from torch import nn

def build(model, classes):
{FREEZE}    model.classifier = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, classes))
    # done
    return torch.optim.Adam(model.classifier.parameters())
""",
            FREEZE,
            "",
            "    # done\n",
            FREEZE,
        ),
        "one call": (
            """
import torch
from torch import nn

class Tuner:
    def __init__(self, net):
        self.net = net
        self.net.requires_grad_(False)
        self.net.adapter = nn.Linear(4, 4)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
""",
            "        self.net.requires_grad_(False)\n        self.net.adapter = nn.Linear(4, 4)\n",
            "        self.net.adapter = nn.Linear(4, 4)\n        self.net.requires_grad_(False)\n",
        ),
        "helper with a flag": (
            """
# file: grads.py
def set_requires_grad(net, flag):
    for param in net.parameters():
        param.requires_grad = flag
# file: train.py
import torch
from torch import nn
from grads import set_requires_grad

def main(backbone, other):
    set_requires_grad(backbone, False)
    backbone.head = nn.Linear(16, 3)
    return torch.optim.Adam([*backbone.head.parameters(), *other.parameters()])
""",
            "    set_requires_grad(backbone, False)\n    backbone.head = nn.Linear(16, 3)\n",
            "    backbone.head = nn.Linear(16, 3)\n    set_requires_grad(backbone, False)\n",
        ),
        "adapter class of the project": (
            """
# file: adapters.py
from torch import nn

class Adapter(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Linear(width, 4), nn.Linear(4, width)

    def forward(self, x):
        return x + self.up(self.down(x))
# file: tune.py
import torch
from adapters import Adapter

def main(vit, loader):
    for _, param in vit.named_parameters():
        param.requires_grad = False
    vit.adapter = Adapter(64)
    opt = torch.optim.AdamW(vit.parameters(), lr=1e-3)
    return opt
""",
            "    for _, param in vit.named_parameters():\n        param.requires_grad = False\n    vit.adapter = Adapter(64)\n",
            "    vit.adapter = Adapter(64)\n    for _, param in vit.named_parameters():\n        param.requires_grad = False\n",
        ),
        "lightning": (
            """
import lightning as L
import torch
from torch import nn

class Lit(L.LightningModule):
    def __init__(self, base):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.base.fc = nn.Linear(32, 2)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
""",
            "        for p in self.base.parameters():\n            p.requires_grad_(False)\n        self.base.fc = nn.Linear(32, 2)\n",
            "        self.base.fc = nn.Linear(32, 2)\n        for p in self.base.parameters():\n            p.requires_grad_(False)\n",
        ),
    }
)
# a model that trains is evaluated and resumed as well, and a module may train itself
FAILS |= {
    "evaluated and resumed in the function that trains it": """
import torch
from torch import nn

def main(model, batches, resume):
    model.extra = nn.Linear(2, 2)
    model.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if resume:
        model.load_state_dict(torch.load(resume))
    for x, y in batches:
        model.train()
        optimizer.zero_grad()
        model(x, y).backward()
        optimizer.step()
        model.eval()
""",
    "a module that builds its own optimizer": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def configure_optimizers(self):
        self.head = nn.Linear(2, 2)
        self.requires_grad_(False)
        return torch.optim.Adam(self.parameters(), lr=1e-3)
""",
}
SILENT = ORIGINALS | {
    "thawed afterwards": """
import torch
from torch import nn

def build(model):
    model.fc = nn.Linear(4, 4)
    model.requires_grad_(False)
    model.fc.requires_grad_(True)
    return torch.optim.Adam(model.fc.parameters())
""",
    "by name": """
import torch
from torch import nn

def build(model):
    model.fc = nn.Linear(4, 4)
    for name, p in model.named_parameters():
        p.requires_grad = name.startswith("fc")
    return torch.optim.Adam(model.parameters())
""",
    "frozen loss network": """
import torch
from torch import nn

class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        for p in self.parameters():
            p.requires_grad = False

def build(net):
    return torch.optim.Adam(net.parameters())
""",
    "loaded and evaluated": """
import torch
from torch import nn

def build(model, state, student):
    model.fc = nn.Linear(4, 4)
    model.load_state_dict(state)
    for p in model.parameters():
        p.requires_grad = False
    return torch.optim.Adam(student.parameters())
""",
    "head taken off": """
import torch
from torch import nn

def build(model, student):
    model.fc = nn.Identity()
    model.requires_grad_(False)
    return torch.optim.Adam(student.parameters())
""",
    "part of it": """
import torch
from torch import nn

def build(model):
    model.fc = nn.Linear(4, 4)
    for p in model.features.parameters():
        p.requires_grad = False
    return torch.optim.Adam(model.parameters())
""",
    "thawed by a schedule": """
import torch
from torch import nn

class Tuner:
    def __init__(self, net):
        self.net = net
        self.net.fc = nn.Linear(4, 4)
        self.net.requires_grad_(False)
        self.opt = torch.optim.Adam(self.net.parameters())

    def on_epoch(self, epoch):
        if epoch == 0:
            self.net.fc.requires_grad_(True)
""",
    "the model is loaded anew in between": """
import torch
from torch import nn
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("x")
model.model.embed_tokens = nn.Embedding(10, 4)
optimizer = torch.optim.Adam([model.model.embed_tokens.weight])
model = AutoModelForCausalLM.from_pretrained("x")
for param in model.parameters():
    param.requires_grad = False
model.head = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.head.parameters())
""",
    "the second of two encoders follows the first": """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.query, self.other = base(), base()
        width = self.query.fc.weight.shape[1]
        self.query.fc = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.other.fc = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        for mine, its in zip(self.query.parameters(), self.other.parameters()):
            its.data.copy_(mine.data)
            its.requires_grad = False

def build(base):
    model = Encoder(base)
    return torch.optim.SGD(model.parameters(), lr=0.1)
""",
    "a module that freezes itself, to be used": """
import torch
from torch import nn

class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.eval()
        self.requires_grad_(False)

head, features = nn.Linear(4, 2), Features()
optimizer = torch.optim.Adam(head.parameters())
""",
    "loaded and put into eval mode, beside the model that learns": """
import torch
from torch import nn

def build(teacher, student, state):
    teacher.head = nn.Linear(4, 2)
    teacher.load_state_dict(state)
    teacher.requires_grad_(False)
    teacher.eval()
    return torch.optim.Adam(student.parameters())
""",
}
