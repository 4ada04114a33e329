"""Programs for old-weights-not-copied."""

from ._programs import mutant

_PENALTY = """
def fit(model, loss_of, optimizer, batches, strength):
    old = {name: p.data.clone() for name, p in model.named_parameters()}
    for x, y in batches:
        loss = loss_of(model(x), y)
        for name, p in model.named_parameters():
            loss = loss + strength * ((p - old[name]) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_BUFFERS = """
from torch import nn

class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def consolidate(self, fisher):
        for n, p in self.named_parameters():
            n = n.replace(".", "__")
            self.register_buffer("{}_mean".format(n), p.data.clone())
            self.register_buffer("{}_fisher".format(n), fisher[n].data.clone())

    def penalty(self):
        terms = []
        for n, p in self.named_parameters():
            n = n.replace(".", "__")
            mean = getattr(self, "{}_mean".format(n))
            terms.append((getattr(self, "{}_fisher".format(n)) * (p - mean) ** 2).sum())
        return sum(terms)
"""
_UPDATE = """
import copy

def round_of(model, local_train, batches):
    before = copy.deepcopy(model.state_dict())
    local_train(model, batches)
    after = model.state_dict()
    return {k: after[k] - before[k] for k in before}
"""
_ZIP = """
def drift(model, optimizer, loss_of, batches):
    old = [p.detach().clone() for p in model.parameters()]
    for x, y in batches:
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
    return sum((p - q).norm() for p, q in zip(model.parameters(), old))
"""
_KEEPER = """
class Keeper:
    def __init__(self, model):
        self.model = model
        self.means = {}

    def keep(self):
        for name, p in self.model.named_parameters():
            self.means[name] = p.data.clone()

    def penalty(self):
        return sum(((p - self.means[name]) ** 2).sum() for name, p in self.model.named_parameters())
"""
SILENT = {
    "penalty": _PENALTY,
    "buffers": _BUFFERS,
    "update": _UPDATE,
    "zip": _ZIP,
    "keeper": _KEEPER,
    "of another model": """
def fit(model, teacher, loss_of, optimizer, batches):
    old = {name: p.data for name, p in teacher.named_parameters()}
    for x, y in batches:
        loss = loss_of(model(x), y)
        for name, p in model.named_parameters():
            loss = loss + ((p - old[name]) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "the parameters get other tensors": """
def step(model, loss_of, x, y, rate):
    old = {name: p.data for name, p in model.named_parameters()}
    loss_of(model(x), y).backward()
    for p in model.parameters():
        p.data = p.data - rate * p.grad
    return sum((p - old[name]).norm() for name, p in model.named_parameters())
""",
    "nothing is trained in between": """
def check(model):
    old = {name: p.data for name, p in model.named_parameters()}
    return all((p - old[name]).abs().max() == 0 for name, p in model.named_parameters())
""",
    "copied afterwards": mutant(
        _UPDATE, ("copy.deepcopy(model.state_dict())", "model.state_dict()\n    before = copy.deepcopy(before)")
    ),
    "made anew before they are compared": mutant(
        _UPDATE,
        ("copy.deepcopy(model.state_dict())", "model.state_dict()"),
        ("    after =", "    before = snapshot(model)\n    after ="),
    ),
    "a network of its own for each client": mutant(
        _UPDATE,
        ("copy.deepcopy(model.state_dict())", "model.state_dict()\n    model = copy.deepcopy(model)"),
    ),
    "used to load": """
def restart(model, train, batches):
    before = model.state_dict()
    train(model, batches)
    model.load_state_dict(before)
""",
}
FAILS = {
    "penalty": mutant(_PENALTY, ("p.data.clone()", "p.data")),
    "penalty, detached": mutant(_PENALTY, ("p.data.clone()", "p.detach()")),
    "buffers": mutant(_BUFFERS, ("p.data.clone())", "p.data)")),
    "update": mutant(_UPDATE, ("copy.deepcopy(model.state_dict())", "model.state_dict()")),
    "zip": mutant(_ZIP, ("p.detach().clone()", "p.detach()")),
    "keeper": mutant(_KEEPER, ("p.data.clone()", "p.data")),
}
