"""Programs for modulo-upside-down."""

from ._programs import mutant

_DECAY = """
import torch

def main(trainer, tester, iteration, decay_interval):
    for epoch in range(1, iteration):
        if epoch % decay_interval == 0:
            trainer.optimizer.param_groups[0]["lr"] *= 0.5
        loss = trainer.train()
        loss.backward()
"""
_SAVES = """
import torch

class Trainer:
    def run(self, loader):
        for step, batch in enumerate(loader):
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            if (step % self.save_every) == 0:
                torch.save(self.model.state_dict(), "last.pt")
            if step % 100 == 0:
                print(step, loss.item())
            if step % self.args.eval_interval == 0:
                self.evaluate()
                self.model.train()
"""
_SCRIPT = """
import torch

for i in range(1000):
    loss = model(next(batches)).mean()
    loss.backward()
    if i % accum_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
SILENT = {
    "decay": _DECAY,
    "saves": _SAVES,
    "a script": _SCRIPT,
    "passed over": mutant(_SCRIPT, ("    if i % accum_steps == 0:\n        optimizer.step()\n        optimizer.zero_grad()", "    if i % accum_steps:\n        continue\n    optimizer.step()\n    optimizer.zero_grad()")),
    "two branches": mutant(_DECAY, ("        if epoch % decay_interval == 0:\n            trainer.optimizer.param_groups[0][\"lr\"] *= 0.5\n", "        if epoch % decay_interval:\n            print('goes on')\n        else:\n            trainer.optimizer.param_groups[0]['lr'] *= 0.5\n")),
    "odd ones": mutant(_SCRIPT, ("i % accum_steps == 0", "i % 2")),
}  # fmt: skip
FAILS = {
    "decay": mutant(_DECAY, ("epoch % decay_interval == 0", "epoch % decay_interval")),
    "a checkpoint": mutant(_SAVES, ("(step % self.save_every) == 0", "step % self.save_every")),
    "a line": mutant(_SAVES, ("step % 100 == 0", "step % 100")),
    "an evaluation": mutant(_SAVES, ("step % self.args.eval_interval == 0", "step % self.args.eval_interval")),
    "a step": mutant(_SCRIPT, ("i % accum_steps == 0", "i % accum_steps")),
}  # fmt: skip

SILENT["a rest to be filled up"] = """
import torch
import torch.nn.functional as F

def batches(data, batch_size, model):
    count = len(data) // batch_size
    if len(data) % batch_size:
        count += 1
    for step in range(count):
        loss = model(data[step * batch_size : (step + 1) * batch_size]).mean()
        loss.backward()
    return count

def window(x, t, window_size):
    if t % window_size:
        x = F.pad(x, (0, window_size - t % window_size))
    return x
"""
SILENT["behind the loop"] = """
import torch

def train(model, loader, optimizer, accum_steps):
    step = 0
    for batch in loader:
        model(batch).mean().backward()
        step += 1
        if step % accum_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    if step % accum_steps:
        optimizer.step()
"""
