"""Programs for double-softmax: the check must speak on each of FAILS, and stay silent on each of SILENT."""

from ._programs import mutant

FAILS = {
    "of a table of losses the arm that squashes calls the one with a sigmoid of its own": """
import torch
from torch import nn
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = {}
        self.losses["centre"] = nn.MSELoss()
        self.losses["size"] = nn.BCEWithLogitsLoss()
    def forward(self, outputs, targets):
        found = 0
        for head in outputs:
            if head == "centre":
                found = found + self.losses[head](outputs[head], targets[head])
            elif head == "size":
                found = found + self.losses[head](torch.sigmoid(outputs[head]), targets[head])
        return found
def train(net, loader, optimizer):
    heads = Heads()
    for x, y in loader:
        optimizer.zero_grad()
        heads(net(x), y).backward()
        optimizer.step()
""",
    "the arm that squashes is one in which the loss with a sigmoid of its own may be there": """
import torch
import torch.nn.functional as F
from torch import nn
from settings import cfg
class Focal(nn.Module):
    def forward(self, scores, targets):
        return F.binary_cross_entropy_with_logits(scores, targets)
class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        if cfg.KIND == "focal":
            self.score = Focal()
        else:
            self.score = Focal()
    def forward(self, scores, targets):
        if cfg.KIND == "focal":
            return self.score(scores, targets)
        if cfg.OTHER == "plain":
            return self.score(torch.sigmoid(scores), targets)
def loss_of(scores, y):
    return Loss()(scores, y)
""",
    "a loss that is made where it is called": """
import torch
from torch import nn
def train(net, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.CrossEntropyLoss()(net(x).softmax(-1), y).backward()
        optimizer.step()
""",
    "softmax method right before the functional loss": """
import torch.nn.functional as F

def loss_of(model, x, y):
    return F.cross_entropy(model(x).softmax(dim=-1), y)
""",
    "input given by keyword": """
import torch
from torch.nn.functional import cross_entropy

def loss_of(logits, y):
    return cross_entropy(target=y, input=torch.softmax(logits, 1))
""",
    "variable squashed in place of the logits": """
import torch.nn as nn
import torch.nn.functional as F

criterion = nn.CrossEntropyLoss()

def loss_of(model, x, y):
    out = model(x)
    out = F.softmax(out, dim=1)
    return criterion(out, y)
""",
    "loss and model as attributes of a trainer in another file": """
# file: nets/small.py
from torch import nn

class Small(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(8, classes)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        return self.act(self.body(x))

# file: trainer.py
import torch.nn as nn

class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def step(self, x, y):
        output = self.model(x)
        return self.criterion(output, y)

# file: main.py
from nets.small import Small
from trainer import Trainer

trainer = Trainer(Small(10).cuda())
""",
    "loss class as a default argument": """
from torch import nn

class Net(nn.Sequential):
    pass

def train(loader, loss_cls=nn.CrossEntropyLoss):
    model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
    loss_fn = loss_cls()
    for x, y in loader:
        loss_fn(model(x), y).backward()
""",
    "criterion and model passed as parameters": """
# file: engine.py
def train_epoch(model, loader, criterion):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()

# file: run.py
import torch.nn as nn
import torch.nn.functional as F
from engine import train_epoch

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x):
        x = self.fc(x)
        return F.softmax(x, dim=1)

def main(loader):
    train_epoch(Net(), loader, nn.CrossEntropyLoss())
""",
    "one element of a tuple output": """
import torch
from torch import nn

class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.adv = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
        self.aux = nn.Sequential(nn.Linear(8, 10), nn.Softmax(dim=1))

    def forward(self, x):
        return self.adv(x), self.aux(x)

net = Discriminator()
auxiliary_loss = torch.nn.CrossEntropyLoss()

def loss_of(x, y):
    validity, label = net(x)
    return auxiliary_loss(label, y)
""",
    "resized between softmax and loss": """
import torch.nn.functional as F
from torch import nn

class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 21, 1)

    def forward(self, x):
        p = F.softmax(self.conv(x), dim=1)
        return F.interpolate(p, size=x.shape[-2:], mode="bilinear")

def loss_of(x, y):
    model = Segmenter()
    return F.cross_entropy(model(x).contiguous().view(-1, 21), y.view(-1))
""",
    "tail of a Sequential built from a list": """
from torch import nn

def make(depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(8, 8), nn.ReLU()]
    layers.append(nn.Linear(8, 2))
    layers.append(nn.Softmax(dim=1))
    return nn.Sequential(*layers)

model = make(3)
loss_fn = nn.CrossEntropyLoss()

def loss_of(x, y):
    return loss_fn(model(x), y)
""",
    "named layers of an OrderedDict": """
from collections import OrderedDict
from torch import nn

layers = OrderedDict([("fc", nn.Linear(4, 2)), ("prob", nn.Softmax(dim=1)), ("drop", nn.Dropout())])
model = nn.Sequential(layers)

def loss_of(x, y):
    return nn.functional.cross_entropy(model(x), y)
""",
    "wrapped model": """
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=-1)

def main(rank, loader):
    model = Net().to(rank)
    model = DDP(model, device_ids=[rank])
    model = torch.compile(model)
    criterion = nn.CrossEntropyLoss().to(rank)
    for x, y in loader:
        loss = criterion(model(x), y)
""",
    "factory with a default, in a package with relative imports": """
# file: pkg/__init__.py
from .factory import build
# file: pkg/factory.py
from .models.net import Net as _Net

def build(name="net", **kwargs):
    model = _Net(**kwargs)
    model.train()
    return model
# file: pkg/models/__init__.py
# file: pkg/models/net.py
from torch import nn
from ..ops import to_probabilities

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, 3)

    def forward(self, x):
        return to_probabilities(self.fc(x))
# file: pkg/ops.py
import torch.nn.functional as F

def to_probabilities(x, dim=1):
    return F.softmax(x, dim=dim)
# file: train.py
import torch.nn as nn
from pkg import build

criterion = nn.CrossEntropyLoss()

def loss_of(x, y):
    model = build(width=4)
    return criterion(model(x), y)
""",
    "forward inherited from a project base class": """
from torch import nn

class Base(nn.Module):
    def forward(self, x):
        return self.head(self.body(x)).softmax(1)

class Net(Base):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.head = nn.Linear(2, 2)

loss = nn.CrossEntropyLoss()

def loss_of(x, y):
    return loss(Net()(x), y)
""",
    "entry of a dict output": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        logits = self.fc(x)
        return {"logits": logits, "probs": F.softmax(logits, dim=-1)}

def loss_of(x, y):
    model = Net()
    out = model(x)
    return F.cross_entropy(out["probs"], y)
""",
    "loss inside a project loss module": """
import torch.nn as nn
import torch.nn.functional as F

class FocalLoss(nn.Module):
    def forward(self, inputs, targets):
        ce = F.cross_entropy(inputs, targets, reduction="none")
        return ((1 - (-ce).exp()) ** 2 * ce).mean()

def train(net, loader):
    criterion = FocalLoss()
    for x, y in loader:
        probs = F.softmax(net(x), dim=1)
        criterion(probs, y).backward()
""",
    "output kept on self between methods": """
import torch
from torch import nn

class Model:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Softmax(dim=1))
        self.loss_fn = nn.CrossEntropyLoss()

    def take(self, x, y):
        self.x, self.y = x, y

    def forward(self):
        self.output = self.net(self.x)

    def backward(self):
        self.loss = self.loss_fn(self.output, self.y)
        self.loss.backward()
