"""Programs for method-not-called: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "zero_grad in a loop": (
            """
def train(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
""",
            "optimizer.zero_grad()",
            "optimizer.zero_grad",
        ),
        "eval in a trainer": (
            """
import torch

class Trainer:
    def validate(self, loader):
        self.model.eval()
        with torch.no_grad():
            out = [self.model(x) for x in loader]
        self.model.train()
        return out
""",
            "self.model.eval()",
            "self.model.eval",
        ),
        "flag in place of a method": (
            """
from torch import nn

def score(loader):
    scorer = nn.Sequential(nn.Linear(3, 3), nn.Dropout())
    scorer.train(False)
    return [scorer(x) for x in loader]
""",
            "scorer.train(False)",
            "scorer.train = False",
        ),
        "backward of a loss under an if": (
            """
def step(loss, optimizer, ready):
    if ready:
        loss.backward()
        optimizer.step()
""",
            "        optimizer.step()",
            "        optimizer.step",
        ),
        "callback": (
            """
class FreezeAfter:
    def on_epoch_end(self, trainer):
        if trainer.epoch > 3:
            trainer.model.eval()
        trainer.scheduler.step()
""",
            "trainer.scheduler.step()",
            "trainer.scheduler.step",
        ),
        "function in another file": (
            """
# file: modes.py
def quiet(generator):
    generator.eval()
# file: main.py
from modes import quiet

def sample(generator, z):
    quiet(generator)
    return generator(z)
""",
            "generator.eval()",
            "generator.eval = True",
        ),
    }
)

FAILS |= {
    "a state is saved": """
import torch

def save(optimizer, path):
    torch.save(optimizer.state_dict, path + "/state.pt")
""",
    "a state in a table is saved": """
import torch

class Trainer:
    def save(self, epoch):
        torch.save({"epoch": epoch, "model": self.model.state_dict}, "last.pt")
""",
}
SILENT = ORIGINALS | {
    "a state that is saved and the method that makes it": """
import torch

def save(model, optimizer, path, make=None):
    make = make or model.state_dict
    torch.save({"model": make(), "optimizer": optimizer.state_dict()}, path)
    hooks = {"model": model.state_dict}
    return hooks
""",
    "a table of that name": """
import torch

def save(model, optimizer, path):
    state_dict = {"model": model.state_dict()}
    if optimizer is not None:
        state_dict["optimizer"] = optimizer.state_dict()
    torch.save(state_dict, path)
""",
    "an attribute of that name": """
import torch

class Best:
    def keep(self, model):
        self.state_dict = {name: value.clone() for name, value in model.state_dict().items()}

    def save(self, path):
        torch.save(self.state_dict, path)
""",
    "named of the base, whose work is done here": """
class Saver:
    def __init__(self):
        self.rows = []

    def update(self, row):
        self.rows.append(row)

class Predictions(Saver):
    def update(self, row):
        self.rows.append(row)
        super().update
""",
    "settings": "class Options:\n    pass\n\nargs = Options()\nargs.train = True\nargs.eval = False\n",
    "own flag": """
class Runner:
    def __init__(self, train):
        self.train = train
        self.eval = not train
""",
    "handed over": "def setup(model, on_exit):\n    on_exit(model.eval)\n    back = model.train\n    return back\n",
    "property": """
class Simulation:
    @property
    def step(self):
        self.count += 1

def run(simulation):
    simulation.step
""",
    "split of a data set": "def pick(dataset, parts):\n    dataset.train = parts[0]\n    dataset.train = True\n",
    "values of an enum": "import enum\n\nclass Mode(enum.Enum):\n    train = True\n    eval = False\n",
    "docstring only": 'def f(model):\n    """model.eval is called later."""\n    return model\n',
    "mode flag of own class": """
class Config:
    train = True
class Model:
    pass
def f(model: Model):
    model.train = False
""",
    "argparse namespace named net": """
import argparse
def f():
    net = argparse.ArgumentParser().parse_args()
    net.train = True
""",
    "a part of a data set": """
def f(dataset):
    dataset.train
""",
    "asked for in a try": """
def f(opt):
    try:
        opt.step
    except AttributeError:
        raise TypeError("no optimizer")
""",
    "a flag of a network of numpy": """
import numpy as np
def predict(net, x):
    net.train = False
    return np.argmax(net(x), 1)
""",
}
