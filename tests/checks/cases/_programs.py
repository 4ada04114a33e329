"""Healthy training programs of many shapes; the cases of a check inject its fault into each."""

from __future__ import annotations


def mutant(program: str, *changes: tuple[str, str]) -> str:
    """The program with each `old` replaced by `new`. An `old` that is not there is a mistake of the case."""
    for old, new in changes:
        assert program.count(old) == 1, f"{program.count(old)} times: {old!r}"
        program = program.replace(old, new)
    return program


SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from data import train_set, val_set

model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 60])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=32)

for epoch in range(90):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
    scheduler.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in val_loader:
            right += (model(x).argmax(1) == y).sum().item()
    print(epoch, running, right / len(val_set))
"""

TRAINER = """
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten())
        self.head = nn.LazyLinear(10)

    def forward(self, x):
        return self.head(self.body(x))

class Trainer:
    def __init__(self, loader, val_loader, epochs, every=4):
        self.model = Net()
        self.loader = loader
        self.val_loader = val_loader
        self.epochs = epochs
        self.every = every
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.cuda.amp.GradScaler()
        self.scheduler = CosineAnnealingLR(self.optimizer, T_max=epochs)
        self.losses = []

    def update(self):
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def train_epoch(self):
        self.model.train()
        for i, (x, y) in enumerate(self.loader):
            with torch.autocast("cuda"):
                loss = self.criterion(self.model(x), y) / self.every
            self.scaler.scale(loss).backward()
            if (i + 1) % self.every == 0:
                self.update()
            self.losses.append(loss.item())

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total, seen = 0.0, 0
        for x, y in self.val_loader:
            total += self.criterion(self.model(x), y).item() * len(x)
            seen += len(x)
        return total / seen

    def fit(self):
        for epoch in range(self.epochs):
            self.train_epoch()
            self.scheduler.step()
            print(epoch, self.validate())
"""

CALLBACKS = """
# file: callbacks.py
import torch

class Clip:
    def __init__(self, limit):
        self.limit = limit

    def after_backward(self, loop):
        torch.nn.utils.clip_grad_norm_(loop.model.parameters(), self.limit)

class Schedule:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def after_step(self, loop):
        self.scheduler.step()

class Validate:
    def __init__(self, loader):
        self.loader = loader

    def after_epoch(self, loop):
        loop.model.eval()
        with torch.no_grad():
            loop.scores.append(sum(loop.model(x).argmax(1).eq(y).sum().item() for x, y in self.loader))
        loop.model.train()
# file: loop.py
class Loop:
    def __init__(self, model, optimizer, criterion, clip, schedule, validate):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.clip = clip
        self.schedule = schedule
        self.validate = validate
        self.scores = []

    def batch(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.clip.after_backward(self)
        self.optimizer.step()
        self.schedule.after_step(self)
        return loss.item()

    def run(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for x, y in loader:
                total += self.batch(x, y)
            self.validate.after_epoch(self)
# file: main.py
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from callbacks import Clip, Schedule, Validate
from loop import Loop

def main(loader, val_loader, epochs):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(loader))
    loop = Loop(model, optimizer, nn.CrossEntropyLoss(), Clip(1.0), Schedule(scheduler), Validate(val_loader))
    loop.run(loader, epochs)
"""

CLOSURES = """
# file: steps.py
import torch

def make_step(model, optimizer, criterion, limit):
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        if limit:
            torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
        optimizer.step()
        return loss.detach()
    return step

def make_eval(model):
    @torch.no_grad()
    def evaluate(batches):
        was = model.training
        model.eval()
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in batches)
        model.train(was)
        return right
    return evaluate
# file: train.py
import torch
from torch import nn
from steps import make_eval, make_step

def main(loader, val_loader):
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=10)
    step = make_step(net, opt, nn.CrossEntropyLoss(), 1.0)
    evaluate = make_eval(net)
    history = []
    for epoch in range(30):
        for x, y in loader:
            history.append(step(x, y))
        sched.step()
        print(evaluate(val_loader))
"""

ENGINE = """
# file: engine.py
import torch
import utils

def train_one_epoch(model, criterion, data_loader, optimizer, lr_scheduler, scaler, args):
    model.train()
    meter = utils.Meter()
    for samples, targets in data_loader:
        with torch.cuda.amp.autocast(enabled=scaler is not None):
            loss = criterion(model(samples), targets)
        optimizer.zero_grad()
        if scaler is not None:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            optimizer.step()
        meter.update(loss.item(), len(samples))
        lr_scheduler.step()
    return meter

