"""Gradients of several micro-batches are added up and not averaged.

Each backward() adds the gradient of a mean. After k of them the step uses k times the gradient of one large
batch: the effective learning rate is k times what was meant, and it changes with the accumulation count. With
an optimizer that is blind to scale, such as Adam, only clipping and weight decay notice.

Question to answer: does one step on k micro-batches equal one step on a batch k times as large?

Fix: loss = loss / k before backward(), or a sum divided by the number of examples.

Cannot see: division inside libraries and custom backward functions, a learning rate that was chosen for the sum.

Bad:
    import torch

    def train(model, loader, k):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()

Bad (loss and step in methods):
    import torch

    class Trainer:
        def __init__(self, model, accumulation_steps):
            self.model = model
            self.accumulation_steps = accumulation_steps
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def loss(self, x, y):
            return torch.nn.functional.cross_entropy(self.model(x), y)

        def fit(self, loader):
            seen = 0
            for x, y in loader:
                self.loss(x, y).backward()
                seen += 1
                if seen == self.accumulation_steps:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    seen = 0

Good:
    import torch

    def train(model, loader, k):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(model(x), y)
            (loss / k).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Effect, Expr, Index, Surrounding, unfolded, written
from trainsleuth.finding import Finding, Link

from ._accumulation import accumulations, is_in_each_round
from ._verdicts import Verdicts

SAY = Verdicts(
    "accumulation-not-averaged",
    "training-procedure",
    "note",
    "step_trace",
    suspects=("accumulation-scale",),
    claims=("accumulation-divide", "average-loss-per-token"),
)
_SCALING = ("div", "div_", "true_divide", "mul", "mul_", "sum", "scale_loss")


def check(index: Index) -> Iterator[Finding]:
    for around, test in accumulations(index):
        yield _examined(index, around, test)


def _examined(index: Index, around: Surrounding, test: Expr) -> Finding:
    step = around.here
    path, line, name = step.spot.function.path, step.line, step.receiver or "the optimizer"
    backward = [e for e in around.effects if e.kind == "backward"]
    for effect in backward:
        if how := _scaled(index, effect) or _summed(index, effect, test) or _scaled_around(around):
            return SAY.passed(path, line, f"what {written(effect.expr)} starts from is scaled: {how}")
    clears = [e for e in around.effects if e.kind == "clear" and e.receiver == step.receiver]
    if any(is_in_each_round(around, one) for one in clears):
        return SAY.passed(path, line, f"{name} is cleared in each round, so nothing adds up")
    if clears:
        return _failure(around, backward[0], name, test)
    return SAY.open(path, line, f"where {name} is cleared in the loop was not found")


def _scaled(index: Index, effect: Effect) -> str:
    """How the loss of a backward() is divided, multiplied or summed; "" when it is none of these."""
    at = [(effect.expr, effect.spot)]
    at += [(call, spot) for spot in effect.trail for call in spot.function.events[spot.position].calls]
    for call, spot in at:
        for part in unfolded(index, call, spot):
            if part.kind == "binary" and part.text in ("/", "*"):
                return written(part)
            if part.last in _SCALING or (part.kind == "string" and part.text == "sum"):
                return written(part)
    return ""


def _summed(index: Index, effect: Effect, test: Expr) -> str:
    """How the named loss of a backward() is a sum, or divided by what the test counts up to, where it is computed."""
    loss = effect.expr.receiver
    counted = {part.last for part in test.walk() if part.kind == "path"}
    for part in unfolded(index, loss, effect.spot) if loss is not None else ():
        reduction = part.keyword("reduction") if part.kind == "call" else None
        divisor = part.parts[1] if part.kind == "binary" and part.text == "/" else None
        if reduction is not None and reduction.text == "sum":
            return written(part)
        if divisor is not None and divisor.kind == "path" and divisor.last in counted:
            return written(part)
    return ""


def _scaled_around(around: Surrounding) -> str:
    """Gradients, rates or losses that are divided anywhere in the functions of the loop."""
    functions = {spot.function for e in around.effects for spot in (*e.trail, e.spot)} | {around.function}
    for function in functions:
        for event in function.events:
            if event.kind == "augment" and event.text in ("/=", "*=") and event.value is not None:
                return f"{event.text} {written(event.value)} at line {event.line}"
            for target in event.targets if event.kind == "assign" else ():
                if "loss" in target.last.lower() and event.value is not None:
                    if any(part.kind == "binary" and part.text == "/" for part in event.value.walk()):
                        return f"{written(event.value)} at line {event.line}"
    return ""


def _failure(around: Surrounding, backward: Effect, name: str, test: Expr) -> Finding:
    path, line = backward.spot.function.path, backward.line
    step = around.here
    chain = (
        Link(path, line, f"{written(backward.expr)} adds the gradient of one micro-batch"),
        Link(step.spot.function.path, step.line, f"{name}.step() uses their sum, if {written(test)}"),
    )
    message = (
        f"{written(backward.expr)} at {path}:{line} adds up gradients until {written(test)}, and nothing divides by "
        "their number: is the larger step meant? Expected the loss divided by the number of micro-batches."
    )
    return SAY.fail(path, line, message, chain, "low")
