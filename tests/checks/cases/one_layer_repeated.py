"""Programs for one-layer-repeated."""

from ._programs import mutant

_STACK = """
from torch import nn

class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return x + self.linear(x).relu()

class Net(nn.Module):
    def __init__(self, size, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block(size) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""
_TUPLE = """
from torch import nn

class Net(nn.Module):
    def __init__(self, size, depth, classes):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers += [nn.Linear(size, size), nn.ReLU(), nn.Dropout(0.5)]
        self.layers = nn.Sequential(nn.Linear(size, size), *layers, nn.Linear(size, classes))
"""
_ALL = "[Block(size) for _ in range(depth)]"
SILENT = {
    "stack": _STACK,
    "tuple": _TUPLE,
    "pooling": mutant(_STACK, (_ALL, "[nn.MaxPool1d(2)] * depth")),
    "shared": mutant(_STACK, (_ALL, "[Block(size)] * depth"), ("self.blocks =", "self.shared_blocks =")),
    "sizes": mutant(_STACK, (_ALL, "[Block(n) for n in [size] * depth]")),
    "said in words": mutant(
        _STACK,
        (_ALL, "[Block(size)] * depth"),
        ("class Net(nn.Module):\n", 'class Net(nn.Module):\n    """All blocks share one set of weights."""\n\n'),
    ),
    "once": mutant(_STACK, (_ALL, "[Block(size)] * 1")),
}
FAILS = {
    "stack": mutant(_STACK, (_ALL, "[Block(size)] * depth")),
    "sum": mutant(_STACK, (_ALL, "[Block(size)] + [Block(size)] * (depth - 1)")),
    "tuple": mutant(_TUPLE, ("*layers", "*((nn.Linear(size, size), nn.ReLU(), nn.Dropout(0.5)) * depth)")),
}
