"""Programs for plain-list-submodules: the check must speak on each of FAILS, and stay silent on each of
SILENT.
"""

FAILS = {
    "tuple": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = (nn.Linear(2, 2), nn.Linear(2, 2))

    def forward(self, x):
        return sum(b(x) for b in self.branches)
""",
    "dict": """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(2, 2), "b": nn.Linear(2, 3)}

    def forward(self, x, task):
        return self.heads[task](x)
""",
    "filled by key": """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.heads = {}
        for task in tasks:
            self.heads[task] = nn.Linear(2, 2)

    def forward(self, x):
        return [head(x) for head in self.heads.values()]
""",
    "local list assigned in the end": """
from torch import nn

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        convs = []
        for i in range(n):
            convs.append(nn.Sequential(nn.Conv1d(8, 8, 3), nn.ReLU()))
        self.convs = convs

    def forward(self, x):
        for conv in self.convs:
            x = conv(x)
        return x
""",
    "in-place addition": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        self.layers += [nn.Linear(2, 2), nn.ReLU()]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "list times a number": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = [nn.LSTMCell(4, 4)] * 3

    def forward(self, x, h):
        return self.cells[0](x, h)
""",
    "parameters": """
import torch
from torch import nn

class Mixer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weights = [nn.Parameter(torch.ones(1)) for _ in range(n)]

    def forward(self, xs):
        return sum(w * x for w, x in zip(self.weights, xs))
""",
    "lightning module with blocks from a package": """
# file: nets/blocks.py
import torch.nn as nn

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.ff = nn.Linear(d, d)

    def forward(self, x):
        return x + self.ff(self.norm(x))
# file: model.py
import lightning.pytorch as pl
from nets.blocks import Block

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.blocks = [Block(8) for _ in range(4)]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
""",
    "made by a helper function": """
from torch import nn

def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3), nn.BatchNorm2d(o), nn.ReLU())

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = [conv(3, 8), conv(8, 16)]

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x
""",
    "used by a method that forward calls": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = list(nn.Linear(4, 4) for _ in range(3))

    def mix(self, x):
        return sum(expert(x) for expert in self.experts)

    def forward(self, x):
        return self.mix(x)
""",
    "inherited from a project base class": """
from torch import nn

class Base(nn.Module):
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

class Net(Base):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
""",
}

FAILS["given to a module that registers nothing"] = """
import torch
from torch import nn

class Count(nn.Module):
    def __init__(self, *members):
        super().__init__()
        self.number = len(members)