""",
    "flag fixed to True by the constructor call": """
from torch import nn

class Net(nn.Module):
    def __init__(self, softmax=False):
        super().__init__()
        self.softmax = softmax
        self.fc = nn.Linear(3, 3)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.fc(x)
        if self.softmax:
            x = self.act(x)
        return x

model = Net(softmax=True)
criterion = nn.CrossEntropyLoss()

def loss_of(x, y):
    return criterion(model(x), y)
""",
    "sigmoid before binary cross-entropy with logits": """
import torch
import torch.nn.functional as F

def loss_of(net, x, y):
    score = torch.sigmoid(net(x))
    return F.binary_cross_entropy_with_logits(score, y)
""",
    "loss told apart by isinstance, squashed in the arm of its own": """
from torch import nn

def loss_of(model, x, y, criterion=nn.CrossEntropyLoss()):
    if isinstance(criterion, nn.MSELoss):
        return criterion(model(x), y)
    elif isinstance(criterion, nn.CrossEntropyLoss):
        return criterion(model(x).softmax(1), y)
""",
    "every arm squashes": """
import torch
import torch.nn as nn

criterion = nn.CrossEntropyLoss()

def loss_of(net, x, y, hard):
    if hard:
        p = nn.functional.gumbel_softmax(net(x), hard=True)
    else:
        p = torch.softmax(net(x), dim=1)
    return criterion(p, y)
