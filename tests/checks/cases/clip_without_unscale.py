"""Programs for clip-without-unscale."""

from ._programs import CALLBACKS, ENGINE, SCRIPT, TRAINER, mutant

_SCALED = (
    ("        loss.backward()\n", "        scaler.scale(loss).backward()\n"),
    ("        optimizer.step()\n", "        scaler.step(optimizer)\n        scaler.update()\n"),
)
FAILS = {
    "script": mutant(SCRIPT, ("\nfor epoch", "scaler = torch.amp.GradScaler()\nfor epoch"), *_SCALED),
    "in the method that steps": mutant(TRAINER, ("        self.scaler.unscale_(self.optimizer)\n", "")),
    "engine": mutant(ENGINE, ("            scaler.unscale_(optimizer)\n", "")),
    "unscaled too late": mutant(
        ENGINE,
        ("            scaler.unscale_(optimizer)\n", ""),
        (
            "            scaler.step(optimizer)\n",
            "            scaler.unscale_(optimizer)\n            scaler.step(optimizer)\n",
        ),
    ),
    "callback": mutant(
        CALLBACKS,
        ("        self.scores = []\n", "        self.scores = []\n        self.scaler = torch.cuda.amp.GradScaler()\n"),
        ("        loss.backward()\n", "        self.scaler.scale(loss).backward()\n"),
        ("        self.optimizer.step()\n", "        self.scaler.step(self.optimizer)\n        self.scaler.update()\n"),
        ("# file: loop.py\n", "# file: loop.py\nimport torch\n"),
    ),
    "the scaled loss has a name": """
import torch
from torch.cuda.amp import GradScaler
from torch.nn.utils import clip_grad_value_

def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    grad_scaler = GradScaler()
    for x in loader:
        optimizer.zero_grad()
        scaled = grad_scaler.scale(model(x).mean())
        scaled.backward()
        clip_grad_value_(model.parameters(), 0.1)
        grad_scaler.step(optimizer)
        grad_scaler.update()
""",
}

SILENT = {
    "a named limit that moves with the scale": """
import torch
def train(m, loader):
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        opt.zero_grad()
        scaler.scale(m(x).mean()).backward()
        limit = 1.0 * scaler.get_scale()
        torch.nn.utils.clip_grad_norm_(m.parameters(), limit)
        scaler.step(opt)
        scaler.update()
""",
    "a scaler that is off": """
import torch

def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.cuda.amp.GradScaler(enabled=False)
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
""",
    "unscaled only when it is used": """
import torch

def fit(model, loader, use_amp):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.cuda.amp.GradScaler(enabled=use_amp)
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        if use_amp:
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
""",
    "max norm multiplied by the scale": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        opt.zero_grad()
        scaler.scale(model(x).mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1. * scaler.get_scale())
        scaler.step(opt); scaler.update()
""",
    "norm only measured (inf)": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        opt.zero_grad()
        scaler.scale(model(x).mean()).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        scaler.step(opt); scaler.update()
""",
    "manual divide": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        opt.zero_grad()
        scaler.scale(model(x).mean()).backward()
        for p in model.parameters():
            p.grad.div_(scaler.get_scale())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); scaler.update()
""",
    "a scaler that a constant switches off": """
import torch
USE_FP16 = False
def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=USE_FP16)
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        scaler.step(optimizer)
        scaler.update()
""",
    "divided all at once": """
import torch
def train(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        grads = [p.grad for p in model.parameters()]
        torch._foreach_mul_(grads, 1 / scaler.get_scale())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        scaler.update()
""",
    "unscaled by map and by a function of its own": """
import torch
def divide(optimizer, factor):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad.mul_(factor)
def first(model, x, optimizers):
    scaler = torch.cuda.amp.GradScaler()
    scaler.scale(model(x).mean()).backward()
    list(map(scaler.unscale_, optimizers))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
    for one in optimizers:
        scaler.step(one)
    scaler.update()
def second(model, x, optimizer):
    scaler = torch.cuda.amp.GradScaler()
    scaler.scale(model(x).mean()).backward()
    divide(optimizer, 1 / scaler.get_scale())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    scaler.update()
""",
}
