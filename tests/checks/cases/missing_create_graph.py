"""Programs for missing-create-graph: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "gradient penalty in a method": (
            """
from torch.autograd import grad as torch_grad
import torch

class WGAN:
    def gradient_penalty(self, real, fake):
        alpha = torch.rand(real.size(0), 1)
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        score = self.critic(mixed)
        grads = torch_grad(
            outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True
        )[0]
        return ((grads.view(grads.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()

    def step(self, real, fake):
        loss = self.critic(fake).mean() - self.critic(real).mean()
        loss = loss + 10.0 * self.gradient_penalty(real, fake)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
            "create_graph=True, retain_graph=True",
            "retain_graph=True",
        ),
        "second derivative of an equation": (
            """
import torch

def derivative(u, x, keep=True):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]

def residual(net, x):
    u = net(x)
    u_x = derivative(u, x)
    return derivative(u_x, x) + u

def train(net, points, edge, optimizer):
    for x in points:
        x.requires_grad_()
        loss = residual(net, x).pow(2).mean() + (net(edge) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            ", create_graph=True",
            ", retain_graph=True",
        ),
        "forces from an energy": (
            """
# file: model.py
import torch
from torch import nn

class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, positions):
        energy = self.net(positions).sum()
        (forces,) = torch.autograd.grad(energy, positions, create_graph=True)
        return energy, -forces
# file: train.py
import torch.nn.functional as F
from model import Potential

def train(loader, optimizer):
    potential = Potential()
    for positions, energy, forces in loader:
        positions.requires_grad_()
        e, f = potential(positions)
        loss = F.mse_loss(e, energy) + 100 * F.mse_loss(f, forces)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            "create_graph=True",
            "create_graph=False",
        ),
        "closure of an optimizer": (
            """
import torch

def fit(net, t, optimizer):
    def closure():
        optimizer.zero_grad()
        u = net(t)
        du = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
        loss = ((du + u) ** 2).mean() + (net(t[:1]) - 1).pow(2).sum()
        loss.backward()
        return loss
    optimizer.step(closure)
""",
            ", create_graph=True",
            "",
        ),
        "regulariser in a lightning step": (
            """
import lightning as L
import torch
import torch.nn.functional as F

class Lit(L.LightningModule):
    def training_step(self, batch, i):
        x, y = batch
        x.requires_grad_(True)
        out = self.net(x)
        loss = F.cross_entropy(out, y)
        jac = torch.autograd.grad(out.sum(), x, create_graph=True)[0]
        return loss + 0.01 * jac.pow(2).sum()
""",
            ", create_graph=True",
            "",
        ),
    }
)
SILENT = ORIGINALS | {
    "first-order meta-learning": """
import torch
import torch.nn.functional as F

def inner(model, x, y, x2, y2, lr):
    loss = F.mse_loss(model(x), y)
    grads = torch.autograd.grad(loss, model.parameters())
    fast = [w - lr * g for w, g in zip(model.parameters(), grads)]
    F.mse_loss(model.functional(x2, fast), y2).backward()
""",
    "adversarial example": """
import torch
import torch.nn.functional as F

def step(model, x, y):
    x.requires_grad_(True)
    g = torch.autograd.grad(F.cross_entropy(model(x), y), x)[0]
    x = x.detach() + 0.03 * g.sign()
    F.cross_entropy(model(x.detach()), y).backward()
""",
    "adaptive weight": """
import torch

def step(nll, g_loss, last_layer):
    a = torch.autograd.grad(nll, last_layer.weight, retain_graph=True)[0]
    b = torch.autograd.grad(g_loss, last_layer.weight, retain_graph=True)[0]
    w = (a.norm() / (b.norm() + 1e-4)).detach()
    loss = nll + w * g_loss
    loss.backward()
""",
    "as the mode says": """
import torch

def step(net, x, y):
    e = net(x)
    f = torch.autograd.grad(e.sum(), x, create_graph=net.training)[0]
    ((f - y) ** 2).mean().backward()
""",
    "gradients for the log": """
import torch

def step(net, x, y, log):
    loss = ((net(x) - y) ** 2).mean()
    g = torch.autograd.grad(loss, x, retain_graph=True)[0]
    log(g.norm().item())
    loss.backward()
""",
    "a function called grad of its own": """
def grad(image):
    return image[1:] - image[:-1]

def step(net, x, y):
    loss = (grad(net(x)) - grad(y)).abs().mean() + (net(x) - y).abs().mean()
    loss.backward()
""",
    "sampling with scores": """
import torch

def sample(energy, x):
    for _ in range(10):
        x = x - 0.1 * torch.autograd.grad(energy(x).sum(), x)[0]
        x = x.detach().requires_grad_()
    return x
""",
    "mask by the size of the derivative": """
import torch
import torch.nn.functional as F

def step(features, classifier, x, y):
    f = features(x)
    g = torch.autograd.grad(F.cross_entropy(classifier(f), y), f, retain_graph=True)[0]
    mask = g.lt(g.detach().median()).float()
    F.cross_entropy(classifier(f * mask), y).backward()
""",
    "detached by a statement of its own": """
import torch
import torch.nn.functional as F

class Margin:
    def __call__(self, logits, y, features):
        top = logits.gather(1, y[:, None]) - logits.max(dim=1, keepdim=True)[0]
        slope = torch.autograd.grad(top.sum(), features, retain_graph=True)[0]
        size = slope.flatten(1).norm(dim=1)
        if self.approximate:
            size.detach_()
        return F.relu(1 - top / (size + 1e-8)).mean()

def step(model, criterion, x, y, optimizer):
    features = model.features(x)
    loss = Margin()(model.head(features), y, features)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
}