""",
}

SILENT = {
    "of a table of losses the arm that squashes calls another one": """
import torch
from torch import nn
class Centres(nn.Module):
    def forward(self, scores, targets):
        return (scores - targets).abs().mean()
class Sizes(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.BCEWithLogitsLoss()
    def forward(self, scores, targets):
        return self.loss(scores, targets)
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = {}
        self.losses["centre"] = Centres()
        self.losses["size"] = Sizes()
    def forward(self, outputs, targets):
        found = 0
        for head in outputs:
            output = outputs[head]
            if head == "centre":
                output = torch.sigmoid(output)
                found = found + self.losses[head](output, targets[head])
            elif head == "size":
                found = found + self.losses[head](output, targets[head])
        return found
def train(net, loader, optimizer):
    heads = Heads()
    for x, y in loader:
        optimizer.zero_grad()
        heads(net(x), y).backward()
        optimizer.step()
""",
    "the last layer is replaced by its place": """
import torch
from torch import nn
def build():
    net = nn.Sequential(nn.Linear(8, 4), nn.Softmax(dim=1))
    net[-1] = nn.Identity()
    return net
def train(loader):
    net = build()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    crit = nn.CrossEntropyLoss()
    for x, y in loader:
        opt.zero_grad()
        crit(net(x), y).backward()
        opt.step()
""",
    "the softmax is replaced by setattr": """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.act = nn.Softmax(dim=1)
    def forward(self, x):
        return self.act(self.fc(x))
def train(loader):
    net = Net()
    setattr(net, "act", nn.Identity())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    crit = nn.CrossEntropyLoss()
    for x, y in loader:
        opt.zero_grad()
        crit(net(x), y).backward()
        opt.step()
""",
    "the softmax is replaced in _modules": """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.act = nn.Softmax(dim=1)
    def forward(self, x):
        return self.act(self.fc(x))
def train(loader):
    net = Net()
    net._modules["act"] = nn.Identity()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    crit = nn.CrossEntropyLoss()
    for x, y in loader:
        opt.zero_grad()
        crit(net(x), y).backward()
        opt.step()
""",
    "the softmax is taken out again": """
import torch
from torch import nn
def train(loader):
    net = nn.Sequential(nn.Linear(8, 4), nn.Softmax(dim=1))
    net.pop(-1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
""",
    "a helper replaces the layer of a model": """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 4), nn.Softmax(dim=1))
    def forward(self, x):
        return self.body(x)
def adapt(net):
    net.body[1] = nn.Identity()
    return net
def train(loader):
    net = adapt(Net())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
""",
    "attention": """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 10)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        w = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return self.out(w @ v)

