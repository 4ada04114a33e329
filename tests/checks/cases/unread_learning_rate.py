"""Programs for unread-learning-rate."""

from ._programs import mutant

_DECAY = """
import torch

def train(model, loader, epochs, lr=0.1):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        if epoch > 10:
            lr /= 10
            optimizer.param_groups[0]["lr"] = lr
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
"""
_TRAINER = """
import torch

class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model, self.lr = model, lr
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)

    def decay(self):
        self.lr *= 0.5
        for group in self.optim.param_groups:
            group["lr"] = self.lr

    def train(self, loader):
        for x in loader:
            self.optim.zero_grad()
            self.model(x).mean().backward()
            self.optim.step()
        self.decay()
"""
_OWN = """
import torch

class Scheduled(torch.optim.Adam):
    @property
    def lr(self):
        return self.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        for group in self.param_groups:
            group["lr"] = value

def train(model, loader, lr=0.1):
    optimizer = Scheduled(model.parameters(), lr=lr)
    for x in loader:
        optimizer.lr = lr * 0.9
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
"""
_GROUPS = """        for group in self.optim.param_groups:
            group["lr"] = self.lr
"""
_WRITTEN = ('optimizer.param_groups[0]["lr"] = lr', "optimizer.lr = lr")
SILENT = {
    "kept to be shown, beside the groups": """
import torch

class Solver:
    def __init__(self, model):
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def decay(self, lr):
        self.optimizer.lr = lr
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        print(self.optimizer.lr)
""",
    "groups": _DECAY,
    "of a trainer": _TRAINER,
    "a property of its own": _OWN,
    "read back into the groups": mutant(
        _DECAY,
        _WRITTEN,
        (
            "            optimizer.zero_grad()\n",
            '            optimizer.zero_grad()\n            optimizer.param_groups[0]["lr"] = optimizer.lr\n',
        ),
    ),
    "read elsewhere": mutant(_DECAY, _WRITTEN)
    + """
def apply(optimizer):
    for group in optimizer.param_groups:
        group["lr"] = optimizer.lr
""",
    "of another library": mutant(
        _DECAY,
        _WRITTEN,
        ("import torch\n", "import tensorflow as tf\n"),
        ("torch.optim.SGD(model.parameters(), lr=lr)", "tf.keras.optimizers.SGD(lr)"),
    ),
    "not known": mutant(_DECAY, _WRITTEN, ("torch.optim.SGD(model.parameters(), lr=lr)", "model.optimizer()")),
    "settings": mutant(_DECAY, _WRITTEN, ("optimizer.lr = lr", "model.config.optimizer.lr = lr")),
    "one of two is unknown": mutant(
        _DECAY,
        _WRITTEN,
        ("    for epoch", "    if epochs > 5:\n        optimizer = model.wrap(optimizer)\n    for epoch"),
    ),
    "defaults of groups that come later": mutant(
        _DECAY,
        (
            'optimizer.param_groups[0]["lr"] = lr',
            'optimizer.defaults["lr"] = lr\n            optimizer.add_param_group({"params": model.more})',
        ),
    ),
    "it raises": mutant(_TRAINER, (_GROUPS, "        self.optim.lr *= 0.5\n")),
}
FAILS = {
    "a setting of that name is read": mutant(
        _DECAY,
        _WRITTEN,
        ("loader, epochs, lr=0.1", "loader, epochs, cfg"),
        ("    optimizer =", "    lr = cfg.optimizer.lr\n    optimizer ="),
    ),
    "assigned": mutant(_DECAY, _WRITTEN),
    "by its long name": mutant(_DECAY, ('optimizer.param_groups[0]["lr"] = lr', "optimizer.learning_rate = lr")),
    "shown only": mutant(
        _DECAY, ('optimizer.param_groups[0]["lr"] = lr', "optimizer.lr = lr\n            print(optimizer.lr)")
    ),
    "defaults": mutant(_DECAY, ('optimizer.param_groups[0]["lr"] = lr', 'optimizer.defaults["lr"] = lr')),
    "of a trainer": mutant(_TRAINER, (_GROUPS, "        self.optim.lr = self.lr\n")),
    "augmented later": mutant(
        _TRAINER,
        (_GROUPS, "        self.optim.lr *= 0.5\n"),
        ("=lr)\n", "=lr)\n        self.optim.lr = lr\n"),
    ),
    "chosen by name": mutant(
        _DECAY,
        _WRITTEN,
        ("import torch\n", "import torch.optim as optim\n"),
        ("(model, loader, epochs", "(args, model, loader, epochs"),
        ("torch.optim.SGD(model", "getattr(optim, args.optim)(model"),
    ),
    "handed to a function": mutant(
        _DECAY, ('            optimizer.param_groups[0]["lr"] = lr\n', "            adjust(optimizer, lr)\n")
    )
    + """
def adjust(optimizer, lr):
    optimizer.lr = lr
""",
}
