"""Programs for cut-loss-term: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "item in a sum": (
            """
import torch.nn.functional as F
from torch import nn

class Trainer:
    def __init__(self):
        self.encoder, self.decoder = nn.Linear(8, 2), nn.Linear(2, 8)

    def step(self, x, optimizer, beta):
        z = self.encoder(x)
        rec_loss = F.mse_loss(self.decoder(z), x)
        reg = z.pow(2).sum(1).mean()
        loss = rec_loss + beta * reg
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            "beta * reg",
            "beta * reg.item()",
        ),
        "detached helper in another file": (
            """
# file: losses.py
import torch.nn.functional as F

def auxiliary(head, features, labels):
    return F.cross_entropy(head(features), labels)
# file: train.py
import torch.nn.functional as F
from torch import nn
from losses import auxiliary

body, head, side = nn.Linear(4, 4), nn.Linear(4, 3), nn.Linear(4, 2)

def train(loader, optimizer):
    for x, y, s in loader:
        h = body(x)
        loss = F.cross_entropy(head(h), y) + 0.3 * auxiliary(side, h, s)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            "return F.cross_entropy(head(features), labels)",
            "return F.cross_entropy(head(features), labels).detach()",
        ),
        "data in an augmented sum": (
            """
from torch import nn

def make(model, criterion=nn.CrossEntropyLoss()):
    net = nn.Linear(4, 4)

    def step(x, y, opt):
        out = net(x)
        loss = criterion(out, y)
        penalty = net.weight.abs().sum()
        loss += 1e-4 * penalty
        opt.zero_grad()
        loss.backward()
        opt.step()
    return step
""",
            "1e-4 * penalty",
            "1e-4 * penalty.data",
        ),
        "term under no_grad": (
            """
import torch
import torch.nn.functional as F
from torch import nn

class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.book = nn.Linear(4, 4), nn.Embedding(8, 4)

    def forward(self, x):
        z = self.enc(x)
        q = self.book(z.argmax(1))
        commit = F.mse_loss(z, q.detach())
        codebook = F.mse_loss(q, z.detach())
        return commit, codebook

def train(loader, opt):
    codes = Codes()
    for x in loader:
        commit, codebook = codes(x)
        loss = codebook + 0.25 * commit
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
            "        commit = F.mse_loss(z, q.detach())",
            "        with torch.no_grad():\n            commit = F.mse_loss(z, q.detach())",
        ),
        "float in a lightning step": (
            """
import lightning as L
import torch.nn.functional as F
from torch import nn

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 1)

    def training_step(self, batch, i):
        x, y, v = batch
        main_loss = F.cross_entropy(self.a(x), y)
        value_loss = F.mse_loss(self.b(x), v)
        return main_loss + value_loss
""",
            "main_loss + value_loss",
            "main_loss + float(value_loss)",
        ),
        "sum of a list": (
            """
import torch
import torch.nn.functional as F
from torch import nn

heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
body = nn.Linear(4, 4)

def step(x, labels, opt):
    h = body(x)
    losses = []
    for head, y in zip(heads, labels):
        losses.append(F.cross_entropy(head(h), y))
    loss = torch.stack(losses).sum() + 0.1 * F.mse_loss(h, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            "F.mse_loss(h, x)",
            "torch.tensor(F.mse_loss(h, x))",
        ),
    }
)
HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

net, other = nn.Linear(4, 4), nn.Linear(4, 4)
"""
_APART = """
import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(4, 2)

def run(batches, optimizer, mode):
    total = 0
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        if mode == "train":
            total += loss
        else:
            total += loss.item()
    if mode != "test":
        print(total)
    if TEST:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
    return total

if __name__ == "__main__":
    run([], torch.optim.SGD(model.parameters(), lr=0.1), "train")
    run([], None, "test")
"""
FAILS |= {"in an arm whose test says nothing of the backward": _APART.replace("if TEST", "if batches")}
_WRITTEN = (
    HEAD
    + """
def step(x, y, opt, hinge):
    out, aside = net(x), 0
    if hinge:
        real, fake = -torch.mean(torch.relu(out)), -torch.mean(torch.relu(1 - out))
    else:
        real, fake = F.mse_loss(out, y), F.mse_loss(other(x), y)
    loss = fake + REAL
    loss.backward()
    opt.step()
"""
)
# a number stands in the sum itself, whatever its other terms are, and whether or not it begins as one
FAILS |= {
    "a term with a minus elsewhere in the sum": _WRITTEN.replace("REAL", "real.item()"),
    "one way of several to the sum": """
import torch.nn.functional as F

class Trainer:
    def __init__(self, net, losses, config):
        self.net, self.losses, self.config = net, losses, config

    def sum(self, x, y):
        if self.config.points:
            loss_points = F.cross_entropy(self.net(x), y)
            return self.losses[0](x, y) + loss_points.item()
        return self.losses[1](x, y)

    def step(self, x, y, optimizer):
        loss = self.sum(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "it begins as the number 0": """
import torch.nn.functional as F

def step(net, xs, ys, more, optimizer):
    side_loss = 0
    if more:
        side_loss = F.cross_entropy(net(more), ys)
    loss = F.cross_entropy(net(xs), ys) + side_loss.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
}
_FORMS = (
    HEAD
    + """
def penalty(x, form="torch"):
    found = other(x).abs().mean()
    if form == "torch":
        return found
    elif form in ("numpy", "list"):
        return found.detach().numpy()

def step(x, y):
    loss = F.mse_loss(net(x), y) + penalty(x, form=FORM)
    loss.backward()
"""
)
FAILS |= {"an argument asks for the cut one": _FORMS.replace("FORM)", '"numpy")')}
SILENT = ORIGINALS | {
    "an argument asks for the whole one": _FORMS.replace("FORM)", '"torch")'),
    "a default does": _FORMS.replace(", form=FORM)", ")"),
    "a test of it gives it another value": _FORMS.replace("FORM)", '"plain")').replace(
        "    found =", "    if form == 'plain':\n        form = 'torch'\n    found ="
    ),
    "added as a number only where nothing goes backward": _APART.replace("if TEST", 'if mode == "train"'),
    "the same, asked the other way round": _APART.replace("if TEST", 'if not mode != "train"'),
    "straight through": HEAD
    + """
def step(x, y, opt):
    out = net(x)
    hard = (out > 0).float()
    loss = F.mse_loss(hard + out - out.detach(), y) + out.abs().mean()
    loss.backward()
""",
    "shown value only": HEAD
    + """
def step(x, y, opt):
    a, b = F.mse_loss(net(x), y), F.l1_loss(other(x), y)
    loss = a + b
    loss.backward()
    shown = a.item() + b.item()
    return shown
""",
    "detached weight": HEAD
    + """
def step(x, y):
    a, b = F.mse_loss(net(x), y), F.l1_loss(other(x), y)
    loss = a + b * (a.detach() / b.detach())
    loss.backward()
""",
    "stopped target": HEAD
    + """
def step(x):
    loss = F.mse_loss(net(x), other(x).detach()) + F.mse_loss(net(x).detach(), other(x))
    loss.backward()
""",
    "constant in the sum": HEAD
    + """
import math

def step(x, y):
    loss = F.mse_loss(net(x), y) + 0.5 * math.log(2 * math.pi)
    loss.backward()
""",
    "switched off in one arm": HEAD
    + """
def step(x, y, warm):
    extra = other(x).pow(2).mean()
    if warm:
        extra = extra.detach()
    loss = F.mse_loss(net(x), y) + extra
    loss.backward()
""",
    "loss starts as a number": HEAD
    + """
def step(x, y):
    loss = 0.0
    loss += F.mse_loss(net(x), y)
    loss += torch.zeros(1).sum()
    loss.backward()
""",
    "constants of a density": """
import math
import numpy as np
import torch
from torch import nn

model = nn.Linear(2, 2)

def log_normal(z):
    log_z = -0.5 * math.log(2 * math.pi)
    return log_z - z.pow(2) / 2

def compute_loss(sample):
    x = torch.from_numpy(sample()).float()
    z = model(x)
    return -torch.mean(log_normal(z).sum(1) - np.log(np.pi))

def train(sample, optimizer):
    loss = compute_loss(sample)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "an input that is searched for": """
import torch
from torch import nn, optim

class Attack:
    def __init__(self, model, c):
        self.model, self.c = model, c

    def squash(self, x):
        return 0.5 * (torch.tanh(x) + 1)

    def run(self, images, labels):
        images = images.clone().detach()
        w = torch.atanh(self.model(images)).detach()
        w.requires_grad = True
        optimizer = optim.Adam([w], lr=0.01)
        for _ in range(50):
            found = self.squash(w)
            mse_loss = nn.functional.mse_loss(found, images)
            cost = mse_loss + self.c * self.model(found).gather(1, labels).sum()
            optimizer.zero_grad()
            cost.backward()
            optimizer.step()
        return found
""",
    "a start that is fitted, in a list for its optimizer": """
import torch

def prior(pose):
    return torch.exp(pose[:, :4]) ** 2

def fitting_loss(pose, shape, joints, wanted, weight=15.2):
    error = ((joints - wanted) ** 2).sum(-1)
    shape_loss = 5 * (shape ** 2).sum(-1)
    pose_loss = weight * prior(pose).sum(-1)
    return (error + pose_loss + shape_loss).sum()

class Fit:
    def __init__(self, body, rounds=100):
        self.body, self.rounds = body, rounds

    def __call__(self, start, shape, wanted):
        pose = start[:, 3:].detach().clone()
        shape = shape.detach().clone()
        pose.requires_grad = True
        shape.requires_grad = True
        fitted = [pose]
        fitted.append(shape)
        optimizer = torch.optim.Adam(fitted, lr=1e-2)
        for _ in range(self.rounds):
            loss = fitting_loss(pose, shape, self.body(pose=pose, shape=shape).joints, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return pose.detach()

def train(model, body, loader, optimizer):
    fit = Fit(body)
    for images, wanted in loader:
        pose, shape = model(images)
        found = fit(pose.detach(), shape.detach(), wanted)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(pose, found).backward()
        optimizer.step()
""",
    "a lesson on autograd": """
import torch

x = torch.tensor(1.0, requires_grad=True)
y1 = x ** 2
with torch.no_grad():
    y2 = x ** 3
y3 = y1 + y2
y3.backward()
print(x.grad)
""",
    "a temperature tuned by an entropy without a graph": """
import numpy as np
import torch
from torch import nn

class Agent:
    def __init__(self, actor, target):
        self.actor, self.target_entropy = actor, target
        self.log_alpha = torch.tensor(float(np.log(0.2)), dtype=float, requires_grad=True)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def train(self, s):
        probs = self.actor(s)
        log_probs = torch.log(probs + 1e-8)
        with torch.no_grad():
            self.H_mean = -torch.sum(probs * log_probs, dim=1).mean()
        alpha_loss = self.log_alpha * (self.H_mean - self.target_entropy)
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()

agent = Agent(nn.Sequential(nn.Linear(4, 2), nn.Softmax(-1)), 0.6)
""",
    "several critics that gather their values in a list": """
import torch
import torch.nn.functional as F
from torch import nn

class Critics(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.nets = nn.ModuleList([nn.Linear(4, 1) for _ in range(count)])

    def forward(self, obs):
        found = []
        for net in self.nets:
            found.append(net(obs).squeeze(-1))
        return found

class Agent:
    def __init__(self, actor, price):
        self.actor, self.price = actor, nn.Parameter(torch.tensor(price))
        self.critic, self.target = Critics(2), Critics(2)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())

    def update(self, obs, reward, later):
        with torch.no_grad():
            wanted = reward + 0.99 * self.target(later)[0]
        value = self.critic(obs)[0]
        loss = F.mse_loss(value, wanted)
        for weight in self.critic.parameters():
            loss += weight.pow(2).sum() * 1e-3
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()

    def improve(self, obs):
        moved = self.actor(obs)
        gain, cost = -self.critic(moved)[0], self.price.item() * self.critic(moved)[1]
        loss = (gain + cost).mean() / (1 + self.price.item()) + moved.pow(2).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
""",
    "a term that went backward by itself, and is added to be shown": """
import torch
import torch.nn.functional as F
from torch import nn

first, second = nn.Linear(4, 2), nn.Linear(4, 2)

def both(x, y):
    one = F.cross_entropy(first(x), y)
    one.backward()
    loss = one.clone().detach() + F.cross_entropy(second(x), y)
    return loss

def train(loader, optimizer):
    for x, y in loader:
        loss = both(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "the data of a packed sequence": """
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

model, criterion = nn.Linear(4, 9), nn.CrossEntropyLoss()

def train(loader, optimizer):
    for x, y, lengths in loader:
        scores = model(x)
        penalty = scores.abs().mean()
        scores = pack_padded_sequence(scores, lengths, batch_first=True)
        targets = pack_padded_sequence(y, lengths, batch_first=True).data
        loss = criterion(scores.data, targets)
        loss += penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "a sum that begins with the number 0": """
import torch
from torch import nn

def penalty(reg, *tensors):
    total = 0
    for one in tensors:
        total += one.norm() / one.shape[0]
    return total * reg

class Fit:
    def __init__(self, settings):
        self.reg = float(settings["reg"])
        self.model = nn.Linear(3, 3)

    def train(self, loader):
        model = self.model
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for x, y in loader:
            a, b = model(x), model(y)
            loss = (a * b).mean() + penalty(self.reg, a, b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""",
}