def loss_of(x, y):
    model = Attention()
    return nn.functional.cross_entropy(model(x), y)
""",
    "softmax for the metric only": """
import torch.nn.functional as F

def loss_of(model, x, y):
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    probs = F.softmax(logits, dim=1)
    return loss, probs.max(1)
""",
    "log_softmax before cross-entropy is idempotent": """
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return F.log_softmax(self.fc(x), dim=1)

criterion = nn.CrossEntropyLoss()

def loss_of(x, y):
    return criterion(Net()(x), y)
""",
    "softmax outside of training only": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        x = self.fc(x)
        if not self.training:
            x = F.softmax(x, dim=1)
        return x

def loss_of(x, y):
    return F.cross_entropy(Net()(x), y)
""",
    "early return of logits while training": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        x = self.fc(x)
        if self.training:
            return x
        return F.softmax(x, dim=1)

def loss_of(x, y):
    return F.cross_entropy(Net()(x), y)
""",
    "probabilities from another method": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)

    def predict(self, x):
        return F.softmax(self(x), dim=1)

def loss_of(x, y):
    net = Net()
    return F.cross_entropy(net(x), y)
""",
    "sigmoid discriminator with plain BCELoss": """
from torch import nn

netD = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
criterion = nn.BCELoss()

def loss_of(x, y):
    return criterion(netD(x), y)
""",
    "soft targets for distillation": """
import torch.nn.functional as F

def loss_of(student, teacher, x, t):
    return F.cross_entropy(student(x), F.softmax(teacher(x) / t, dim=1))
""",
    "gate that weighs experts": """
import torch.nn.functional as F
from torch import nn

class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList([nn.Linear(8, 10) for _ in range(4)])

    def forward(self, x):
        w = F.softmax(self.gate(x), dim=1)
        return sum(w[:, i, None] * e(x) for i, e in enumerate(self.experts))

def loss_of(x, y):
    return F.cross_entropy(Mixture()(x), y)
""",
    "flag that is off": """
from torch import nn

class Net(nn.Module):
    def __init__(self, softmax=False):
        super().__init__()
        self.softmax = softmax
        self.fc = nn.Linear(3, 3)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.fc(x)
        if self.softmax:
            x = self.act(x)
        return x

model = Net()
criterion = nn.CrossEntropyLoss()

def loss_of(x, y):
    return criterion(model(x), y)
""",
    "logits and probabilities returned, logits used": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        logits = self.fc(x)
        return logits, F.softmax(logits, dim=1)

def loss_of(x, y):
    logits, probs = Net()(x)
    return F.cross_entropy(logits, y)
""",
    "logarithm taken by the caller": """
import torch
import torch.nn.functional as F

def loss_of(net, x, y):
    p = torch.softmax(net(x), dim=1)
    return F.cross_entropy(torch.log(p + 1e-8), y)
