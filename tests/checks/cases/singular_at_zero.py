"""Programs for singular-at-zero: must be found in FAILS, and not in SILENT."""

from . import mutants
from ._programs import mutant

STEP = """

def step(net, x, y, mask, optimizer):
    loss = criterion(net(x), y, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FAILS, ORIGINALS = mutants(
    {
        "a norm by hand": (
            """
import torch
from torch import nn

class RMSNorm(nn.Module):
    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(torch.mean(x**2, dim=-1, keepdim=True) + 1e-6)
""",
            " + 1e-6",
            "",
        ),
        "the spread of a group": (
            """
import torch
from torch import nn

class Spread(nn.Module):
    def forward(self, x):
        spread = x.view(4, -1, x.size(1))
        spread = torch.sqrt(spread.var(0, unbiased=False) + 1e-8)
        return torch.cat([x, spread.mean(1, keepdim=True)], 1)
""",
            " + 1e-8",
            "",
        ),
        "an entropy by hand": (
            """
import torch as t
from torch import nn

class Codes(nn.Module):
    def forward(self, picked):
        used = picked.mean(0)
        return t.exp(-t.sum(used * t.log(used + 1e-10)))
""",
            " + 1e-10",
            "",
        ),
        "one minus a sigmoid": (
            """
import torch as t
from torch import nn

class FocalLoss(nn.Module):
    def forward(self, logits, target):
        p = t.sigmoid(logits)
        return (-(1 - target) * p ** 2 * t.log(1.0 - p + 1e-14)).mean()
""",
            " + 1e-14",
            "",
        ),
        "root of squares": (
            "import torch\n\ndef criterion(a, b, mask):\n    d = a - b\n    return (d.pow(2).sum(-1) + 1e-6).sqrt().mean()\n"
            + STEP,
            " + 1e-6",
            "",
        ),
        "logarithm of a softmax": (
            "import torch\n\ndef criterion(a, b, mask):\n    p = torch.softmax(a, 1)\n    return -(b * torch.log(p + 1e-8)).sum(1).mean()\n"
            + STEP,
            "p + 1e-8",
            "p",
        ),
        "logarithm of a sigmoid by hand": (
            """
import torch

class Loss(torch.nn.Module):
    def forward(self, a, b, mask):
        p = torch.sigmoid(a).clamp(1e-6, 1 - 1e-6)
        return -(b * p.log()).mean()

criterion = Loss()
"""
            + STEP,
            ".clamp(1e-6, 1 - 1e-6)",
            "",
        ),
        "normalised by hand in another file": (
            "# file: geometry.py\ndef unit(v):\n    return v / (v.norm(dim=-1, keepdim=True) + 1e-8)\n# file: train.py\nfrom geometry import unit\n\ndef criterion(a, b, mask):\n    return 1 - (unit(a) * unit(b)).sum(-1).mean()\n"
            + STEP,
            "(v.norm(dim=-1, keepdim=True) + 1e-8)",
            "v.norm(dim=-1, keepdim=True)",
        ),
        "mean over a mask": (
            "def criterion(a, b, mask):\n    wrong = (a - b).abs() * mask\n    return wrong.sum() / mask.sum().clamp(min=1)\n"
            + STEP,
            ".clamp(min=1)",
            "",
        ),
        "lightning, power of a half": (
            """
import lightning as L
import torch

class Lit(L.LightningModule):
    def training_step(self, batch, i):
        x, y = batch
        mse = ((self(x) - y) ** 2).mean()
        return torch.sqrt(mse + 1e-8)
""",
            "mse + 1e-8",
            "mse",
        ),
    }
)
_RECORDED = """
from dataclasses import dataclass
import torch
from torch import nn

def rms(x):
    return x.float().square().mean().sqrt()

@dataclass
class Watched:
    size: torch.Tensor

@dataclass
class Output:
    hidden: torch.Tensor
    watched: Watched

def watch(hidden):
    return Watched(size=rms(hidden))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x, is_watched=False):
        hidden = self.layer(x)
        if not is_watched:
            return hidden
        return Output(hidden=hidden, watched=watch(hidden))

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
"""
FAILS["what is watched is trained too"] = mutant(
    _RECORDED, ("            return hidden\n", "            return rms(hidden)\n")
)
_UNCALLED = """
# file: losses.py
import torch

def entropy_loss(p):
    return -(p * torch.log(p)).sum(1).mean()

def distance_loss(a, b):
    return ((a - b) ** 2).sum(1).mean()
# file: train.py
import torch
from torch import nn
from losses import distance_loss

def main(loader):
    net = nn.Linear(8, 4)
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        loss = distance_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main([])
"""
FAILS["one of two loss functions that are chosen by name"] = mutant(
    _UNCALLED,
    ("from losses import distance_loss", "import losses"),
    ("loss = distance_loss(", 'loss = getattr(losses, input() + "_loss")('),
)
SILENT = ORIGINALS | {
    "a loss function that no program comes to": _UNCALLED,
    "a record of what is watched": _RECORDED,
    "a pair": mutant(_RECORDED, ("return Output(hidden=hidden, watched=watch(hidden))", "return hidden, rms(hidden)")),
    "charbonnier, whose eps is squared too": """
import torch
from torch import nn

