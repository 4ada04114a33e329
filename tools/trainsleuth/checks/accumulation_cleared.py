"""Accumulated gradients are cleared in every micro-batch.

The optimizer steps once in several batches, so the gradients of all of them are to be summed. zero_grad() in
each batch leaves only those of the last: the other batches are computed for nothing, and the effective batch
is as small as before.

Fix: clear only after a step, under the same condition as the step.

Cannot see: counters kept in other objects, conditions that are not resolved to a modulo or an accumulation
count, several optimizers in one loop.

Bad:
    import torch

    def train(model, loader, k):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y) / k
            loss.backward()
            if (i + 1) % k == 0:
                optimizer.step()

Bad (cleared by the helper that does the backward pass):
    import torch

    class Trainer:
        def __init__(self, model, every):
            self.model = model
            self.every = every
            self.optimizer = torch.optim.AdamW(model.parameters())

        def backward(self, loss):
            self.optimizer.zero_grad()
            (loss / self.every).backward()

        def fit(self, loader):
            for i, x in enumerate(loader):
                self.backward(self.model(x).mean())
                if i % self.every != self.every - 1:
                    continue
                self.optimizer.step()

Good:
    import torch

    def train(model, loader, k):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(model(x), y) / k
            loss.backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Surrounding, written
from trainsleuth.finding import Finding, Link

from ._accumulation import accumulations, is_in_each_round
from ._verdicts import Verdicts

SAY = Verdicts(
    "accumulation-cleared",
    "training-procedure",
    "error",
    "step_trace",
    suspects=("accumulation-scale",),
    claims=("accumulation-divide",),
)


def check(index: Index) -> Iterator[Finding]:
    for around, test in accumulations(index):
        yield _examined(index, around, test)


def _examined(index: Index, around: Surrounding, test: Expr) -> Finding:
    step = around.here
    path, line, name = step.spot.function.path, step.line, step.receiver or "the optimizer"
    clears = [e for e in around.effects if e.kind == "clear" and e.expr.last == "zero_grad"]
    always = [e for e in clears if e.receiver and e.receiver == step.receiver and is_in_each_round(around, e)]
    if not always:
        return SAY.passed(path, line, f"{name} is not cleared in every round of its accumulation")
    at, where = always[0].spot.function.path, always[0].line
    backward = next(e for e in around.effects if e.kind == "backward" and is_in_each_round(around, e))
    chain = (
        Link(around.function.path, around.loop.line if around.loop else line, "each round is one micro-batch"),
        Link(at, where, f"{written(always[0].expr)} clears in every round"),
        Link(backward.spot.function.path, backward.line, f"{written(backward.expr)} adds the gradients of one"),
        Link(path, line, f"{name}.step() runs only if {written(test)}"),
    )
    message = (
        f"{written(always[0].expr)} at {at}:{where} clears in every micro-batch, but {name}.step() at {path}:{line} "
        f"runs only if {written(test)}: all but the last micro-batch are lost; expected clearing after each step only."
    )
    return SAY.fail(at, where, message, chain)