""",
    "softmax layer made but not used": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        return self.fc(x)

def loss_of(x, y):
    return nn.CrossEntropyLoss()(Net()(x), y)
""",
    "loss chosen with the model": """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)

class Squashed(Net):
    def forward(self, x):
        return self.fc(x).softmax(1)

def train(model, criterion, loader):
    for x, y in loader:
        criterion(model(x), y).backward()

def main(loader):
    train(Net(), nn.CrossEntropyLoss(), loader)
    train(Squashed(), nn.BCELoss(), loader)
""",
    "loss told apart by isinstance": """
import torch.nn.functional as F
from torch import nn

def evaluate(model, criterion, loader):
    total = 0.0
    for x, y in loader:
        if isinstance(criterion, nn.CrossEntropyLoss):
            total += criterion(model(x), y).item()
        elif isinstance(criterion, nn.MSELoss):
            probabilities = F.softmax(model(x), dim=1)
            total += criterion(probabilities, F.one_hot(y, 10).float()).item()
    return total

def report(model, loader):
    return evaluate(model, nn.CrossEntropyLoss(), loader)
""",
    "loss told apart by isinstance, in the else": """
from torch import nn

def loss_of(model, x, y, criterion=nn.CrossEntropyLoss()):
    if isinstance(criterion, nn.CrossEntropyLoss):
        return criterion(model(x), y)
    else:
        return criterion(model(x).softmax(1), y)
""",
    "softmax as an option of the caller": """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x, probabilities=False):
        x = self.fc(x)
        if probabilities:
            return F.softmax(x, dim=1)
        return x

net = Net()

def loss_of(x, y):
    return F.cross_entropy(net(x), y)

def predict(x):
    return net(x, probabilities=True)
""",
    "sigmoid inside, logits out": """
import torch
from torch import nn

class GatedUnit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        g = torch.sigmoid(self.a(x))
        return self.b(g * x)

loss_fn = nn.BCEWithLogitsLoss()

def loss_of(x, y):
    return loss_fn(GatedUnit()(x), y)
""",
    "a project function called softmax that is none": """
import torch.nn.functional as F

def softmax(x):
    return x / 2

def loss_of(net, x, y):
    return F.cross_entropy(softmax(net(x)), y)
""",
    "the same name in two files": """
# file: a.py
import torch.nn.functional as F

def head(x):
    return F.softmax(x, dim=1)
# file: b.py
def head(x):
    return x
# file: train.py
import torch.nn.functional as F
from b import head

def loss_of(net, x, y):
    return F.cross_entropy(head(net(x)), y)
""",
    "a flag that a partial turns off": """
import torch
import torch.nn.functional as F
from functools import partial
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x, probabilities=True):
        x = self.fc(x)
        if probabilities:
            x = F.softmax(x, -1)
        return x
def train(loader):
    net = Net()
    logits_of = partial(net, probabilities=False)
    criterion = nn.CrossEntropyLoss()
    for x, y in loader:
        criterion(logits_of(x), y).backward()
""",
    "which loss a setting chose is asked again where it is called": """
import torch
import torch.nn.functional as F
from torch import nn
from settings import cfg
class Focal(nn.Module):
    def forward(self, scores, targets):
        return F.binary_cross_entropy_with_logits(scores, targets)
class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        if cfg.KIND == "focal":
            self.score = Focal()
        elif cfg.KIND == "plain":
            self.score = nn.BCELoss()
    def forward(self, scores, targets):
        if cfg.KIND == "focal":
            return self.score(scores, targets)
        elif cfg.KIND == "plain":
            return self.score(torch.sigmoid(scores), targets)
def loss_of(scores, y):
    return Loss()(scores, y)
""",
}
_OWN_LOSS = """
import torch
import torch.nn.functional as F
from torch import nn

def weighted(scores, y):
    return F.cross_entropy(scores, y, weight=torch.ones(3))

class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.loss_func = weighted

    def training_step(self, x, y):
        return self.loss_func(self.layer(x), y)

class Segmenting(Module):
    def __init__(self):
        super().__init__()
        self.loss_func = nn.MSELoss()

    def training_step(self, x, y):
        predicted = self.layer(x).softmax(1)
        return self.loss_func(predicted, y)

def train(x, y):
    net = Segmenting()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.zero_grad()
    net.training_step(x, y).backward()
    optimizer.step()
"""
SILENT["a constructor puts another loss in the place of its base's"] = _OWN_LOSS
FAILS |= {
    "a setting decides whether another loss takes its place": mutant(
        _OWN_LOSS,
        (
            "        self.loss_func = nn.MSELoss()",
            "        if torch.cuda.is_available():\n            self.loss_func = nn.MSELoss()",
        ),
    ),
    "the constructor of the base comes last": mutant(
        _OWN_LOSS,
        (
            "        super().__init__()\n        self.loss_func = nn.MSELoss()",
            "        self.loss_func = nn.MSELoss()\n        super().__init__()",
        ),
    ),
}
