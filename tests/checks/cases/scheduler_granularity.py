"""Programs for scheduler-granularity."""

from ._programs import ENGINE, SCRIPT, TRAINER, mutant

TUNED = """
import torch
from torch.utils.data import DataLoader
from transformers import get_linear_schedule_with_warmup

def finetune(model, texts, args):
    train_loader = DataLoader(texts, batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    total = LENGTH
    scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=100, num_training_steps=total)
    for epoch in range(EPOCHS):
        for batch in train_loader:
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
            scheduler.step()
"""
FAILS = {
    "over when the first epoch is": TUNED.replace("LENGTH", "len(train_loader)").replace("EPOCHS", "args.epochs"),
    "over when the first epoch is, by parts of it": TUNED.replace(
        "LENGTH", "len(train_loader) // args.accumulate"
    ).replace("EPOCHS", "3"),
    "milestones in epochs, stepped per batch": mutant(
        SCRIPT,
        ("    scheduler.step()\n", ""),
        ("        optimizer.step()\n", "        optimizer.step()\n        scheduler.step()\n"),
    ),
    "T_max in epochs of the constructor": mutant(
        TRAINER,
        ("            self.scheduler.step()\n", ""),
        ("            self.losses.append(loss.item())\n", "            self.scheduler.step()\n"),
    ),
    "counted in batches, stepped per epoch": mutant(
        ENGINE,
        ("        lr_scheduler.step()\n", ""),
        (
            "        train_one_epoch(ddp, criterion, loader, optimizer, lr_scheduler, scaler, args)\n",
            "        train_one_epoch(ddp, criterion, loader, optimizer, lr_scheduler, scaler, args)\n        lr_scheduler.step()\n",
        ),
    ),
    "T_max in epochs through the arguments": mutant(
        ENGINE, ("    steps = len(loader) * args.epochs\n", "    steps = args.epochs\n")
    ),
    "from a configuration file": """
# file: config.yaml
train:
  epochs: 100
  decay_every: 30
# file: train.py
import torch
from omegaconf import OmegaConf

cfg = OmegaConf.load("config.yaml")

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=cfg.train.decay_every)
    for epoch in range(cfg.train.epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
            scheduler.step()
""",
    "a loader by what makes it, a length under a key": """
import json, sys
import torch
from torch.utils.data import DataLoader

def run(cfg, model, examples):
    train = DataLoader(examples, cfg["batch"], shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=cfg["decay_every_epochs"], gamma=0.5)
    for epoch in range(cfg["epochs"]):
        for digits, tags in train:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(digits), tags).backward()
            optimizer.step()
            scheduler.step()

run(json.load(open(sys.argv[1])), torch.nn.Linear(2, 2), [])
""",
    "what is handed in is gone over in each epoch": """
import torch

def fit(model, examples, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in examples:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            scheduler.step()
""",
    "warm-up in batches, stepped per epoch": """
import torch
from transformers import get_cosine_schedule_with_warmup

def epoch(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()

def main(model, train_loader, args):
    optimizer = torch.optim.AdamW(model.parameters())
    num_steps = len(train_loader) * args.epochs
    scheduler = get_cosine_schedule_with_warmup(optimizer, num_steps // 10, num_steps)
    for i in range(args.epochs):
        epoch(model, train_loader, optimizer)
        scheduler.step()
""",
}

SILENT = {
    "as long as all epochs": TUNED.replace("LENGTH", "len(train_loader) * args.epochs").replace(
        "EPOCHS", "args.epochs"
    ),
    "one epoch in all": TUNED.replace("LENGTH", "len(train_loader)").replace("EPOCHS", "1"),
    "a schedule for each epoch": """
import torch
from torch.optim.lr_scheduler import PolynomialLR

def train(model, train_loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        scheduler = PolynomialLR(optimizer, total_iters=len(train_loader))
        for x in train_loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            scheduler.step()
""",
    "a warm-up over the first epoch": """
import torch
from torch.optim.lr_scheduler import LinearLR

def train(model, train_loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = LinearLR(optimizer, start_factor=0.01, total_iters=len(train_loader))
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            scheduler.step()
""",
    "as long as the two loops around its step": """
import torch
from torch import nn
from torch.optim.lr_scheduler import LinearLR
def train(model, collect, max_iterations, n_epochs, batch_size):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = LinearLR(optimizer, 1, 0, max_iterations * n_epochs)
    for iteration in range(max_iterations):
        batches = collect(batch_size)
        for epoch in range(n_epochs):
            for x, y in batches:
                optimizer.zero_grad()
                nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
            scheduler.step()
""",
    "a loader by what makes it, stepped in the loop over epochs": """
import torch
from torch.utils.data import DataLoader

def run(cfg, model, examples):
    train = DataLoader(examples, cfg["batch"], shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=cfg["decay_every_epochs"], gamma=0.5)
    for epoch in range(cfg["epochs"]):
        for digits, tags in train:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(digits), tags).backward()
            optimizer.step()
        scheduler.step()
""",
    "each model of an ensemble has its own schedule": """
import torch

def fit(parts, x, y, epochs):
    schedules = {}
    for model, optimizer in parts:
        schedules[model] = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for model, optimizer in parts:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            schedules[model].step()
""",
    "small numbers without a unit": """
import torch

def train(model, loader, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        scheduler.step()
""",
    "per batch under the condition that an epoch is over": """
import torch

def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        if i % 1000 == 999:
            scheduler.step()
""",
    "one batch is one epoch": """
import torch

def train(model, x, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        scheduler.step()
""",
    "three things come out of one function": """
import torch
from torch import nn

EPOCHS = 100

def prepare():
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    return model, optimizer, scheduler

def train(loader, model, optimizer, scheduler):
    for epoch in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        scheduler.step()

def main(loader):
    model, optimizer, scheduler = prepare()
    train(loader, model, optimizer, scheduler)
""",
    "one batch in each epoch": """
import torch

def train(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[500, 1000])
    for epoch in range(5000):
        for batch in loader:
            model(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            break
""",
}

SILENT["an optimizer that comes with its schedules"] = """
import torch

def setup(net, lr):
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr)
    warmup_epochs = 100
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=warmup_epochs)
    return optimizer, warmup, warmup_epochs

def train(net, loader, epochs):
    net_optimized, warmup, warmup_epochs = setup(net, 1e-3)
    for epoch in range(epochs):
        for x, y in loader:
            net_optimized.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            net_optimized.step()
        warmup.step()
"""
