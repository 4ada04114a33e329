"""Programs for missing-set-epoch."""

from ._programs import ENGINE, mutant

_SCRIPT = """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from data import dataset, model

sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, sampler=sampler)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(5):
    sampler.set_epoch(epoch)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
"""
_CLASS = """
import torch
import torch.utils.data as tud

class Trainer:
    def __init__(self, model, dataset):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.sampler = tud.DistributedSampler(dataset, shuffle=True)
        self.loader = tud.DataLoader(dataset, sampler=self.sampler)

    def _epoch(self):
        for x in self.loader:
            self.optimizer.zero_grad()
            self.model(x).mean().backward()
            self.optimizer.step()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            self._epoch()
"""
_NESTED = """
import torch

def main(args, model, dataset):
    if args.distributed:
        sampler = torch.utils.data.distributed.DistributedSampler(dataset, num_replicas=4, rank=args.rank)
    else:
        sampler = torch.utils.data.RandomSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, sampler=sampler)
    optimizer = torch.optim.Adam(model.parameters())
    step = 0
    epoch = 0
    while step < args.steps:
        loader.sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            step += 1
        epoch += 1
"""
_HELPER = """
# file: data.py
from torch.utils.data import DataLoader, DistributedSampler

def make_loader(dataset):
    return DataLoader(dataset, sampler=DistributedSampler(dataset))
# file: train.py
import torch
from data import make_loader

def start_epoch(loader, epoch):
    loader.sampler.set_epoch(epoch)

def main(model, dataset):
    loader = make_loader(dataset)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        start_epoch(loader, epoch)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
"""

