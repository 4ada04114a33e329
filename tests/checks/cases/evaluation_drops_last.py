"""Programs for evaluation-drops-last."""

from ._programs import ACCELERATE, SCRIPT, mutant

_HELPER = """
# file: loaders.py
from torch.utils.data import DataLoader

def build_loader(dataset, batch_size, shuffle=True, drop_last=True):
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last)
# file: engine.py
import torch
from tqdm import tqdm

class Engine:
    def __init__(self, model, train_loader, val_loader):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train_epoch(self):
        for x, y in tqdm(self.train_loader):
            self.optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(x), y).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        losses = []
        bar = tqdm(self.val_loader, leave=False)
        for x, y in bar:
            losses.append(torch.nn.functional.cross_entropy(self.model(x), y).item())
        self.model.train()
        return sum(losses) / len(losses)
# file: main.py
from engine import Engine
from loaders import build_loader
from model import net
from sets import train_set, val_set

train_loader = build_loader(train_set, 64)
val_loader = build_loader(val_set, 64, shuffle=False, drop_last=False)
engine = Engine(net, train_loader, val_loader)
for epoch in range(9):
    engine.train_epoch()
    print(engine.validate())
"""
_LIGHTNING = """
import lightning
import torch
from torch.utils.data import DataLoader

class Rows(lightning.LightningDataModule):
    def __init__(self, train, val):
        super().__init__()
        self.train, self.val = train, val

    def _loader(self, dataset, full):
        return DataLoader(dataset, batch_size=64, drop_last=full)

    def train_dataloader(self):
        return self._loader(self.train, True)

    def val_dataloader(self):
        return self._loader(self.val, False)

class Model(lightning.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, i):
        return self.net(batch).mean()

    def validation_step(self, batch, i):
        self.log("val", self.net(batch).mean())
"""
_SETTINGS = """
import torch
from torch.utils import data

def run(model, loader, criterion, optimizer=None, mode="train"):
    total, seen = 0.0, 0
    for x, y in loader:
        loss = criterion(model(x), y)
        if mode == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(x)
        seen += len(x)
    return total / seen

def main(model, criterion, train_set, test_set):
    full = {"batch_size": 32, "shuffle": True, "drop_last": True}
    every = {"batch_size": 32, "shuffle": False, "drop_last": False}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_loader = data.DataLoader(train_set, **full)
    test_loader = data.DataLoader(test_set, **every)
    for epoch in range(5):
        run(model, train_loader, criterion, optimizer, mode="train")
        with torch.no_grad():
            print(run(model, test_loader, criterion, mode="test"))
"""
_BY_FLAG = """
import torch
from torch.utils.data import DataLoader
from windows import Windows

def provide(args, flag):
    drop_last = flag == "train" or args.always
    if flag == "test":
        shuffle, drop_last = False, False
    else:
        shuffle, drop_last = True, True
    return DataLoader(Windows(args.root, flag), batch_size=args.batch_size, shuffle=shuffle, drop_last=drop_last)

class Experiment:
    def __init__(self, args, model):
        self.args, self.model = args, model

    def train(self):
        optimizer = torch.optim.Adam(self.model.parameters())
        for x, y in provide(self.args, "train"):
            optimizer.zero_grad()
            (self.model(x) - y).pow(2).mean().backward()
            optimizer.step()

    def test(self):
        errors = []
        for x, y in provide(self.args, "test"):
            errors.append((self.model(x) - y).abs().mean().item())
        return sum(errors) / len(errors)
"""
_CIFAR = """
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10

@torch.no_grad()
def main(model):
    test_loader = DataLoader(CIFAR10("data", train=False), batch_size=100, drop_last=True)
    hits = 0
    for x, y in test_loader:
        hits += (model(x).argmax(1) == y).sum().item()
    return hits / 10_000
"""
_IN_BATCH = """
import torch
from torch.utils.data import DataLoader

def loss_of(images, texts):
    labels = torch.arange(len(images))
    return torch.nn.functional.cross_entropy(images @ texts.T, labels)

@torch.no_grad()
def validate(model, pairs):
    val_loader = DataLoader(pairs, batch_size=256, drop_last=True)
    total = 0.0
    for images, texts in val_loader:
        total += loss_of(*model(images, texts)).item()
    return total / len(val_loader)
"""
_CUT = """
import torch
from torch.utils.data import DataLoader, TensorDataset

@torch.no_grad()
def evaluate(model, x, y):
    count = 512
    x = x[:count]
    loader = DataLoader(TensorDataset(x, y[:count]), batch_size=64, drop_last=True)
    errors = []
    for a, b in loader:
        errors.append((model(a) - b).abs().sum().item())
    return sum(errors) / count
"""
_BRANCHES = """
import torch
from torch.utils.data import DataLoader, RandomSampler
from sets import train_set, test_set

def build(dataset, sampler="random", drop_last=True):
    if sampler is None:
        return DataLoader(dataset, batch_size=32, drop_last=False)
    return DataLoader(dataset, batch_size=32, sampler=RandomSampler(dataset), drop_last=drop_last)

def train(model, optimizer):
    for x, y in build(train_set):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

def test(model):
    hits = 0
    for x, y in build(test_set, None):
        hits += (model(x).argmax(1) == y).sum().item()
    return hits
"""
SILENT = {
    "one example a batch, where nobody says otherwise": """
import argparse
import torch
from torch.utils.data import DataLoader
from sets import val_set

def evaluate(model, batch_size: int = 1):
    options = dict(batch_size=batch_size, num_workers=4)
    val_loader = DataLoader(val_set, shuffle=False, drop_last=True, **options)
    score = 0.0
    for x, y in val_loader:
        score += (model(x) - y).abs().mean().item()
    return score / len(val_loader)

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", dest="batch_size", type=int, default=1)
args = parser.parse_args()
print(evaluate(torch.load("model.pt"), batch_size=args.batch_size))
""",
    "a branch that the call does not take": _BRANCHES,
    "a helper that drops unless told": _HELPER,
    "lightning": _LIGHTNING,
    "settings": _SETTINGS,
    "by a flag": _BY_FLAG,
    "a number that divides that of the examples": _CIFAR,
    "cut to a number that does": _CUT,
    "examples are compared within a batch": _IN_BATCH,
    "one example a batch": mutant(_CIFAR, ("batch_size=100", "batch_size=1")),
    "all in one batch": mutant(
        _CIFAR, ('DataLoader(CIFAR10("data", train=False), batch_size=100', "DataLoader(model.data, len(model.data)")
    ),
    "a test set that is adapted to": """
import torch
from torch.utils.data import DataLoader

def adapt(model, source, target, optimizer):
    train_loader = DataLoader(source, batch_size=32, shuffle=True, drop_last=True)
    test_loader = DataLoader(target, batch_size=32, shuffle=True, drop_last=True)
    for (x, y), (z, _) in zip(train_loader, test_loader):
        loss = torch.nn.functional.cross_entropy(model(x), y) + model(z).softmax(1).std()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    hits = 0
    for x, y in test_loader:
        hits += (model(x).argmax(1) == y).sum().item()
    return hits
""",
    "a few batches to look at": """
import torch
from torch.utils.data import DataLoader

def show(model, dataset):
    test_loader = DataLoader(dataset, batch_size=8, shuffle=True, drop_last=True)
    for i, (x, y) in enumerate(test_loader):
        print(i, model(x).argmax(1), y)
    scores = []
    for i, (x, y) in enumerate(test_loader):
        scores.append(model(x).max().item())
        if i == 4:
            break
    return scores
""",
    "the training set": """
import torch
from torch.utils.data import DataLoader

def features(model, train_set):
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True, drop_last=True)
    found = []
    for x, _ in train_loader:
        found.append(model(x))
    return torch.cat(found)
""",
    "without an end": """
from torch.utils.data import DataLoader, IterableDataset

class Questions(IterableDataset):
    def __iter__(self):
        while True:
            yield self.draw()

def evaluate(model, steps):
    val_loader = DataLoader(Questions(), batch_size=16, drop_last=True)
    total = 0.0
    for batch in val_loader:
        total += model(batch).mean().item()
    return total
""",
}
FAILS = {
    "settings of dict()": mutant(
        _SETTINGS,
        ('{"batch_size": 32, "shuffle": True, "drop_last": True}', "dict(batch_size=32, shuffle=True, drop_last=True)"),
        ("test_set, **every", "test_set, **full"),
    ),
    "a branch that drops whatever is asked for": mutant(
        _BRANCHES, ("batch_size=32, drop_last=False", "batch_size=32, drop_last=drop_last")
    ),
    "a helper that drops unless told": mutant(_HELPER, ("shuffle=False, drop_last=False", "shuffle=False")),
    "lightning": mutant(_LIGHTNING, ("self.val, False", "self.val, True")),
    "settings": mutant(_SETTINGS, ("test_set, **every", "test_set, **full")),
    "by a flag": mutant(_BY_FLAG, ("shuffle, drop_last = False, False", "shuffle, drop_last = False, True")),
    "script": mutant(SCRIPT, ("DataLoader(val_set, batch_size=32)", "DataLoader(val_set, 32, drop_last=True)")),
    "some are left over": mutant(_CIFAR, ("batch_size=100", "batch_size=128")),
    "accelerate": mutant(
        ACCELERATE,
        ("def main(model, loader, val_loader, config):", "def main(model, loader, val_set, config):"),
        (
            "    model, optimizer, loader",
            "    val_loader = DataLoader(val_set, batch_size=16, drop_last=True)\n    model, optimizer, loader",
        ),
        ("loader, scheduler = acc", "loader, scheduler, val_loader = acc"),
        ("(model, optimizer, loader, scheduler)", "(model, optimizer, loader, scheduler, val_loader)"),
        ("                model(batch)\n", '                config["scores"].append(model(batch))\n'),
        ("import torch\n", "import torch\nfrom torch.utils.data import DataLoader\n"),
    ),
    "hugging face": """
import torch
import transformers
from torch.utils.data import DataLoader

class Weighted(transformers.Trainer):
    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, batch_size=8, shuffle=True, drop_last=True)

    def get_eval_dataloader(self, eval_dataset=None):
        return DataLoader(self.eval_dataset, batch_size=8, drop_last=True)
""",
    "both in one dict": """
import torch
from torch.utils.data import DataLoader

def main(model, sets, optimizer):
    loaders = {
        "train": DataLoader(sets["train"], batch_size=16, shuffle=True, drop_last=True),
        "val": DataLoader(sets["val"], batch_size=16, shuffle=True, drop_last=True),
    }
    for x, y in loaders["train"]:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    total = 0.0
    for x, y in loaders["val"]:
        with torch.no_grad():
            total += torch.nn.functional.mse_loss(model(x), y).item()
    return total
""",
    "the trainer of lightning is given it": """
import lightning
from torch.utils.data import DataLoader
from model import Model
from sets import train_set, val_set

def validation_step(self, batch, i):
    self.log("loss", self.net(batch).mean())

train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=32, drop_last=True)
trainer = lightning.Trainer(max_epochs=3)
trainer.fit(Model(), train_loader, val_loader)
""",
}
SILENT["batches without end, of which one is drawn"] = """
import torch
from torch.utils.data import DataLoader

def cycle(loader):
    while True:
        for batch in loader:
            yield batch

def validation_step(model, val_set):
    val_loader = DataLoader(val_set, batch_size=16, shuffle=True, drop_last=True)
    val_loader = cycle(val_loader)
    x, y = next(val_loader)
    return torch.nn.functional.mse_loss(model(x), y).item()
"""
