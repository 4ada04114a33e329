"""Programs for exhausted-iterator."""

from ._programs import mutant

_LOOP = """
import torch


def train(model, loader):
    parameters = list(filter(lambda p: p.requires_grad, model.parameters()))
    optimizer = torch.optim.Adam(parameters)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
"""
_PENALTY = """
import torch
from torch import nn


def train(model, loader, before):
    weights = [p for name, p in model.named_parameters() if "weight" in name]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        loss = loss + sum(w.abs().sum() for w in weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_AGENT = """
import itertools

import torch


def sac(actor, first, second, batches):
    q_params = list(itertools.chain(first.parameters(), second.parameters()))
    q_optimizer = torch.optim.Adam(q_params)
    pi_optimizer = torch.optim.Adam(actor.parameters())

    def update(batch):
        q_optimizer.zero_grad()
        (first(batch) + second(batch)).mean().backward()
        q_optimizer.step()
        for p in q_params:
            p.requires_grad = False
        pi_optimizer.zero_grad()
        first(actor(batch)).mean().backward()
        pi_optimizer.step()
        for p in q_params:
            p.requires_grad = True

    for batch in batches:
        update(batch)
"""
_ONCE = mutant(
    _LOOP,
    (
        "list(filter(lambda p: p.requires_grad, model.parameters()))",
        "filter(lambda p: p.requires_grad, model.parameters())",
    ),
)
SILENT = {
    "a list": _LOOP,
    "a list of weights": _PENALTY,
    "a list that a function inside goes over": _AGENT,
    "gone over once": mutant(_ONCE, ("        torch.nn.utils.clip_grad_norm_(parameters, 1.0)\n", "")),
    "asked again": mutant(_ONCE, ("clip_grad_norm_(parameters,", "clip_grad_norm_(model.parameters(),")),
    "made anew in each round": mutant(
        _ONCE,
        (
            "    parameters = filter(lambda p: p.requires_grad, model.parameters())\n    optimizer = torch.optim.Adam(parameters)\n",
            "    optimizer = torch.optim.Adam(model.parameters())\n",
        ),
        ("        torch.nn", "        parameters = model.parameters()\n        torch.nn"),
    ),
    "in one arm of several": mutant(
        _ONCE,
        (
            "    optimizer = torch.optim.Adam(parameters)\n",
            "    if len(loader) > 9:\n        optimizer = torch.optim.Adam(parameters)\n    else:\n        optimizer = torch.optim.SGD(parameters, lr=0.1)\n",
        ),
        ("        torch.nn.utils.clip_grad_norm_(parameters, 1.0)\n", ""),
    ),
    "only looked at before": mutant(
        _ONCE,
        ("    optimizer = torch", "    print(type(parameters))\n    optimizer = torch"),
        ("        torch.nn.utils.clip_grad_norm_(parameters, 1.0)\n", ""),
    ),
    "the loop is left after its first round": """
def first_norm(model, loader):
    parameters = model.parameters()
    for x in loader:
        model(x).mean().backward()
        norms = [p.grad.norm() for p in parameters]
        break
    return norms
""",
    "parameters() of the project give a list": """
# file: net.py
class Net:
    def parameters(self):
        return [self.w]

# file: train.py
from net import Net

def train(optimizer_of, clip):
    net = Net()
    parameters = net.parameters()
    optimizer = optimizer_of(parameters)
    clip(parameters)
    return optimizer
""",
    "an optimizer of nothing raises": mutant(
        _ONCE,
        ("    optimizer = torch", "    count = sum(p.numel() for p in parameters)\n    optimizer = torch"),
        ("        torch.nn.utils.clip_grad_norm_(parameters, 1.0)\n", ""),
    ),
    "children of a process": """
import psutil

def close(worker):
    alive = psutil.Process(worker).children(recursive=True)
    for one in alive:
        one.terminate()
    for _ in range(5):
        _, alive = psutil.wait_procs(alive, 1.0)
""",
}
FAILS = {
    "clipped": _ONCE,
    "a generator": mutant(
        _LOOP,
        (
            "list(filter(lambda p: p.requires_grad, model.parameters()))",
            "(p for p in model.parameters() if p.requires_grad)",
        ),
    ),
    "a penalty in each round": mutant(
        _PENALTY,
        (
            '[p for name, p in model.named_parameters() if "weight" in name]',
            '(p for name, p in model.named_parameters() if "weight" in name)',
        ),
    ),
    "of a copy, in each round": """
import copy
import torch
from torch import nn

def local_update(net, loader, optimizer):
    start = copy.deepcopy(net).parameters()
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss = loss + sum((a - b).norm(2) for a, b in zip(net.parameters(), start))
        loss.backward()
        optimizer.step()
""",
    "in a function inside": mutant(
        _AGENT,
        (
            "list(itertools.chain(first.parameters(), second.parameters()))",
            "itertools.chain(first.parameters(), second.parameters())",
        ),
    ),
    "frozen by a helper": """
import torch

def set_grad(parameters, flag):
    for p in parameters:
        p.requires_grad = flag

def train(model, loader):
    parameters = model.parameters()
    optimizer = torch.optim.Adam(parameters)
    for x in loader:
        set_grad(parameters, True)
        model(x).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
}
