"""Programs for zero-grad-before-step."""

from ._programs import (
    ACCUMULATING,
    CALLBACKS,
    CLOSURES,
    ENGINE,
    FUNCTION,
    GAN,
    LIGHTNING,
    MANUAL,
    SCRIPT,
    TRAINER,
    mutant,
)

FAILS = {
    "script": mutant(
        SCRIPT,
        ("        optimizer.zero_grad()\n        loss =", "        loss ="),
        ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n"),
    ),
    "with a scaler, in a method": mutant(
        TRAINER,
        ("        self.optimizer.zero_grad(set_to_none=True)\n", ""),
        ("    def update(self):\n", "    def update(self):\n        self.optimizer.zero_grad()\n"),
    ),
    "a callback clears": mutant(
        CALLBACKS,
        (
            "    def after_backward(self, loop):\n",
            "    def after_backward(self, loop):\n        loop.optimizer.zero_grad()\n",
        ),
    ),
    "closure": mutant(
        CLOSURES,
        ("        optimizer.zero_grad()\n        loss =", "        loss ="),
        ("        optimizer.step()\n", "        optimizer.zero_grad()\n        optimizer.step()\n"),
    ),
    "in one branch of an engine": mutant(
        ENGINE,
        (
            "            loss.backward()\n            torch",
            "            loss.backward()\n            optimizer.zero_grad()\n            torch",
        ),
    ),
    "helper object": mutant(
        ACCUMULATING,
        (
            "        self.optimizer.step()\n        self.optimizer.zero_grad()",
            "        self.optimizer.zero_grad()\n        self.optimizer.step()",
        ),
    ),
    "after a counter": mutant(
        FUNCTION,
        (
            "            optimizer.step()\n            optimizer.zero_grad()",
            "            optimizer.zero_grad()\n            optimizer.step()",
        ),
    ),
    "second of two optimizers": mutant(
        GAN, ("            opt_g.step()", "            opt_g.zero_grad(True)\n            opt_g.step()")
    ),
    "the module is cleared": mutant(
        GAN, ("            opt_g.step()", "            generator.zero_grad()\n            opt_g.step()")
    ),
    "hook of a framework": mutant(
        LIGHTNING, ('        self.log("norm"', '        self.zero_grad()\n        self.log("norm"')
    ),
    "by hand in a framework": mutant(
        MANUAL,
        ("            opt.step()\n            opt.zero_grad()", "            opt.zero_grad()\n            opt.step()"),
    ),
    "cleared at the end, stepped at the start of the next round": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.step()
        model(x).mean().backward()
        optimizer.zero_grad()
""",
    "a second step of the round, after the first was cleared": """
import torch

def train(model, loader, scaler, every):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for place, x in enumerate(loader):
        scaler.scale(model(x).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if place % every == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "another optimizer steps in between": """
import torch

def train(body, head, loader):
    slow, fast = torch.optim.SGD(body.parameters(), lr=0.1), torch.optim.SGD(head.parameters(), lr=1.0)
    for x in loader:
        head(body(x)).mean().backward()
        fast.step()
        slow.zero_grad()
        slow.step()
        fast.zero_grad()
""",
}

SILENT = {
    "closure given to step": """
import torch

def fit(x, target):
    optimizer = torch.optim.LBFGS([x])
    def closure():
        loss = ((x - target) ** 2).mean()
        loss.backward()
        return loss
    for _ in range(10):
        optimizer.zero_grad()
        optimizer.step(closure)
""",
    "gradients are put in by hand": """
import torch

def train(model, optimizer, loader):
    for x in loader:
        loss = model(x).mean()
        loss.backward(retain_graph=True)
        optimizer.zero_grad()
        for p, g in zip(model.parameters(), torch.autograd.grad(loss, model.parameters())):
            p.grad = g
        optimizer.step()
""",
    "a call that may go backward stands between": """
import torch

def train(model, sam, loader, second_backward):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        sam.perturb()
        optimizer.zero_grad()
        second_backward(model, x)
        optimizer.step()
""",
    "the other player is cleared": """
import torch

def train(a, b, opt_a, opt_b, loader):
    for x in loader:
        (a(x) - b(x)).mean().backward()
        opt_b.zero_grad()
        opt_a.step()
        opt_a.zero_grad()
""",
    "contextmanager": """
import contextlib, torch
@contextlib.contextmanager
def stepping(opt):
    opt.zero_grad()
    yield
    opt.step()
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    for x in loader:
        with stepping(opt):
            model(x).mean().backward()
""",
    "per-task gradients projected": """
import torch
def pcgrad(model, losses, opt, project):
    gs = []
    for l in losses:
        opt.zero_grad()
        l.backward(retain_graph=True)
        gs.append([p.grad.clone() for p in model.parameters()])
    opt.zero_grad()
    project(model, gs)
    opt.step()
""",
    "gradients are copied back in": """
import torch
def train(model, loader, noise):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        model(x).mean().backward()
        kept = [p.grad.clone() for p in model.parameters()]
        optimizer.zero_grad(set_to_none=False)
        for p, g in zip(model.parameters(), kept):
            p.grad.copy_(g + noise * torch.randn_like(g))
        optimizer.step()
""",
    "a hook that clears a part": """
import lightning as L
class Student(L.LightningModule):
    def on_after_backward(self):
        self.teacher.zero_grad()
""",
    "a step of its own that kept the gradients": """
import torch
class Memory(torch.optim.SGD):
    def remember(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["kept"] = p.grad.clone()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(self.state[p]["kept"], alpha=-0.1)
def train(model, loader):
    optimizer = Memory(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.remember()
        optimizer.zero_grad()
        optimizer.step()
""",
    "a first step before the loop, in a context": """
import torch
def start(model, loader, optimizer, every):
    with optimizer.skip_synchronize():
        optimizer.zero_grad()
        if not every.resumed:
            optimizer.step()
    for place, x in enumerate(loader):
        model(x).mean().backward()
        if (place + 1) % every.batches == 0:
            with optimizer.skip_synchronize():
                optimizer.step()
                optimizer.zero_grad()
""",
    "a step for the schedule's sake opens each epoch": """
import torch
def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(epochs):
        optimizer.zero_grad()
        optimizer.step()
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
""",
}