class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = []
        for width in widths:
            self.layers.append(nn.Linear(8, width))
        self.count = Count(*self.layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def train(loader):
    net = Net([8, 8])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""

SILENT = {
    "kept in a sequence as well": """
import torch.nn as nn

class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        self.linears = []
        for a, b in zip(sizes, sizes[1:]):
            linear = nn.Linear(a, b)
            self.linears.append(linear)
            layers.extend([linear, nn.ReLU()])
        self.mlp = nn.Sequential(*layers)

    def start(self):
        for linear in self.linears:
            nn.init.zeros_(linear.bias)

    def forward(self, x):
        return self.mlp(x)
""",
    "fixed filters, each with a weight that is not trained before it goes into the list": """
import torch
from torch import nn
class Edges(nn.Module):
    def __init__(self, kernels):
        super().__init__()
        self.filters = []
        for kernel in kernels:
            conv = nn.Conv2d(1, 1, 3, bias=False)
            conv.weight = nn.Parameter(torch.tensor(kernel), requires_grad=False)
            self.filters.append(conv)
        self.out = nn.Conv2d(2, 1, 1)
    def forward(self, x):
        return self.out(torch.cat([f(x) for f in self.filters], 1))
net = Edges([[[[0.0]]], [[[1.0]]]])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 1, 4, 4)).mean().backward()
opt.step()
""",
    "frozen by its parameters before it goes into the list": """
import torch
from torch import nn
class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.judges = []
        for width in (8, 16):
            judge = nn.Linear(width, 1)
            for parameter in judge.parameters():
                parameter.requires_grad = False
            self.judges.append(judge)
        self.out = nn.Linear(2, 1)
    def forward(self, xs):
        return self.out(torch.cat([judge(x) for judge, x in zip(self.judges, xs)], 1))
net = Critics()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net([torch.ones(1, 8), torch.ones(1, 16)]).mean().backward()
opt.step()
""",
    "fixed filters, frozen one by one": """
import torch
from torch import nn
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = [nn.Conv2d(1, 1, k, bias=False) for k in (3, 5)]
        for f in self.filters:
            f.weight.requires_grad_(False)
            f.weight.fill_(1.0 / f.weight.numel())
        self.out = nn.Conv2d(2, 1, 1)
    def forward(self, x):
        return self.out(torch.cat([f(x) for f in self.filters], 1))
net = Blur()
net(torch.ones(1, 1, 9, 9)).sum().backward()
""",
    "a method gives their parameters": """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = [nn.Linear(2, 2) for _ in range(n)]
    def trainable(self):
        for l in self.layers:
            yield from l.parameters()
    def forward(self, x):
        for l in self.layers: x = l(x)
        return x
def train(loader):
    net = Net(3)
    opt = torch.optim.SGD(net.trainable(), lr=.1)
    for x in loader:
        opt.zero_grad(); net(x).sum().backward(); opt.step()
""",
    "registered by the local name of the list": """
from torch import nn

class Stack(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers.append(nn.Linear(a, b))
        self.layers = layers
        self.params = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def train(loss):
    model = Stack([3, 2])
    loss(model).backward()
""",
    "ModuleList": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(3):
            self.layers.append(nn.Linear(2, 2))
        self.layers += [nn.Linear(2, 2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "local list given to ModuleList": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(2, 2) for _ in range(3)]
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "wrapped later": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for _ in range(3):
            self.layers.append(nn.Linear(2, 2))
        self.layers = nn.ModuleList(self.layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "wrapped under another name": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.net = nn.Sequential(*self.blocks)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
""",
    "registered one by one": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for i in range(3):
            layer = nn.Linear(2, 2)
            self.layers.append(layer)
            self.add_module(f"layer{i}", layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "set as attributes by name": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bns = []
        for i in range(3):
            bn = nn.BatchNorm1d(2)
            setattr(self, "bn%i" % i, bn)
            self.bns.append(bn)

    def forward(self, x):
        for bn in self.bns:
            x = bn(x)
        return x
""",
    "list of registered attributes": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
        c = nn.Linear(2, 2)
        self.c = c
        self.order = [self.a, self.b, c]

    def forward(self, x):
        for layer in self.order:
            x = layer(x)
        return x
""",
    "layers without parameters": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.acts = [nn.ReLU(), nn.Tanh(), nn.MaxPool2d(2)]
        self.losses = {"l1": nn.L1Loss(), "l2": nn.MSELoss()}

    def forward(self, x, y):
        return self.losses["l1"](self.acts[0](x), y)
""",
    "hidden teacher": """
import torch
from torch import nn

class Distiller(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Linear(2, 2)
        self._teacher = [nn.Linear(2, 2).eval()]

    def forward(self, x):
        with torch.no_grad():
            target = self._teacher[0](x)
        return self.student(x), target
""",
    "kept out on purpose, says the comment": """
from torch import nn

class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        # a list, so that the network is not registered and not saved
        self.vgg = [nn.Conv2d(3, 8, 3)]

    def forward(self, x):
        return self.vgg[0](x)
""",
    "not a module": """
from torch import nn

class Agent:
    def __init__(self):
        self.nets = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        return self.nets[0](x)
""",
    "parameters() overridden": """
from torch import nn

class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.members = [nn.Linear(2, 2) for _ in range(3)]

    def parameters(self, recurse=True):
        for member in self.members:
            yield from member.parameters()

    def forward(self, x):
        return sum(m(x) for m in self.members)
""",
    "given to the optimizer by hand": """
import itertools
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = [nn.Linear(2, 2) for _ in range(3)]

    def forward(self, x):
        return [head(x) for head in self.heads]

def main():
    net = Net()
    parameters = itertools.chain(*(head.parameters() for head in net.heads))
    return torch.optim.SGD(parameters, lr=0.1)
""",
    "numbers and names": """
from torch import nn

class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = [s * 2 for s in sizes]
        self.names = []
        self.fc = nn.Linear(2, 2)
        for i, s in enumerate(sizes):
            self.names.append(f"fc{i}")

    def forward(self, x):
        return self.fc(x) * len(self.names)
""",
    "never used again": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.made = [nn.Linear(2, 2)]
        self.fc = self.made[0]

    def forward(self, x):
        return self.fc(x)
""",
    "list while folding for deployment": """
from torch import nn

class Rep(nn.Module):
    def __init__(self):
        super().__init__()
        self.bns = nn.ModuleList()
        self.bns.append(nn.BatchNorm2d(3))

    def deploy(self):
        self.__delattr__("bns")
        self.bns = []

    def forward(self, x):
        for bn in self.bns:
            x = bn(x)
        return x
""",
    "modules that the caller owns": """
from torch import nn

class Hook(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.hook = Hook([self.a])

    def forward(self, x):
        return self.hook(x)
""",
    "filled by the script that loads the weights": """
# file: net.py
import torch
from torch import nn

class Scorer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.tables = []
        for size in sizes:
            self.tables.append(nn.Parameter(torch.zeros(size, 8)))

    def forward(self, x):
        return [x @ table.t() for table in self.tables]
# file: score.py
import torch
from net import Scorer

model = Scorer([10, 20])
state = torch.load("model.pt")
for i in range(2):
    model.tables[i] = state[f"tables.{i}"]
print(model(torch.zeros(1, 8)))
""",
    "a copy of a Sequential, changed in places": """
import copy
from torch import nn

class Coupling(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = [nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width)]
        self.scale = nn.Sequential(*layers)
        self.shift = copy.deepcopy(self.scale)
        for i in range(len(self.shift)):
            if not isinstance(self.shift[i], nn.Linear):
                self.shift[i] = nn.ReLU()
        self.shift[0] = nn.Linear(width, width)

    def forward(self, x):
        return x * self.scale(x).exp() + self.shift(x)
""",
    "each member has an optimizer of its own": """
import torch
from torch import nn

class PerDomain(nn.Module):
    def __init__(self, width, domains):
        super().__init__()
        self.body = nn.Linear(8, width)
        self.heads = [nn.Linear(width, 3) for _ in range(domains)]
        self.head_optimizers = [torch.optim.SGD(self.heads[i].parameters(), lr=0.1) for i in range(domains)]
        self.optimizer = torch.optim.Adam(self.body.parameters())

    def update(self, batches):
        for head, optimizer, (x, y) in zip(self.heads, self.head_optimizers, batches):
            loss = nn.functional.cross_entropy(head(self.body(x)), y)
            for one in (optimizer, self.optimizer):
                one.zero_grad()
            loss.backward()
            for one in (optimizer, self.optimizer):
                one.step()
""",
    "a comma too many, which no call survives": """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 1),
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.conv(x))
""",
    "parameters taken out of a registered list": """
import torch
from torch import nn

class Gates(nn.Module):
    def __init__(self, order):
        super().__init__()
        scale = [nn.Parameter(torch.ones(1)) for _ in range(order)]
        offset = [nn.Parameter(torch.zeros(1)) for _ in range(order)]
        self.params = nn.ParameterList(scale + offset)
        self.scale = []
        for i in range(order):
            self.scale.append(self.params[i])

    def forward(self, x):
        for scale in self.scale:
            x = x * scale
        return x
""",
    "given one by one to a module that registers them": """
import torch
from torch import nn

class Kept(nn.Module):
    def __init__(self, *members):
        super().__init__()
        for place, member in enumerate(members):
            self.add_module(str(place), member)

class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = []
        for width in widths:
            self.layers.append(nn.Linear(8, width))
        self.layer_module = Kept(*self.layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def train(loader):
    net = Net([8, 8])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
""",
    "fixed filters, frozen where they lie in the list": """
import torch
from torch import nn
class LowPass(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.register_buffer("kernel", kernel)
        self.blocks = [nn.Conv1d(channels, channels, 12, bias=False), nn.Conv1d(channels, channels, 12, bias=False)]
        self.blocks[0].weight = nn.Parameter(self.kernel)
        self.blocks[0].requires_grad_(False)
        self.blocks[1].weight.requires_grad = False
    def forward(self, x):
        self.blocks[0] = self.blocks[0].to(x.device)
        return self.blocks[1](self.blocks[0](x))
def train(x, kernel):
    LowPass(4, kernel)(x).mean().backward()
""",
    "networks that have an optimizer each": """
import torch
from torch import nn
class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.nets = [nn.Linear(4, 4) for _ in range(5)]
        self.optimizers = [torch.optim.Adam(net.parameters()) for net in self.nets]
    def forward(self, x):
        return torch.stack([net(x) for net in self.nets]).mean(0)
    def update(self, x):
        for net, optimizer in zip(self.nets, self.optimizers):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
def train(x):
    Ensemble().update(x)
""",
    "the list marks layers that a helper makes and gives back": """
from torch import nn

class Injection(nn.Module):
    def __init__(self):
        super().__init__()
        self.fresh = []
        self.body = nn.Sequential(self._conv(3, 8, 1), nn.ReLU(), self._conv(8, 8, 1))

    def _conv(self, *args):
        conv = nn.Conv2d(*args)
        self.fresh.append(conv)
        return conv

    def is_fresh(self, layer):
        return any(layer is one for one in self.fresh)

    def forward(self, x):
        return self.body(x)

def train(x):
    Injection()(x).mean().backward()
""",
}
FAILS["what the helper gives back is dropped"] = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = []
        for _ in range(3):
            self._conv(8, 8, 1)

    def _conv(self, *args):
        conv = nn.Conv2d(*args)
        self.convs.append(conv)
        return conv

    def forward(self, x):
        for conv in self.convs:
            x = conv(x)
        return x

def train(x):
    Net()(x).mean().backward()
"""