@torch.inference_mode()
def evaluate(model, data_loader):
    model.eval()
    right = 0
    for samples, targets in data_loader:
        right += (model(samples).argmax(1) == targets).sum().item()
    return right
# file: utils.py
class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n):
        self.total += value * n
        self.count += n
# file: main.py
import argparse
import torch
import torchvision
from engine import evaluate, train_one_epoch

def main(args):
    model = torchvision.models.resnet18()
    train_set = torchvision.datasets.ImageFolder(args.data)
    sampler = torch.utils.data.distributed.DistributedSampler(train_set)
    loader = torch.utils.data.DataLoader(train_set, batch_size=32, sampler=sampler, num_workers=args.workers)
    val_loader = torch.utils.data.DataLoader(torchvision.datasets.ImageFolder(args.val), batch_size=32)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    steps = len(loader) * args.epochs
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    scaler = torch.cuda.amp.GradScaler() if args.amp else None
    ddp = torch.nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu])
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        train_one_epoch(ddp, criterion, loader, optimizer, lr_scheduler, scaler, args)
        evaluate(ddp, val_loader)

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=90)
parser.add_argument("--workers", type=int, default=4)
parser.add_argument("--clip", type=float, default=1.0)
args = parser.parse_args()
main(args)
"""

ACCUMULATING = """
# file: optim.py
import torch

class Optimization:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)

    def backward(self, loss):
        loss = loss / self.config.micro_batches
        loss.backward()

    def step(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
# file: train.py
from optim import Optimization

def train(model, batches, config):
    optimization = Optimization(model, config)
    for n, batch in enumerate(batches, 1):
        loss = model(batch).loss
        optimization.backward(loss)
        if n % config.micro_batches:
            continue
        optimization.step()
"""

FUNCTION = """
import torch

def train(model, loader, criterion, accumulation_steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    count = 0
    for x, y in loader:
        loss = criterion(model(x), y) / accumulation_steps
        loss.backward()
        count += 1
        if count == accumulation_steps:
            torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
            count = 0
"""

GAN = """
import torch

def train(generator, critic, loader, n_critic):
    opt_g = torch.optim.Adam(generator.parameters())
    opt_c = torch.optim.Adam(critic.parameters())
    for i, real in enumerate(loader):
        fake = generator(torch.randn(len(real), 16))
        opt_c.zero_grad()
        loss_c = critic(fake.detach()).mean() - critic(real).mean()
        loss_c.backward()
        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        opt_c.step()
        if i % n_critic == 0:
            opt_g.zero_grad()
            loss_g = -critic(fake).mean()
            loss_g.backward()
            opt_g.step()
"""

LIGHTNING = """
import lightning
import torch

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1))

    def training_step(self, batch, i):
        return self.net(batch).mean()

    def on_after_backward(self):
        self.log("norm", sum(p.grad.norm() for p in self.parameters()))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""

MANUAL = """
import lightning
import torch

class Model(lightning.LightningModule):
    def __init__(self, net, every):
        super().__init__()
        self.automatic_optimization = False
        self.net = net
        self.every = every

    def training_step(self, batch, i):
        opt = self.optimizers()
        loss = self.net(batch).mean() / self.every
        self.manual_backward(loss)
        if (i + 1) % self.every == 0:
            self.clip_gradients(opt, gradient_clip_val=1.0)
            opt.step()
            opt.zero_grad()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""

ACCELERATE = """
import torch
from accelerate import Accelerator

def main(model, loader, val_loader, config):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=100)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(config["epochs"]):
        model.train()
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        model.eval()
        for batch in val_loader:
            with torch.no_grad():
                model(batch)
"""

HEALTHY = {
    "script": SCRIPT,
    "trainer class with mixed precision and accumulation": TRAINER,
    "callbacks in another file": CALLBACKS,
    "closures made by a factory": CLOSURES,
    "engine functions and a main file": ENGINE,
    "accumulation behind an object": ACCUMULATING,
    "accumulation by a counter": FUNCTION,
    "two optimizers, one every few rounds": GAN,
    "lightning": LIGHTNING,
    "lightning, by hand": MANUAL,
    "accelerate": ACCELERATE,
}
