"""Programs for parameter-lost."""

from ._programs import mutant

_TOKENS = """
import torch
import torch.nn as nn

class Encoder(nn.Module):
    def __init__(self, width, device="cuda"):
        super().__init__()
        self.device = device
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.scale = nn.Parameter(torch.tensor(0.1))
        self.body = nn.Linear(width, width)

    def forward(self, x):
        return self.scale * self.body(torch.cat([self.cls.expand(len(x), -1, -1), x], 1))
"""
_GRAPH = """
import torch
from torch.nn import Linear, Module, Parameter

class Graph(Module):
    def __init__(self, nodes, width, device):
        super().__init__()
        adjacency = torch.rand(nodes, nodes)
        self.adjacency = Parameter(adjacency)
        self.read = Linear(width, 1)

    def forward(self, x):
        return self.read(self.adjacency.softmax(-1) @ x)
"""
SILENT = {
    "tokens": _TOKENS,
    "a graph": _GRAPH,
    "moved before": mutant(_TOKENS, ("nn.Parameter(torch.zeros(1, 1, width))", "nn.Parameter(torch.zeros(1, 1, width).to(device))")),
    "stays on the CPU": mutant(_TOKENS, ("nn.Parameter(torch.tensor(0.1))", 'nn.Parameter(torch.tensor(0.1)).to("cpu")')),
    "of another type": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency).to(torch.float32)")),
    "a fixed filter": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency, requires_grad=False).to(device)")),
    "of the usual type": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency).to(torch.get_default_dtype())")),
    "frozen": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency).requires_grad_(False)")),
    "kept before": mutant(_TOKENS, ("self.scale * self.body", "(self.scale * 2).to(x.device) * self.body")),
    "no module": """
import torch

class Table:
    def __init__(self, width):
        self.values = torch.nn.Parameter(torch.zeros(width)) * 0.1
""",
}  # fmt: skip
FAILS = {
    "moved to a device": mutant(_TOKENS, ("nn.Parameter(torch.zeros(1, 1, width))", "nn.Parameter(torch.zeros(1, 1, width)).to(device)")),
    "moved by cuda()": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency).cuda()")),
    "a factor": mutant(_TOKENS, ("nn.Parameter(torch.tensor(0.1))", "0.1 * nn.Parameter(torch.tensor(1.0))")),
    "a quotient": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency) / nodes")),
    "another shape": mutant(_GRAPH, ("Parameter(adjacency)", "Parameter(adjacency).unsqueeze(0)")),
}  # fmt: skip
