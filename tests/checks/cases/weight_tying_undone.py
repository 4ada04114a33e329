"""Programs for weight-tying-undone: must be found in FAILS, and not in SILENT."""

from . import mutants

LM = """
import torch
from torch import nn

class LM(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.out = nn.Linear(width, vocabulary, bias=False)
        # before
        self.out.weight = self.embed.weight
        # after

    def forward(self, x):
        return self.out(self.embed(x))
"""
FAILS, ORIGINALS = mutants(
    {
        "embedding replaced": (
            LM,
            "        # after",
            "        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)",
        ),
        "head replaced": (LM, "        # after", "        self.out = nn.Linear(width, vocabulary, bias=False)"),
        "weight replaced": (
            LM,
            "        # after",
            "        self.embed.weight = nn.Parameter(torch.randn(vocabulary, width))",
        ),
        "new parameter": (LM, "= self.embed.weight", "= nn.Parameter(self.embed.weight)"),
        "in a method that is called later": (
            LM + "\n    def reset(self, v, w):\n        nn.init.zeros_(self.out.weight)\n",
            "        # after",
            "        self.reset(vocabulary, width)",
            "        nn.init.zeros_(self.out.weight)",
            "        self.out.weight = nn.Parameter(torch.zeros(v, w))",
        ),
        "from outside": (
            """
import torch.nn as nn

def build(transformer, n, d):
    transformer.lm_head.weight = transformer.wte.weight
    nn.init.normal_(transformer.wte.weight)
    return transformer
""",
            "    nn.init.normal_(transformer.wte.weight)",
            "    transformer.wte = nn.Embedding(n, d)",
        ),
    }
)
SILENT = ORIGINALS | {
    "tied again": LM.replace(
        "# after", "self.embed = nn.Embedding(vocabulary, width)\n        self.out.weight = self.embed.weight"
    ),
    "replaced before": LM.replace("# before", "self.embed = nn.Embedding(vocabulary, width)"),
    "initialised in place": LM.replace("# after", "self.embed.weight.data.normal_()"),
    "copied on purpose": LM.replace("= self.embed.weight", "= nn.Parameter(self.embed.weight.detach().clone())"),
    "other layer replaced": LM.replace("# after", "self.drop = nn.Linear(width, width)"),
    "in an else": """
from torch import nn

class LM(nn.Module):
    def __init__(self, n, d, tie):
        super().__init__()
        self.embed = nn.Embedding(n, d)
        self.out = nn.Linear(d, n, bias=False)
        if tie:
            self.out.weight = self.embed.weight
        else:
            self.out = nn.Linear(d, n)
""",
    "momentum encoder": """
from torch import nn

def build(q, k):
    k.fc.weight = nn.Parameter(q.fc.weight)
    return k
""",
}
