"""Programs for labels-in-another-order."""

from ._programs import mutant

_HASHING = """
# file: utils.py
import torch
from torch.utils.data import DataLoader

def init(args, train_set, test_set):
    train_loader = DataLoader(train_set, batch_size=args.batch, shuffle=True, num_workers=2)
    test_loader = DataLoader(test_set, batch_size=args.batch, shuffle=False)
    return train_loader, test_loader

def compute(dataloader, net):
    bs, classes = [], []
    net.eval()
    for img, cls in dataloader:
        bs.append(net(img))
        classes.append(cls)
    return torch.sign(torch.cat(bs)), torch.cat(classes)

# file: main.py
from utils import compute, init

def main(args, net, train_set, test_set, retrieve):
    train_loader, test_loader = init(args, train_set, test_set)
    return retrieve(*compute(train_loader, net), *compute(test_loader, net))
"""
_CLASS = """
import numpy as np
import torch
from torch.utils.data import DataLoader

class Probe:
    def __init__(self, data):
        self.loader = DataLoader(data, 32, shuffle=False)

    def features(self, net):
        out = []
        for batch in self.loader:
            out.append(net(batch[0]).detach().numpy())
        return np.concatenate(out), np.array(self.loader.dataset.labels)
"""
_SCRIPT = """
import torch
from tqdm import tqdm
from torch.utils.data import DataLoader

loader = DataLoader(data, batch_size=64)
embeddings = torch.empty(0)
for i, (x, y) in enumerate(tqdm(loader)):
    embeddings = torch.cat([embeddings, model(x)])
labels = torch.as_tensor(loader.dataset.targets)
score = knn(embeddings, labels)
"""
SILENT = {
    "hashing": _HASHING,
    "a class": _CLASS,
    "a script": _SCRIPT,
    "another loader": mutant(_SCRIPT, ("labels = torch.as_tensor(loader.dataset.targets)", "other = DataLoader(data, 8, shuffle=True)\nlabels = torch.as_tensor(loader.dataset.targets)")),
    "only counted": mutant(_HASHING, ("    return torch.sign", "    print(len(dataloader.dataset))\n    return torch.sign")),
}  # fmt: skip
_OF_DATA = (
    ("        classes.append(cls)\n", ""),
    ("torch.cat(classes)", "torch.tensor(dataloader.dataset.targets)"),
    ("    bs, classes = [], []", "    bs = []"),
)
FAILS = {
    "hashing": mutant(_HASHING, *_OF_DATA),
    "an array": mutant(_HASHING, _OF_DATA[0], ("torch.cat(classes)", "dataloader.dataset.labels"), _OF_DATA[2]),
    "a class": mutant(_CLASS, ("shuffle=False", "shuffle=True")),
    "by place": mutant(_CLASS, ("32, shuffle=False", "32, True")),
    "a script": mutant(_SCRIPT, ("batch_size=64)", "batch_size=64, shuffle=True)")),
}  # fmt: skip

SILENT["counted"] = """
import torch
from torch.utils.data import DataLoader

def train(model, loader, optimizer, loss_of):
    weights = 1 / torch.bincount(torch.as_tensor(loader.dataset.targets)).float()
    classes = len(set(loader.dataset.targets))
    losses = []
    for x, y in loader:
        loss = loss_of(model(x), y, weights, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses

def main(model, data, optimizer, loss_of):
    return train(model, DataLoader(data, 32, shuffle=True), optimizer, loss_of)
"""

_FITTED = """
# file: probing.py
import torch

def embeddings(model, loader, device):
    model.eval()
    found = []
    with torch.no_grad():
        for x, _ in loader:
            found.append(model(x.to(device)))
    return torch.cat(found).numpy()

# file: train.py
from sklearn.linear_model import LogisticRegression
from torch.utils.data import DataLoader
from probing import embeddings
from rows import Rows

def main(model, device, train_data, train_target, test_data, test_target, learn):
    train_set = Rows(train_data.to_numpy(), train_target.to_numpy())
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    learn(model, train_loader)
    in_order = DataLoader(train_set, batch_size=64, shuffle=False)
    embedded = embeddings(model, in_order, device)
    classifier = LogisticRegression()
    classifier.fit(embedded, train_target)
    tested = embeddings(model, DataLoader(Rows(test_data, test_target), 64), device)
    return classifier.score(tested, test_target)
"""
SILENT["fitted in order"] = _FITTED
SILENT["clusters"] = mutant(
    _FITTED,
    ("classifier.fit(embedded, train_target)", "classifier.fit(embedded, other)"),
    ("in_order, device", "train_loader, device"),
)
FAILS["fitted to the array"] = mutant(_FITTED, ("in_order, device", "train_loader, device"))
FAILS["scored on the array"] = mutant(
    _FITTED, ("Rows(test_data, test_target), 64)", "Rows(test_data, test_target), 64, True)")
)
