"""Programs for gradients-dropped."""

from ._programs import SCRIPT, TRAINER, mutant

FAILS = {
    "script": mutant(SCRIPT, ("        loss.backward()\n", "        torch.autograd.grad(loss, model.parameters())\n")),
    "by its own name, two optimizers": """
from torch.autograd import grad
from torch.optim import Adam

def train(manager, worker, loader, losses):
    first, second = Adam(manager.parameters()), Adam(worker.parameters())
    for x in loader:
        loss = losses[0](manager(x))
        grad(loss, manager.parameters(), retain_graph=True)
        first.step()
        first.zero_grad()
        loss = losses[1](worker(x))
        grad(loss, worker.parameters())
        second.step()
        second.zero_grad()
""",
    "in a method": """
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, loader):
        for x in loader:
            self.optimizer.zero_grad()
            torch.autograd.grad(self.model(x).mean(), self.model.parameters())
            self.optimizer.step()
""",
}

SILENT = {
    "backward stands beside it": mutant(
        SCRIPT,
        (
            "        loss.backward()\n",
            "        torch.autograd.grad(loss, model.parameters(), retain_graph=True)\n        loss.backward()\n",
        ),
    ),
    "a check that the graph is whole": """
import torch

def probe(model, x):
    torch.autograd.grad(model(x).mean(), model.parameters())
    print("all parameters are reached")
""",
    "a penalty": """
import torch

def train(critic, loader):
    optimizer = torch.optim.Adam(critic.parameters())
    for x in loader:
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
        optimizer.zero_grad()
        ((gradient.norm(2, dim=1) - 1) ** 2).mean().backward()
        optimizer.step()
""",
    "given to the parameters in a comprehension": """
import torch

def train(model, loader):
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters)
    for x in loader:
        [setattr(p, "grad", g) for p, g in zip(parameters, torch.autograd.grad(model(x).mean(), parameters))]
        optimizer.step()
""",
    "a function of jax": """
import jax
import torch

def train(model, loader, f):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        jax.grad(f)
        optimizer.zero_grad()
        optimizer.step()
""",
    "trainer": TRAINER,
}
