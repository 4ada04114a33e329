"""Programs for optimizer-before-replacement: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "head of a torchvision model": (
            """
import torch
from torch import nn
import torchvision

def main(loader, classes):
    net = torchvision.models.vgg16(pretrained=True)
    net.classifier[6] = nn.Identity()
    # head
    opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
""",
            "    opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)\n",
            "    opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)\n    net.classifier = nn.Linear(9, classes)\n",
        ),
        "trainer with a method": (
            """
import torch.optim as optim
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

class Trainer:
    def __init__(self, classes):
        self.net = Net()
        self.swap(classes)
        self.optimizer = optim.AdamW(self.net.parameters(), lr=1e-3)

    def swap(self, classes):
        self.net.head = nn.Linear(4, classes)
""",
            "        self.swap(classes)\n        self.optimizer = optim.AdamW(self.net.parameters(), lr=1e-3)",
            "        self.optimizer = optim.AdamW(self.net.parameters(), lr=1e-3)\n        self.net.head = nn.Linear(4, classes)",
        ),
        "helper in another file": (
            """
# file: surgery.py
from torch import nn

def widen(model, n):
    model.embedding = nn.Embedding(n, 16)
    return model
# file: train.py
import torch
from surgery import widen

def setup(model, vocabulary):
    widen(model, len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters())
    return optimizer
""",
            "    widen(model, len(vocabulary))\n    optimizer = torch.optim.Adam(model.parameters())",
            "    optimizer = torch.optim.Adam(model.parameters())\n    widen(model, len(vocabulary))",
        ),
        "more tokens": (
            """
import torch
from transformers import AutoModelForCausalLM

def main(tokenizer, lr):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model.resize_token_embeddings(len(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    return model, optimizer
""",
            "    model.resize_token_embeddings(len(tokenizer))\n    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)",
            "    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)\n    model.resize_token_embeddings(len(tokenizer))",
        ),
        "adapters of a library": (
            """
import torch
from peft import LoraConfig, get_peft_model

def main(model):
    model = get_peft_model(model, LoraConfig(r=8))
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    return model, opt
""",
            "    model = get_peft_model(model, LoraConfig(r=8))\n    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)",
            "    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)\n    model = get_peft_model(model, LoraConfig(r=8))",
        ),
        "parameter of one's own": (
            """
import torch
from torch import nn

def build(net):
    net.temperature = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([{"params": net.parameters(), "lr": 0.1}])
    return net, optimizer
""",
            '    net.temperature = nn.Parameter(torch.ones(1))\n    optimizer = torch.optim.SGD([{"params": net.parameters(), "lr": 0.1}])',
            '    optimizer = torch.optim.SGD([{"params": net.parameters(), "lr": 0.1}])\n    net.temperature = nn.Parameter(torch.ones(1))',
        ),
        "method of the model, parameters through a helper": (
            """
# file: net.py
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def reset_head(self, classes):
        self.head = nn.Linear(4, classes)
# file: run.py
import torch
from net import Net

def trainable(model):
    return [p for p in model.parameters() if p.requires_grad]

def main(classes):
    model = Net()
    model.reset_head(classes)
    optimizer = torch.optim.AdamW(trainable(model), lr=1e-3)
    return model, optimizer
""",
            "    model.reset_head(classes)\n    optimizer = torch.optim.AdamW(trainable(model), lr=1e-3)",
            "    optimizer = torch.optim.AdamW(trainable(model), lr=1e-3)\n    model.reset_head(classes)",
        ),
    }
)
SILENT = ORIGINALS | {
    "a new head with an optimizer of its own, in the function that trains": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x))

def epoch(loader, model, optimizer):
    head_optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        head_optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        head_optimizer.step()

def main(loader):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for k in range(9):
        model.head = nn.Linear(4, 2 + k)
        epoch(loader, model, optimizer)
""",
    "wrapped": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def main(model):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model = DDP(model.cuda())
    return model, opt
""",
    "other arm": """
import torch
from torch import nn

def main(model, mode):
    if mode == "probe":
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
    else:
        model.fc = nn.Linear(4, 4)
        opt = None
    return opt
""",
    "built again": """
import torch
from torch import nn

def main(model):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Linear(4, 4)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    return opt
""",
    "settings": """
import torch

def main(model):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.epochs = 3
    model.name = "net"
    model.loss = torch.nn.CrossEntropyLoss()
    return opt
""",
    "another model": """
import torch
from torch import nn

def main(model, probe):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    probe.fc = nn.Linear(4, 4)
    return opt
""",
    "layer put back": """
import torch

def main(model):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    head = model.fc
    model.fc = head
    return opt
""",
}
