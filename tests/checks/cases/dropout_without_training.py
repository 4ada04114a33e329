"""Programs for dropout-without-training: must be found in FAILS, and not in SILENT."""

from . import mutants

NET = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.p, self.fc = p, nn.Linear(4, 4)

    def forward(self, x):
        x = self.fc(x)
        # here
        return x

    def encode(self, x):
        return self.fc(x)
"""
FAILS, ORIGINALS = mutants(
    {
        "functional with a rate of its own": (
            NET.replace("# here", "x = F.dropout(x, self.p, self.training)"),
            "F.dropout(x, self.p, self.training)",
            "F.dropout(x, self.p)",
        ),
        "by keyword": (
            NET.replace("# here", "x = F.dropout(x, p=0.5, training=self.training)"),
            ", training=self.training",
            "",
        ),
        "through torch's other name": (
            NET.replace("# here", "x = torch.nn.functional.dropout2d(x, training=self.training)"),
            "(x, training=self.training)",
            "(x)",
        ),
        "layer made in forward": (
            NET.replace("self.p, self.fc =", "self.drop = nn.Dropout(p)\n        self.p, self.fc =").replace(
                "# here", "x = self.drop(x)"
            ),
            "x = self.drop(x)",
            "x = nn.Dropout(self.p)(x)",
        ),
        "a method that forward calls": (
            NET.replace("# here", "x = self.encode(x)").replace(
                "return self.fc(x)", "return F.dropout(self.fc(x), 0.3, self.training)"
            ),
            ", 0.3, self.training)",
            ", 0.3)",
        ),
        "lightning": (
            """
import lightning as L
import torch.nn.functional as F
from torch import nn

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return F.alpha_dropout(self.fc(x), 0.2, training=self.training)
""",
            ", training=self.training",
            "",
        ),
    }
)
FAILS |= {
    "a layer of graphs, where the test asks for the rate alone": """
import torch.nn.functional as F
from torch_geometric.nn import MessagePassing

class Layer(MessagePassing):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x, edges):
        if self.rate:
            x = F.dropout(x, p=float(self.rate))
        return self.propagate(edges, x=x)

def run(x, edges):
    model = Layer(0.5)
    model.eval()
    return model(x, edges)
""",
}
SILENT = ORIGINALS | {
    "every table of models sets it to zero": """
import torch.nn.functional as F
from torch import nn
TABLE = {"small": {"width": 2, "dropout_2d": 0.0}, "large": {"width": 4, "dropout_2d": 0.0}}
class Net(nn.Module):
    def __init__(self, width, dropout_2d=0.2):
        super().__init__()
        self.dropout_2d = dropout_2d
        self.fc = nn.Linear(2, width)
    def forward(self, x):
        return F.dropout2d(self.fc(x), p=self.dropout_2d)
def evaluate(x, size):
    net = Net(**TABLE[size]); net.eval(); return net(x)
""",
    "left before in evaluation mode": """
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        x = self.fc(x)
        if not self.training:
            return x
        return F.dropout(x, 0.5)
def evaluate(x):
    net = Net(); net.eval(); return net(x)
""",
    "a switch decides": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.fc, self.rate = nn.Linear(2, 2), rate

    def forward(self, x, is_on):
        x = self.fc(x)
        if self.rate > 0 and is_on:
            x = F.dropout(x, self.rate)
        return x

def evaluate(x):
    net = Net(0.5)
    net.eval()
    return net(x, False)
""",
    "zero in each configuration": """
# file: conf/model.yaml
model:
  drop_rate: 0.0
# file: net.py
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, drop_rate):
        super().__init__()
        self.fc, self.drop_rate = nn.Linear(2, 2), drop_rate

    def forward(self, x):
        return F.dropout(self.fc(x), self.drop_rate)

def evaluate(cfg, x):
    net = Net(cfg.drop_rate)
    net.eval()
    return net(x)
""",
    "prenet": NET.replace("class Net", "class Prenet").replace("# here", "x = F.dropout(x, 0.5)"),
    "told to stay on": NET.replace("# here", "x = F.dropout(x, 0.5, training=True)"),
    "guarded": NET.replace("# here", "if self.training:\n            x = F.dropout(x, 0.5)"),
    "rate from the mode": NET.replace("# here", "x = F.dropout(x, self.p if self.training else 0.0)"),
    "no dropout": NET.replace("# here", "x = F.dropout(x, 0.0)"),
    "an augmentation of data": "import torch.nn.functional as F\n\ndef mask(batch):\n    return F.dropout(batch, 0.1)\n",
    "own dropout": NET.replace("# here", "x = dropout(x, 0.1)") + "\ndef dropout(x, p):\n    return x\n",
}
