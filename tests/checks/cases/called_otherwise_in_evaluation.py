"""Programs for called-otherwise-in-evaluation."""

from ._programs import mutant

_STEPS = """
import pytorch_lightning as pl

def error_to_signal(y, y_pred):
    return (y - y_pred).pow(2).sum(2) / (y.pow(2).sum(2) + 1e-10)

class Pedal(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        y_pred = self(x)
        return error_to_signal(y[:, :, -y_pred.size(2) :], y_pred).mean()

    def validation_step(self, batch, batch_idx):
        x, y = batch
        y_pred = self(x)
        self.log("loss", error_to_signal(y[:, :, -y_pred.size(2) :], y_pred).mean())
"""
_LOOPS = """
from utils import concordance

def c_index(risk, time, event):
    return concordance(time, risk, event)

def run(net, optimizer, loaders, loss_of):
    for x, time, event in loaders["train"]:
        risk = net(x)
        optimizer.zero_grad()
        loss_of(risk, time, event).backward()
        optimizer.step()
        train_c = c_index(-risk, time, event)
    for x, time, event in loaders["valid"]:
        risk = net(x)
        valid_c = c_index(-risk, time, event)
    return train_c, valid_c
"""
_FUNCTIONS = """
from losses import distance

def train_one(net, optimizer, x, y):
    out = net(x)
    loss = distance(out, y.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def train_epoch(net, optimizer, loader):
    for x, y in loader:
        out = net(x)
        loss = distance(out, y.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def validate(net, loader):
    total = 0
    for x, y in loader:
        out = net(x)
        total += distance(out, y.float()).item()
    return total
"""
_LOSSES = """
# file: losses.py
def distance(out, y):
    return ((out - y) / (y.abs() + 1)).square().mean()
"""
SILENT = {
    "both ways in evaluation": mutant(
        f"# file: train.py{_FUNCTIONS}{_LOSSES}",
        ("total += distance(out, y.float()).item()", "total += distance(out, y.float()).item() + distance(y.float(), out).item()"),
    ),
    "no measure": """# file: train.py
from shifts import shift

def train_one(net, optimizer, x, k):
    out = net(shift(x, k))
    optimizer.zero_grad()
    out.mean().backward()
    optimizer.step()

def train_all(net, optimizer, loader, k):
    for x in loader:
        loss = net(shift(x, k)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def validate(net, loader, k):
    return [shift(net(x), -k) for x in loader]
# file: shifts.py
def shift(x, k):
    return x.roll(k, 1)
""",
    "steps": _STEPS,
    "loops": _LOOPS,
    "functions": f"# file: train.py{_FUNCTIONS}{_LOSSES}",
    "both ways in training": mutant(
        _LOOPS,
        ("        train_c =", "        other_c = c_index(risk, time, event)\n        train_c ="),
        ("valid_c = c_index(-risk", "valid_c = c_index(risk"),
    ),
    "of a library": mutant(f"# file: train.py{_FUNCTIONS}", ("from losses import distance", "from torch.nn.functional import mse_loss as distance"), ("total += distance(out, y.float())", "total += distance(y.float(), out)")),
    "other things": mutant(f"# file: train.py{_FUNCTIONS}{_LOSSES}", ("total += distance(out, y.float())", "total += distance(out, x)")),
}  # fmt: skip
FAILS = {
    "exchanged in training": mutant(_STEPS, ("return error_to_signal(y[:, :, -y_pred.size(2) :], y_pred)", "return error_to_signal(y_pred, y[:, :, -y_pred.size(2) :])")),
    "from the other end": mutant(_STEPS, ("return error_to_signal(y[:, :, -y_pred.size(2) :], y_pred)", "return error_to_signal(y[:, :, : y_pred.size(2)], y_pred)")),
    "another sign": mutant(_LOOPS, ("valid_c = c_index(-risk", "valid_c = c_index(risk")),
    "another sign in training": mutant(_LOOPS, ("train_c = c_index(-risk", "train_c = c_index(risk")),
    "exchanged in validation": mutant(f"# file: train.py{_FUNCTIONS}{_LOSSES}", ("total += distance(out, y.float())", "total += distance(y.float(), out)")),
}  # fmt: skip