class Charbonnier(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.eps = eps

    def forward(self, x, y):
        return torch.sqrt((x - y) ** 2 + self.eps**2).mean() + torch.sqrt((x - y) ** 2 + 1e-3**2).mean()

criterion = Charbonnier()

def step(net, x, y, optimizer):
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "only logged": """
import torch

def step(net, x, y):
    mse = ((net(x) - y) ** 2).mean()
    mse.backward()
    return torch.sqrt(mse).item()
""",
    "log of a parameter": """
import torch

def step(net, x, scale):
    loss = (net(x) / scale).pow(2).mean() + torch.log(scale)
    loss.backward()
""",
    "normalize": """
import torch.nn.functional as F

def step(net, x, y):
    loss = (F.normalize(net(x), dim=1) - y).abs().mean()
    loss.backward()
""",
    "root of a count": """
import math
import torch

def step(net, x, y):
    loss = (net(x) - y).abs().mean() / math.sqrt(x.shape[1])
    loss.backward()
""",
    "variance plus epsilon": """
import torch

def step(net, x):
    out = net(x)
    loss = torch.relu(1 - torch.sqrt(out.var(dim=0) + 1e-4)).mean()
    loss.backward()
""",
    "log softmax": """
import torch

def step(net, x, y):
    loss = -(torch.log_softmax(net(x), 1) * y).sum()
    loss.backward()
""",
    "mean by a count": """
def step(net, x, y, n_valid):
    loss = (net(x) - y).abs().sum() / n_valid
    loss.backward()
""",
    "features of a model by their norm": """
import torch
from torch import nn
class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(8, 4)
    def encode_image(self, x):
        return self.image(x)
    def forward(self, x, text):
        features = self.encode_image(x)
        features = features / features.norm(dim=-1, keepdim=True)
        return features @ text.t()
def train(loader):
    net = Clip()
    optimizer = torch.optim.Adam(net.parameters())
    for x, text, y in loader:
        loss = nn.functional.cross_entropy(net(x, text), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "lengths of the labels": """
import torch
from torch import nn
class EdgeLoss(nn.Module):
    def forward(self, out, coord_gt, face):
        length = torch.sqrt(torch.sum((coord_gt[:, face[:, 0], :] - coord_gt[:, face[:, 1], :]) ** 2, 2))
        return (out - length).abs().mean()
""",
    "a metric": """
import torch
from torch import nn
class DistanceMetric(nn.Module):
    def forward(self, predicted, there):
        return torch.sqrt(torch.mean(torch.sum((predicted - there) ** 2, dim=1)))
""",
    "a distance that a loss function returns beside the loss, as numbers": (
        _SEQUENCE := """
import torch

def sequence_loss(flow_preds, flow_gt, valid):
    flow_loss = 0.0
    for flow in flow_preds:
        flow_loss += (flow - flow_gt).abs().mean()
    epe = torch.sum((flow_preds[-1] - flow_gt) ** 2, dim=1).sqrt()
    epe = epe.view(-1)
    near = epe[valid.reshape(epe.shape)]
    metrics = {"epe": near.mean().item(), "1px": (near < 1).float().mean().item()}
    return flow_loss, metrics
"""
    ),
}
FAILS["of a distance that is returned, and looked at as well"] = mutant(
    _SEQUENCE, ("return flow_loss, metrics", "return flow_loss + near.mean(), metrics")
)
_HISTORY = """
import torch
from torch import nn

class Sampler(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.history = torch.zeros(steps, 10)

    def forward(self, net, x, y, t):
        shares = torch.sqrt((self.history**2).mean(-1))
        loss = ((net(x) - y) ** 2).mean() / shares[t]
        self.history[t, -1] = loss.detach()
        return loss.mean()

sampler = Sampler(100)

def step(net, x, y, t, optimizer):
    optimizer.zero_grad()
    sampler(net, x, y, t).backward()
    optimizer.step()
"""
_POOLED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.LSTM(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.max(self.words(x)[0], dim=0)[0])

def bce_loss(out, y):
    p = torch.sigmoid(out)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()

def step(x, y, optimizer):
    loss = bce_loss(Net()(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FAILS["pooling keeps nothing away from zero"] = _POOLED
SILENT |= {
    "a history that no gradient goes through": _HISTORY,
    "a maximum with a bound": mutant(
        _POOLED,
        ("p = torch.sigmoid(out)", "p = torch.max(torch.sigmoid(out), out.new_tensor(1e-6))"),
        ("1 - p)", "2 - p)"),
    ),
}
_SWITCHED = """
import torch
from torch import nn

class Radius(nn.Module):
    def __init__(self, with_r=False):
        super().__init__()
        self.with_r = with_r

    def forward(self, x):
        if self.with_r:
            return torch.cat([x, torch.sqrt(x.pow(2) + x.flip(1).pow(2))], 1)
        return torch.cat([x, x], 1)

class Net(nn.Module):
    def __init__(self, width=8, with_r=False):
        super().__init__()
        self.radius = Radius(with_r=with_r)
        self.head = nn.Linear(2 * width, 1)

    def forward(self, x):
        return self.head(self.radius(x))

net = Net(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        (net(x) - y).pow(2).mean().backward()
        optimizer.step()
"""
SILENT["a root behind a setting that nobody gives"] = _SWITCHED
FAILS["a root behind a setting that is given"] = mutant(_SWITCHED, ("Net(4)", "Net(4, with_r=True)"))
