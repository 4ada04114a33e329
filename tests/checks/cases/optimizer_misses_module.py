"""Programs for optimizer-misses-module: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "resumed, wrapped and saved together": (
            """
import itertools
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import spectral_norm, weight_norm

class Critic(nn.Module):
    def __init__(self, is_spectral=False):
        super().__init__()
        norm = spectral_norm if is_spectral else weight_norm
        self.convs = nn.ModuleList([norm(nn.Conv1d(1, 8, 5)), norm(nn.Conv1d(8, 1, 5))])

    def forward(self, x):
        for conv in self.convs:
            x = conv(x).relu()
        return x

def train(rank, loader, state, is_distributed, device):
    coarse, fine = Critic().to(device), Critic(True).to(device)
    if state is not None:
        coarse.load_state_dict(state["coarse"])
        fine.load_state_dict(state["fine"])
    if is_distributed:
        coarse = DistributedDataParallel(coarse, device_ids=[rank]).to(device)
        fine = DistributedDataParallel(fine, device_ids=[rank]).to(device)
    optimizer = torch.optim.AdamW(itertools.chain(coarse.parameters(), fine.parameters()), 1e-4)
    for real, fake in loader:
        loss = (coarse(real) - coarse(fake)).mean() + (fine(real) - fine(fake)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    coarse.eval()
    fine.eval()
    torch.save({
        "coarse": (coarse.module if is_distributed else coarse).state_dict(),
        "fine": (fine.module if is_distributed else fine).state_dict(),
    }, "critics.pt")
""",
            "itertools.chain(coarse.parameters(), fine.parameters())",
            "coarse.parameters()",
        ),
        "projection in a script": (
            """
import itertools
import torch
import torch.nn.functional as F
from torch import nn

encoder = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
projector = nn.Linear(8, 4)
optimizer = torch.optim.Adam(itertools.chain(encoder.parameters(), projector.parameters()), lr=1e-3)

def train(loader):
    for a, b in loader:
        za, zb = projector(encoder(a)), projector(encoder(b))
        loss = F.mse_loss(za, zb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            "itertools.chain(encoder.parameters(), projector.parameters())",
            "encoder.parameters()",
        ),
        "criterion with parameters": (
            """
# file: losses.py
import torch
from torch import nn

class CenterLoss(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, width))

    def forward(self, x, y):
        return (x - self.centers[y]).pow(2).mean()
# file: train.py
import torch
from torch import nn
from losses import CenterLoss

def main(loader):
    model, centers = nn.Linear(8, 8), CenterLoss(10, 8)
    params = list(model.parameters()) + list(centers.parameters())
    optimizer = torch.optim.SGD(params, lr=0.1)
    for x, y in loader:
        loss = centers(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            " + list(centers.parameters())",
            "",
        ),
        "decoder of a class": (
            """
import torch
from torch import nn

class Trainer:
    def __init__(self, lr):
        self.enc = nn.GRU(4, 8)
        self.dec = nn.Linear(8, 4)
        self.optimizer = torch.optim.RMSprop([
            {"params": self.enc.parameters()},
            {"params": self.dec.parameters(), "lr": lr},
        ])

    def step(self, x):
        hidden, _ = self.enc(x)
        loss = (self.dec(hidden) - x).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
            '            {"params": self.dec.parameters(), "lr": lr},\n',
            "",
        ),
        "discriminator with its optimizer on the generator": (
            """
import torch
from torch import nn

def train(loader, z, ones):
    gen = nn.Linear(4, 8)
    dis = nn.Linear(8, 1)
    first = torch.optim.Adam(gen.parameters(), lr=1e-4)
    second = torch.optim.Adam(dis.parameters(), lr=1e-4)
    bce = nn.BCEWithLogitsLoss()
    for real in loader:
        d_loss = bce(dis(real), ones)
        second.zero_grad()
        d_loss.backward()
        second.step()
        g_loss = bce(dis(gen(z)), ones)
        first.zero_grad()
        g_loss.backward()
        first.step()
""",
            "torch.optim.Adam(dis.parameters()",
            "torch.optim.Adam(gen.parameters()",
        ),
        "closure": (
            """
import torch
from torch import nn

def make(width):
    body = nn.Linear(width, width)
    head = nn.Linear(width, 1)
    optimizer = torch.optim.SGD([p for m in (body, head) for p in m.parameters()], lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = (head(body(x)) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
    return step
""",
            "[p for m in (body, head) for p in m.parameters()]",
            "body.parameters()",
        ),
    }
)
SILENT = ORIGINALS | {
    "what the trainer of a framework holds is the object itself": """
import torch
import pytorch_lightning as pl
from torch import nn
class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 2)
    def training_step(self, batch, place):
        x, y = batch
        return nn.functional.cross_entropy(self.head(self.body(x)), y)
    def configure_optimizers(self):
        return torch.optim.Adam(self.trainer.model.parameters(), lr=1e-3)
""",
    "frozen by hand": """
import torch
from torch import nn

def main(loader):
    body, head = nn.Linear(4, 4), nn.Linear(4, 1)
    for p in body.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(head.parameters(), lr=0.1)
    for x in loader:
        head(body(x)).mean().backward()
        opt.step()
        opt.zero_grad()
""",
    "only looked at": """
import torch
from torch import nn

def main(loader):
    net, probe = nn.Linear(4, 4), nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        with torch.no_grad():
            seen = probe(x)
        loss = (net(x) - seen).pow(2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
""",
    "inside another module": """
import torch
from torch import nn

class Both(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def forward(self, x):
        return self.b(self.a(x))

def main(loader):
    a, b = nn.Linear(4, 4), nn.Linear(4, 4)
    both = Both(a, b)
    opt = torch.optim.SGD(both.parameters(), lr=0.1)
    for x in loader:
        b(a(x)).mean().backward()
        opt.step()
        opt.zero_grad()
""",
    "parameters from elsewhere": """
import torch
from torch import nn

def main(loader, parameters):
    net = nn.Linear(4, 4)
    opt = torch.optim.SGD(parameters, lr=0.1)
    for x in loader:
        net(x).mean().backward()
        opt.step()
        opt.zero_grad()
""",
    "loss network": """
import torch
from torch import nn
from torchvision.models import vgg16

def main(loader):
    net, features = nn.Conv2d(3, 3, 3), vgg16(weights="DEFAULT").features
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        features(net(x)).mean().backward()
        opt.step()
        opt.zero_grad()
""",
    "random target": """
import torch
from torch import nn

def main(loader):
    net = nn.Linear(4, 4)
    target = nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        (net(x) - target(x).detach()).pow(2).mean().backward()
        opt.step()
        opt.zero_grad()
""",
    "optimizers of its own": """
import torch
from torch import nn

class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

    def training_step(self, batch, i):
        return self.fc(batch).mean()
""",
    "another name of the same": """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters())

def step(x):
    loss = compiled(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "the object by its global name": """
import torch
import pytorch_lightning as pl
from torch import nn

class Learner(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def training_step(self, batch, number):
        x, y = batch
        return nn.functional.cross_entropy(self.head(self.backbone(x)), y)

    def configure_optimizers(self):
        return torch.optim.SGD(model.parameters(), lr=0.1)

model = Learner()
""",
    "a loss of an old name": """
from torch import nn, optim

net = nn.Sequential(nn.Conv2d(3, 8, 1), nn.LogSoftmax(1))
criterion = nn.NLLLoss2d()
optimizer = optim.SGD(net.parameters(), lr=0.1)

def train(loader):
    for x, y in loader:
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "a lone look at gradients in a notebook": """
import torch
from torch import nn

first = nn.Linear(4, 2)
optimizer = torch.optim.Adam(first.parameters())
for x in range(100):
    loss = first(torch.randn(2, 4)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

second = nn.GRU(4, 2)
loss = second(torch.randn(2, 3, 4))[0].mean()
loss.backward()
for p in second.parameters():
    assert p.grad is not None
""",
}
