"""Programs for accumulation-cleared."""

from ._programs import ACCUMULATING, FUNCTION, MANUAL, TRAINER, mutant

FAILS = {
    "trainer class with a scaler": mutant(
        TRAINER,
        ("            with torch.autocast", "            self.optimizer.zero_grad()\n            with torch.autocast"),
    ),
    "helper object, skipped by continue": mutant(
        ACCUMULATING, ("        loss.backward()\n", "        self.optimizer.zero_grad()\n        loss.backward()\n")
    ),
    "counter": mutant(
        FUNCTION, ("        loss.backward()\n", "        optimizer.zero_grad()\n        loss.backward()\n")
    ),
    "after the condition": mutant(
        FUNCTION,
        (
            "            optimizer.zero_grad()\n            count = 0",
            "            count = 0\n        optimizer.zero_grad()",
        ),
    ),
    "flag in a name": """
import torch

def train(model, loader, k):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        is_last = (i + 1) % k == 0 or i + 1 == len(loader)
        (model(x).mean() / k).backward()
        if is_last:
            optimizer.step()
""",
    "question to a method": """
import torch

class Trainer:
    def __init__(self, model, k):
        self.model, self.k, self.n = model, k, 0
        self.optimizer = torch.optim.Adam(model.parameters())

    def is_due(self):
        return self.n % self.k == 0

    def batch(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).mean() / self.k
        loss.backward()

    def fit(self, loader):
        for x in loader:
            self.n += 1
            self.batch(x)
            if self.is_due():
                self.optimizer.step()
""",
    "by hand in a framework": mutant(
        MANUAL,
        ("        self.manual_backward(loss)", "        opt.zero_grad()\n        self.manual_backward(loss)"),
        ("            opt.step()\n            opt.zero_grad()", "            opt.step()"),
    ),
}

SILENT = {
    "a generator that trains every few rounds": """
import torch

def train(generator, critic, opt_g, opt_c, loader):
    for i, x in enumerate(loader):
        opt_c.zero_grad()
        opt_g.zero_grad()
        critic(generator(x)).mean().backward()
        opt_c.step()
        if i % 5 == 0:
            opt_g.step()
""",
    "some rounds of a critic now and then": """
import torch

def train(generator, critic, opt_g, opt_c, loader, every):
    step = 0
    for real in loader:
        opt_g.zero_grad()
        fake = generator(torch.randn(8, 4))
        critic(fake).mean().backward()
        opt_g.step()
        if step % every == 0:
            total = 0
            for _ in range(3):
                opt_c.zero_grad()
                loss = critic(real).mean() - critic(fake.detach()).mean()
                loss.backward()
                opt_c.step()
                total += loss.item()
            print(total / 3)
        step += 1
""",
    "what is left over after the last batch": """
import torch

def epoch(model, optimizer, loader, k):
    optimizer.zero_grad()
    for i, x in enumerate(loader):
        (model(x).mean() / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
    if (i + 1) % k != 0:
        optimizer.step()
        optimizer.zero_grad()

def main(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(10):
        epoch(model, optimizer, loader, 4)
""",
}
