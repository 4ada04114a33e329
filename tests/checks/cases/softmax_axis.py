"""Programs for softmax-axis: must be found in FAILS, and not in SILENT."""

from . import mutants
from ._programs import mutant

FAILS, ORIGINALS = mutants(
    {
        "scores of heads, scaled and masked": (
            """
import math
import torch
import torch.nn.functional as F

def attend(q, k, v, mask):
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(64)
    if mask is not None:
        scores = scores + mask
    return torch.matmul(F.softmax(scores.float(), dim=-1).type_as(q), v)
""",
            "dim=-1",
            "dim=0",
        ),
        "axes with letters": (
            """
import torch as th

def attend(q, k, v):
    weight = th.einsum("bct,bcs->bts", q, k)
    weight = th.softmax(weight.float(), dim=-1)
    return th.einsum("bts,bcs->bct", weight, v)
""",
            "dim=-1",
            "dim=0",
        ),
        "one number picked for each row": (
            """
import torch.nn.functional as F

def guide(classifier, x, t, y):
    log_probs = F.log_softmax(classifier(x, t), dim=-1)
    return log_probs[range(len(x)), y.view(-1)].sum()
""",
            "dim=-1",
            "dim=0",
        ),
        "through a helper and a slice": (
            """
import torch.nn.functional as F
from torch import nn

def squash(x):
    return F.softmax(x, dim=1)

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU())
        self.head = nn.Linear(32, 12)

    def forward(self, image):
        x = self.net(image)
        z = self.head(x.view(x.shape[0], -1))
        return z[:, :2], squash(z[:, 2:])
""",
            "dim=1",
            "dim=0",
        ),
        "attention weights": (
            """
import torch
import torch.nn as nn

class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        energy = torch.bmm(self.q(x), self.k(x).transpose(1, 2)) / 8
        attention = energy.softmax(dim=-1)
        return torch.bmm(attention, self.v(x))
""",
            "softmax(dim=-1)",
            "softmax(dim=0)",
        ),
        "no dim on three axes": (
            """
import torch
from torch.nn import functional as F

def attend(decoder_state, encoder_states):
    scores = encoder_states.bmm(decoder_state.unsqueeze(2))
    weights = F.softmax(scores, dim=1)
    return (weights * encoder_states).sum(1)
""",
            "F.softmax(scores, dim=1)",
            "F.softmax(scores)",
        ),
        "classes after flatten, helper in another file": (
            """
# file: head.py
import torch

def probabilities(scores):
    return torch.softmax(scores, 1)
# file: net.py
from torch import nn
from head import probabilities

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(128, 10)

    def forward(self, x):
        x = x.view(x.size(0), -1)
        return probabilities(self.fc(x))
""",
            "torch.softmax(scores, 1)",
            "torch.softmax(scores, 0)",
        ),
        "layer of a segmentation net": (
            """
import torch.nn as nn

class Seg(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Conv2d(8, 4, 1)
        self.soft = nn.LogSoftmax(dim=1)

    def forward(self, x):
        return self.soft(self.out(x))
""",
            "nn.LogSoftmax(dim=1)",
            "nn.LogSoftmax(dim=0)",
        ),
        "closure": (
            """
import torch

def make(batch_size, net):
    def policy(states):
        flat = states.reshape(batch_size, -1)
        return torch.softmax(flat, dim=-1)
    return policy
""",
            "dim=-1",
            "dim=0",
        ),
        "logits of unknown shape are a question": (
            """
import torch
from torch import nn

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, state):
        return torch.softmax(self.fc(state), dim=-1)
""",
            "dim=-1",
            "dim=0",
        ),
    }
)
SILENT = ORIGINALS | {
    "a keyword that does not exist": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return F.softmax(self.fc(x), dims=0)
""",
    "vector parameter": """
import torch
from torch import nn

class W(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(3))

    def forward(self, xs):
        return (torch.softmax(self.w, 0)[:, None] * xs).sum(0)
""",
    "one axis after view": "import torch\n\ndef f(scores):\n    return torch.softmax(scores.view(-1), dim=0)\n",
    "implicit dim on two axes": """
import torch.nn.functional as F

def f(net, x):
    return F.softmax(net(x.view(x.size(0), -1)))
""",
    "graph attention over edges": """
from torch_geometric.utils import softmax

def f(alpha, index):
    return softmax(alpha, index)
""",
    "own function": "def softmax(x, dim=0):\n    return x\n\ndef f(x):\n    return softmax(x, 0)\n",
    "scores of one row": """
import torch

def f(q, keys):
    return torch.softmax(keys @ q, dim=0)
""",
    "axis as an argument": "import torch\n\ndef f(x, dim):\n    return torch.softmax(x, dim=dim)\n",
    "layer under the name of the function": """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=2)

    def forward(self, q, k, v):
        scores = torch.bmm(q, k.transpose(1, 2))
        return torch.bmm(self.softmax(scores), v)
""",
    "attention over the nodes of a graph": """
import torch
from torch import nn

class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Parameter(torch.zeros(4, 8))

    def forward(self, nodes):
        scores = torch.einsum("nd,hd->nh", nodes, self.key)
        return torch.einsum("nh,nd->hd", torch.softmax(scores, dim=0), nodes)
""",
    "one picture of a batch": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3)

    def forward(self, x):
        return self.conv(x)

def masks(images):
    net = Net()
    whole = net(images)
    return torch.softmax(whole[0], dim=0), torch.softmax(net(images).squeeze(0), dim=0)
""",
    "nodes of a graph readout": """
import torch, torch.nn as nn
class Readout(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(16, 1)
    def forward(self, nodes):
        n, d = nodes.shape
        w = torch.softmax(self.gate(nodes).view(n, 1), dim=0)
        return (w * nodes).sum(0)
""",
    "relations compete": """
import torch
import torch.nn.functional as F

def fuse(nodes, w_node, relations):
    nodes = torch.einsum("rnhk,rhki->rnhi", nodes, w_node)
    scores = (nodes * relations.unsqueeze(1)).sum(dim=-1, keepdim=True)
    return (F.softmax(scores, dim=0) * nodes).sum(dim=0)
""",
}
_PICKED = """
import torch
import torch.nn.functional as F

def scores_of(net, loader):
    found = []
    for x, y in loader:
        out = net(x)
        found.append(F.softmax(out, dim=0).cpu().data.numpy()[:, 1])
    return found
"""
_IN_LOSS = """
import torch.nn.functional as F

def step(net, x, y, domain):
    y_hat, found = net(x)
    return F.mse_loss(y_hat, y) + F.nll_loss(F.log_softmax(found, dim=0), domain)
"""
FAILS |= {"one class of each example is picked": _PICKED, "what a loss of classes is given": _IN_LOSS}
SILENT |= {
    "one class of each example, over the classes": mutant(_PICKED, ("dim=0", "dim=1")),
    "weights that are made to fit": mutant(_PICKED, ("[:, 1]", "[:, None]")),
    "a loss of classes, over the classes": mutant(_IN_LOSS, ("dim=0", "dim=-1")),
}
