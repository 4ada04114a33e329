"""Programs for misplaced-clipping."""

from ._programs import ACCUMULATING, CALLBACKS, CLOSURES, ENGINE, GAN, SCRIPT, mutant

_CLIP = "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
FAILS = {
    "before, in a script": mutant(
        SCRIPT, (_CLIP, ""), ("        loss.backward()\n", f"{_CLIP}        loss.backward()\n")
    ),
    "after, in a script": mutant(
        SCRIPT, (_CLIP, ""), ("        optimizer.step()\n", f"        optimizer.step()\n{_CLIP}")
    ),
    "callback called too early": mutant(
        CALLBACKS,
        ("        self.clip.after_backward(self)\n", ""),
        ("        loss.backward()\n", "        self.clip.after_backward(self)\n        loss.backward()\n"),
    ),
    "closure": mutant(
        CLOSURES,
        ("        loss.backward()\n", ""),
        ("        optimizer.step()\n", "        loss.backward()\n        optimizer.step()\n"),
    ),
    "engine, without a scaler": mutant(
        ENGINE,
        (
            "            loss.backward()\n            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)\n            optimizer.step()",
            "            loss.backward()\n            optimizer.step()\n            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)",
        ),
    ),
    "object that steps": mutant(
        ACCUMULATING,
        (
            "        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)\n        self.optimizer.step()\n",
            "        self.optimizer.step()\n        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)\n",
        ),
    ),
    "first of two optimizers": mutant(
        GAN,
        (
            "        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)\n        opt_c.step()\n",
            "        opt_c.step()\n        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)\n",
        ),
    ),
}

SILENT = {
    "what is clipped is used by hand": """
import torch

def train(model, loader):
    opt = torch.optim.Adam(model.parameters())
    for x in loader:
        opt.zero_grad()
        model(x).mean().backward()
        opt.step()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.001)
""",
    "sub-models by turns": """
import torch
from torch.nn.utils import clip_grad_norm_

def train(encoder, decoder, optimizer, loader):
    for x in loader:
        optimizer.zero_grad()
        decoder(encoder(x)).mean().backward()
        clip_grad_norm_(encoder.parameters(), 1.0)
        clip_grad_norm_(decoder.parameters(), 0.1)
        optimizer.step()
""",
    "no backward in sight": """
import torch

def apply(model, optimizer):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
""",
    "an optimizer that clips in its own step": """
import torch
from torch.nn.utils import clip_grad_norm_

class Clipped(torch.optim.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                clip_grad_norm_(p, 1.0)
                p.data.add_(p.grad, alpha=-group["lr"])

def train(model, loader):
    optim = Clipped(model.parameters(), {"lr": 0.1})
    for x in loader:
        optim.zero_grad()
        model(x).mean().backward()
        optim.step()
""",
    "a hook that clips": """
import torch
def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        x.register_hook(lambda g: torch.nn.utils.clip_grad_value_(model.parameters(), 1))
        model(x).mean().backward()
        optimizer.step()
""",
    "gradients put in by hand": """
import torch
def train(a, b, loader):
    first, second = torch.optim.Adam(a.parameters()), torch.optim.Adam(b.parameters())
    for x in loader:
        grads = torch.autograd.grad(a(x).mean(), list(a.parameters()))
        for p, g in zip(a.parameters(), grads):
            p.grad = g
        torch.nn.utils.clip_grad_norm_(a.parameters(), 1)
        second.zero_grad()
        b(a(x).detach()).mean().backward()
        first.step()
        second.step()
""",
}
