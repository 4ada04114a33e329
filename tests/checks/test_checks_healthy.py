"""Right programs in forms that people write, around what accuses: none of the checks raises an alarm."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_checks_said import written_to
from trainsleuth.checks import run_checks

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from data import train_set, val_set

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3))
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.body(x))
"""
PROGRAMS = {
    "a head that ends in a softmax is replaced": """
class Old(Net):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(nn.Linear(16, 10), nn.Softmax(dim=1))

net = Old()
net.head = nn.Linear(16, 4)
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(train_set, 8, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""",
    "the later of two classes of one name counts": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        return F.softmax(self.out(x), dim=1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        return self.out(x)

net = Net()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(train_set, 8, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""",
    "a generator clears, a decorator restores": """
def in_eval(function):
    def inner(net, *given):
        was = net.training
        net.eval()
        try:
            return function(net, *given)
        finally:
            net.train(was)
    return inner

@in_eval
def validate(net, loader):
    with torch.no_grad():
        return sum(F.cross_entropy(net(x), y).item() for x, y in loader)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def batches():
    for x, y in DataLoader(train_set, 8, shuffle=True):
        optimizer.zero_grad()
        yield x, y

for epoch in range(9):
    for x, y in batches():
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    validate(net, DataLoader(val_set, 8))
""",
    "gradients of two tasks are made one after the other": """
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x, y in DataLoader(train_set, 8, shuffle=True):
    kept = []
    for loss in (F.cross_entropy(net(x), y), net(x).pow(2).mean()):
        optimizer.zero_grad()
        loss.backward()
        kept.append([p.grad.clone() for p in net.parameters()])
    optimizer.zero_grad()
    for p, first, second in zip(net.parameters(), *kept):
        p.grad = first + second
    optimizer.step()
""",
    "gradients of single examples are clipped and summed": """
net = nn.Linear(8, 4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for xs, ys in DataLoader(train_set, 8, shuffle=True):
    sums = [torch.zeros_like(p) for p in net.parameters()]
    for x, y in zip(xs, ys):
        net.zero_grad()
        F.cross_entropy(net(x[None]), y[None]).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for total, p in zip(sums, net.parameters()):
            total += p.grad
    for total, p in zip(sums, net.parameters()):
        p.grad = (total + torch.randn_like(total)) / len(xs)
    optimizer.step()
""",
    "a sampler counts its epochs": """
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler

class Counting(DistributedSampler):
    def __iter__(self):
        self.set_epoch(self.epoch + 1)
        return super().__iter__()

loader = DataLoader(train_set, 8, sampler=Counting(train_set))
net = DistributedDataParallel(Net())
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
""",
    "the decoder shifts what it is given": """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(50, 16), nn.Linear(16, 50)
        self.layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
        self.start = nn.Parameter(torch.zeros(16))

    def forward(self, x):
        h = self.words(x)
        h = torch.cat([self.start.expand(len(x), 1, 16), h[:, :-1]], 1)
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.out(self.layer(h, src_mask=mask))

net = Decoder()
optimizer = torch.optim.Adam(net.parameters())
for x in DataLoader(train_set, 8, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(net(x).reshape(-1, 50), x.reshape(-1)).backward()
    optimizer.step()
""",
    "a scaler of the project's own, and one for brain floats": """
class LossScaler:
    def scale(self, loss):
        return 2 * loss

net = Net()
optimizer = torch.optim.Adam(net.parameters())
own, dtype = LossScaler(), "bfloat16"
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == "float16"))
for x, y in DataLoader(train_set, 8, shuffle=True):
    optimizer.zero_grad()
    own.scale(F.cross_entropy(net(x), y)).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
for x, y in DataLoader(train_set, 8, shuffle=True):
    optimizer.zero_grad()
    scaler.scale(F.cross_entropy(net(x), y)).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
    "rows and labels are shuffled by one seed each": """
import numpy as np
x, y = np.load("x.npy"), np.load("y.npy")
np.random.RandomState(1).shuffle(x)
np.random.RandomState(1).shuffle(y)
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for i in range(0, len(x), 8):
    optimizer.zero_grad()
    F.cross_entropy(net(torch.tensor(x[i : i + 8])), torch.tensor(y[i : i + 8])).backward()
    optimizer.step()
""",
    "losses are kept until their sum goes backward": """
class Trainer:
    def __init__(self):
        self.net, self.losses = Net(), []
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def add(self, x, y):
        self.losses.append(F.cross_entropy(self.net(x), y))

    def update(self):
        loss, self.losses = sum(self.losses), []
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

trainer = Trainer()
for x, y in DataLoader(train_set, 8, shuffle=True):
    trainer.add(x, y)
    trainer.update()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_right_program_raises_no_alarm(name: str, tmp_path: Path) -> None:
    files = {"train.py": HEAD + PROGRAMS[name], "data.py": "train_set = val_set = []\n"}
    report = run_checks(written_to(tmp_path, files))
    assert [finding.message for finding in report.findings if finding.is_alarm] == []
