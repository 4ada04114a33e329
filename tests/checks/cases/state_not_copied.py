"""Programs for state-not-copied."""

from ._programs import mutant

_FIT = """
import copy
import torch

def fit(model, loader, validate, optimizer, epochs):
    best_acc, best_weights = 0.0, None
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        acc = validate(model)
        if acc > best_acc:
            best_acc = acc
            best_weights = copy.deepcopy(model.state_dict())
    model.load_state_dict(best_weights)
    return model
"""
_SAVED = """
import torch

def main(model, step, validate, epochs):
    lowest = 1e9
    state = {k: v.clone() for k, v in model.state_dict().items()}
    for epoch in range(epochs):
        step(model)
        loss = validate(model)
        if loss < lowest:
            lowest = loss
            state = {k: v.clone() for k, v in model.state_dict().items()}
    torch.save(state, "best.pt")
"""
_TRAINER = """
import copy

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.best_loss, self.best_state = model, optimizer, None, None

    def validate(self, loss):
        if self.best_loss is None or loss < self.best_loss:
            self.best_loss = loss
            self.best_state = copy.deepcopy(self.model.state_dict())

    def finish(self):
        self.model.load_state_dict(self.best_state)
"""
_STOPS = """
import copy

def search(net, train_epoch, evaluate, patience):
    best, bad = 0, 0
    while True:
        train_epoch(net)
        score = evaluate(net)
        if score > best:
            best, bad = score, 0
            best_state = copy.deepcopy(net.state_dict())
        else:
            bad += 1
        if bad > patience:
            net.load_state_dict(best_state)
            break
    return net
"""
_MODULE = """
import copy
import torch

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, weights = 1e9, None
for epoch in range(10):
    loss = model(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best = loss.item()
        weights = copy.deepcopy(model.state_dict())
model.load_state_dict(weights)
"""
SILENT = {
    "fit": _FIT,
    "saved": _SAVED,
    "trainer": _TRAINER,
    "stops early": _STOPS,
    "module": _MODULE,
    "each arm saves its own": """
import torch

def save(parts, folder):
    for name, part in parts.items():
        if isinstance(part, torch.nn.Module):
            state = part.state_dict()
            torch.save(state, folder / name)
        elif hasattr(part, "state_dict"):
            state = part.state_dict()
            torch.save(state, folder / name)
""",
    "federated rounds": """
def rounds(server, clients, average):
    for _ in range(10):
        state = server.state_dict()
        for client in clients:
            client.load_state_dict(state)
            client.fit()
        server.load_state_dict(average(clients))
""",
    "copied afterwards": """
import copy

def fit(model, step, validate):
    best = 0
    for _ in range(9):
        step(model)
        if validate(model) > best:
            best = validate(model)
            best_state = model.state_dict()
            best_state = {k: v.cpu().clone() for k, v in best_state.items()}
    model.load_state_dict(best_state)
""",
    "a state of its own": """
class Average:
    def state_dict(self):
        return {k: v.clone() for k, v in self.values.items()}

def fit(model, step, validate):
    average, best = Average(), 0
    for _ in range(9):
        step(model)
        if validate(model) > best:
            best_state = average.state_dict()
    model.load_state_dict(best_state)
""",
    "taken in both arms, written under another test": """
import torch

def fit(model, step, validate, devices, epochs):
    for epoch in range(epochs):
        step(model)
        if devices > 1:
            state = model.module.state_dict()
        else:
            state = model.state_dict()
        if epoch > 3:
            torch.save(state, f"{epoch}.pt")
""",
    "another state under the same name": """
def share(clients, server, kept, step, names):
    for client in clients:
        for _ in range(3):
            step(client)
            if client.is_new:
                state = client.state_dict()
    shared = server.state_dict()
    for client in kept:
        state = client.state_dict()
        for name in names:
            state[name] = shared[name]
        client.load_state_dict(state)
""",
    "saved at once": """
import torch

def fit(model, step, validate):
    best = 0
    for epoch in range(9):
        step(model)
        if (acc := validate(model)) > best:
            best, best_state = acc, model.state_dict()
            torch.save({"state": best_state, "epoch": epoch}, "best.pt")
    model.load_state_dict(torch.load("best.pt")["state"])
""",
}
_COPY = "copy.deepcopy({}.state_dict())"
FAILS = {
    "loaded in the other arm, when patience ends": """
from typing import cast

def fit(model, optimizer, train, validate, epochs):
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(epochs):
        train(model, optimizer)
        loss = validate(model)
        if loss < best:
            best = loss
            best_state = model.state_dict()
            waited = 0
        else:
            waited += 1
            if waited == 10:
                model.load_state_dict(cast(dict, best_state))
                return model
    return model
""",
    "fit": mutant(_FIT, (_COPY.format("model"), "model.state_dict()")),
    "saved": mutant(
        _SAVED,
        (
            "            state = {k: v.clone() for k, v in model.state_dict().items()}",
            "            state = model.state_dict()",
        ),
    ),
    "trainer": mutant(_TRAINER, (_COPY.format("self.model"), "self.model.state_dict()")),
    "stops early": mutant(_STOPS, (_COPY.format("net"), "net.state_dict()")),
    "module": mutant(_MODULE, (_COPY.format("model"), "model.state_dict()")),
}
