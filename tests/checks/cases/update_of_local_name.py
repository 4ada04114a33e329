"""Programs for update-of-local-name."""

from ._programs import mutant

_EMA = """
import torch

@torch.no_grad()
def update(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.copy_(decay * e + (1 - decay) * p)
"""
_TARGET = """
import torch

class Agent:
    def __init__(self, critic, target, tau):
        self.critic, self.target, self.tau = critic, target, tau

    def soft_update(self):
        for target_param, param in zip(self.target.parameters(), self.critic.parameters()):
            target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
"""
_SHADOW = """
class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.data.clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, param in model.named_parameters():
            average = self.decay * self.shadow[name] + (1 - self.decay) * param.data
            self.shadow[name] = average.clone()
"""
_SGD = """
import torch

def train(model, loader, lr):
    for x in loader:
        loss = model(x).mean()
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for name, p in model.named_parameters():
                p -= lr * p.grad
"""

FAILS = {
    "average": mutant(_EMA, ("e.copy_(decay * e + (1 - decay) * p)", "e = decay * e + (1 - decay) * p")),
    "average, by methods": mutant(
        _EMA, ("e.copy_(decay * e + (1 - decay) * p)", "e = e.mul(decay).add(p, alpha=1 - decay)")
    ),
    "target network": mutant(
        _TARGET,
        ("target_param.data.copy_(", "target_param = ("),
    ),
    "state of the shadow": mutant(
        _SHADOW,
        ("for name, param in model.named_parameters():", "for name, average in self.shadow.items():"),
        (
            "self.decay * self.shadow[name] + (1 - self.decay) * param.data",
            "self.decay * average + model.state_dict()[name]",
        ),
        ("            self.shadow[name] = average.clone()\n", ""),
    ),
    "gradient descent by hand": mutant(_SGD, ("p -= lr * p.grad", "p = p - lr * p.grad")),
    "buffers": """
def sync(source, copy, momentum):
    for b, c in zip(source.buffers(), copy.buffers()):
        c = momentum * c + (1 - momentum) * b
""",
}

SILENT = {
    "average": _EMA,
    "target": _TARGET,
    "shadow": _SHADOW,
    "in place": _SGD,
    "the new value is used": """
def norms(model):
    total = 0.0
    for p in model.parameters():
        p = p - p.mean()
        total += p.norm().item()
    return total
""",
    "put back into the state": """
def average(a, b):
    state = a.state_dict()
    for name, value in b.state_dict().items():
        value = value * 0.5 + state[name] * 0.5
        state[name] = value
    a.load_state_dict(state)
""",
    "a counter": """
def count(model):
    n = 0
    for p in model.parameters():
        n = n + p.numel()
    return n
""",
    "name counted but unused": """
def count(model):
    n = 0
    for name, p in model.named_parameters():
        name = name + "."
        n += p.numel()
    return n
""",
    "in place, with arithmetic inside": """
import torch
def update(model, average, lr, mix):
    with torch.no_grad():
        for p, q in zip(model.parameters(), average.parameters()):
            p = p.sub_(lr * p.grad * p)
            q = torch.add(q, p - q, alpha=0.1, out=q)
        for p in model.parameters():
            p = mix(p, p * 0.9)
""",
}