_PROGRAM = """
import torch
from torch.utils.data import DataLoader, DistributedSampler
def fit(data, model, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, 8, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        SET
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
if __name__ == "__main__":
    fit([], torch.nn.Linear(2, 1), 3)
"""
_TWO = "# file: one.py" + _PROGRAM.replace("SET", "print(epoch)") + "# file: two.py" + _PROGRAM.replace("SET", "WHAT")
FAILS = {
    "set in the program beside it": _TWO.replace("WHAT", "loader.sampler.set_epoch(epoch)"),
    "one round by default, and a script that asks for more": """
# file: train.py
import argparse
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()

def train(model, train_set):
    loader = DataLoader(train_set, sampler=DistributedSampler(train_set))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
# file: run.sh
python train.py --epochs 90
""",
    "made anew in each epoch, always with epoch 0": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def main(dataset, model, optimizer):
    for epoch in range(10):
        sampler = DistributedSampler(dataset)
        for x in DataLoader(dataset, sampler=sampler, batch_size=8):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "script": mutant(_SCRIPT, ("    sampler.set_epoch(epoch)\n", "")),
    "class": mutant(_CLASS, ("            self.sampler.set_epoch(epoch)\n", "")),
    "while loop, sampler in a branch": mutant(_NESTED, ("        loader.sampler.set_epoch(epoch)\n", "")),
    "loader from another file": mutant(
        _HELPER, ("        start_epoch(loader, epoch)\n", ""), ("    loader.sampler.set_epoch(epoch)\n", "    pass\n")
    ),
    "no epochs by name": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from tqdm import tqdm

def train(args, model, train_set):
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    done = 0
    while True:
        epoch_iterator = tqdm(train_loader, desc="Training")
        for step, batch in enumerate(epoch_iterator):
            model(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            done += 1
        if done > args.steps:
            break
""",
    "engine": mutant(ENGINE, ("        sampler.set_epoch(epoch)\n", "")),
}

SILENT = {
    "one round unless somebody asks for more": """
import argparse
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()

def train(model, train_set):
    loader = DataLoader(train_set, sampler=DistributedSampler(train_set))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
""",
    "an iterator of its own freezes the batches and shuffles them": """
import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

class Epochs:
    def __init__(self, dataset, batches):
        self.dataset, self.batches, self.epoch = dataset, tuple(batches), 0

    def following(self):
        self.epoch += 1
        order = np.random.RandomState(self.epoch).permutation(len(self.batches))
        return DataLoader(self.dataset, batch_sampler=[self.batches[i] for i in order])

def main(model, dataset):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = DistributedSampler(dataset)
    batches = BatchSampler(sampler, 8, True)
    epochs = Epochs(dataset, batches)
    for epoch in range(10):
        for x in epochs.following():
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "a sampler that no loader is given": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def main(model, dataset):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    for epoch in range(10):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "made anew for each evaluation": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
def main(train_loader, held, model, opt):
    for epoch in range(10):
        for x in train_loader:
            opt.zero_grad()
            model(x).mean().backward()
            opt.step()
        with torch.no_grad():
            for x in DataLoader(held, sampler=DistributedSampler(held), batch_size=8):
                print(model(x))
""",
    "made anew for data that are drawn anew": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
def main(dataset, model, opt):
    for epoch in range(10):
        dataset.resample(epoch)
        for x in DataLoader(dataset, sampler=DistributedSampler(dataset), batch_size=8):
            opt.zero_grad()
            model(x).mean().backward()
            opt.step()
""",
    "made anew for each model": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
def main(dataset, stages):
    for model, opt in stages:
        loader = DataLoader(dataset, sampler=DistributedSampler(dataset), batch_size=8)
        for x in loader:
            opt.zero_grad()
            model(x).mean().backward()
            opt.step()
""",
    "made anew for each part of the data": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def main(parts, model, optimizer):
    for epoch, dataset in enumerate(parts):
        for x in DataLoader(dataset, sampler=DistributedSampler(dataset), batch_size=8):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "the epoch is set on a sampler of another name": """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
def main(ds, model, opt):
    s = DistributedSampler(ds)
    loader = DataLoader(ds, sampler=s, batch_size=8)
    for epoch in range(10):
        s.epoch = epoch
        for x in loader:
            opt.zero_grad()
            model(x).mean().backward()
            opt.step()
""",
    "script": _SCRIPT,
    "class": _CLASS,
    "while": _NESTED,
    "helper": _HELPER,
    "evaluation": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def main(model, dataset, val_dataset, optimizer):
    val_loader = DataLoader(val_dataset, sampler=DistributedSampler(val_dataset))
    for epoch in range(3):
        for x in DataLoader(dataset, shuffle=True):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "made anew in each epoch": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def loader_of(shard):
    return DataLoader(shard, sampler=DistributedSampler(shard))

def main(model, shards, optimizer):
    for shard in shards:
        for x in loader_of(shard):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "one pass, with a few passes inside each batch": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def main(model, dataset, optimizer):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for batch in loader:
        optimizer.zero_grad()
        for part in batch.split(4):
            model(part).mean().backward()
        optimizer.step()
""",
    "set as an attribute": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def main(model, dataset, optimizer):
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler)
    for epoch in range(5):
        sampler.epoch = epoch
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "if it has one": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def main(model, dataset, optimizer):
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
    for epoch in range(5):
        if hasattr(loader.sampler, "set_epoch"):
            getattr(loader.sampler, "set_epoch")(epoch)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "a loader that is only read in order": """
import torch
from torch.utils.data import DataLoader, DistributedSampler

def build(dataset, shuffle):
    return DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=shuffle))

def main(model, dataset, optimizer):
    loader = build(dataset, False)
    for epoch in range(5):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "a sampler for the loader of the test": """
import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler

def loaders(dataset, is_train):
    if is_train:
        return DataLoader(dataset, sampler=RandomSampler(dataset))
    else:
        sampler = DistributedSampler(dataset)
        return DataLoader(dataset, sampler=sampler)

def more(dataset):
    sampler = DistributedSampler(dataset)
    batches = BatchSampler(sampler, 8, False)
    test_loader = DataLoader(dataset, batch_sampler=batches)
    return test_loader

def main(model, dataset, optimizer):
    loader = loaders(dataset, True)
    for epoch in range(5):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        print(loaders(dataset, False), more(dataset))
""",
    "seed attribute changed": """
import torch
from torch.utils.data import DataLoader, DistributedSampler
def main(model, ds):
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    s = DistributedSampler(ds, seed=0)
    loader = DataLoader(ds, sampler=s)
    for epoch in range(3):
        s.seed = epoch
        for x in loader:
            opt.zero_grad(); model(x).mean().backward(); opt.step()
""",
    "the dataset draws its own": """
import torch, random
from torch.utils.data import DataLoader, Dataset, DistributedSampler
class Rand(Dataset):
    def __len__(self): return 1000
    def __getitem__(self, i): return torch.randn(3)
def main(model):
    ds = Rand()
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    loader = DataLoader(ds, sampler=DistributedSampler(ds))
    for epoch in range(3):
        for x in loader:
            opt.zero_grad(); model(x).mean().backward(); opt.step()
""",
    "features only, in their own function": """
import torch
from torch.utils.data import DataLoader, DistributedSampler
def extract(model, ds):
    loader = DataLoader(ds, sampler=DistributedSampler(ds))
    with torch.no_grad():
        return [model(x) for x in loader]
def main(model, ds, feats, loader):
    f = extract(model, ds)
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    for epoch in range(3):
        for x in loader:
            opt.zero_grad(); model(x).mean().backward(); opt.step()
""",
    "a bank of features that is only read": """
import torch
from torch.utils.data import DataLoader, DistributedSampler
class Trainer:
    def __init__(self, data, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.memory_loader = DataLoader(data, 8, sampler=DistributedSampler(data))
        self.loader = DataLoader(data, 8, shuffle=True)
    def memory(self):
        with torch.no_grad():
            return torch.cat([self.model(x) for x in self.memory_loader])
    def fit(self, epochs):
        for epoch in range(epochs):
            memory = self.memory()
            for x in self.loader:
                self.optimizer.zero_grad()
                (self.model(x) * memory).mean().backward()
                self.optimizer.step()
""",
    "data that shuffle themselves": """
import torch
from torch.utils.data import DataLoader, DistributedSampler
def fit(data, model, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, 8, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        data.reshuffle(seed=epoch)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "epoch set by its name": """
import torch
from torch.utils.data import DataLoader, DistributedSampler
class Loader:
    def __init__(self, data):
        self.epoch = 0
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, 8, sampler=self.sampler)
    def __iter__(self):
        setattr(self.sampler, "epoch", self.epoch)
        self.epoch += 1
        return iter(self.loader)
def fit(data, model, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    loader = Loader(data)
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "set by the program that runs it": """
# file: data.py
import torch
from torch.utils.data import DataLoader, DistributedSampler
def fit(data, model, epochs, begin):
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, 8, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        begin(loader, epoch)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
# file: run.py
import torch
from data import fit
def begin(loader, epoch):
    loader.sampler.set_epoch(epoch)
if __name__ == "__main__":
    fit([], torch.nn.Linear(2, 1), 3, begin)
""",
}
