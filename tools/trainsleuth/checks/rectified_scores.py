"""A ReLU stands between the last layer and a loss that expects logits.

Logits have both signs: below zero means no. Behind a ReLU no score is negative, so a binary answer never falls below
0.5, a class can only be made unlikely by making the others larger, and an example whose scores are all zero gets no
gradient. Nothing fails; the accuracy is lower.

Fix: hand the output of the last layer to the loss as it is.

Cannot see: activations that are chosen by a name or handed over, values that are not resolved.

Bad:
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(784, 64)
            self.fc2 = nn.Linear(64, 10)

        def forward(self, x):
            x = F.relu(self.fc1(x))
            return F.relu(self.fc2(x))

    model = Net()

    def loss_of(x, y):
        return F.cross_entropy(model(x), y)

Bad (a layer of a Sequential):
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1), nn.ReLU())
    criterion = nn.BCEWithLogitsLoss()

    def loss_of(x, y):
        return criterion(model(x), y)

Good:
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(784, 64)
            self.fc2 = nn.Linear(64, 10)

        def forward(self, x):
            return self.fc2(F.relu(self.fc1(x)))

    model = Net()

    def loss_of(x, y):
        return F.cross_entropy(model(x), y)

Good (a loss that takes what is never negative):
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 1), nn.ReLU())
    criterion = nn.PoissonNLLLoss(log_input=False)

    def loss_of(x, counts):
        return criterion(model(x), counts)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Index, LossCall, Value, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._ranges import where_it_comes_from
from ._verdicts import Verdicts

SAY = Verdicts(
    "rectified-scores",
    "loss",
    "error",
    "loss_contract",
    suspects=("wrong-loss-choice",),
    claims=("relu-before-loss",),
    sure=("",),
)
_ON_LOGITS = ("CrossEntropyLoss", "cross_entropy", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits")


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, *_ON_LOGITS):
        yield _examined(index, call)


def _examined(index: Index, call: LossCall) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    given = call.site.call.argument(0, "input")
    if not call.loss or given is None:
        return SAY.open(path, line, f"not resolved: {call.why or 'its input is not written out'}")
    for spot in call.spots:
        values = index.values.of(given, spot)
        if values and all(value.range == "rectified" for value in values):
            return _failure(call, written(given), values[0])
    return SAY.passed(path, line, f"{written(given)} is not seen to come out of a ReLU")


def _failure(call: LossCall, given: str, value: Value) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    chain = (*value.chain, Link(path, line, f"{call.loss} expects scores of both signs"))
    cause = where_it_comes_from(chain)
    message = (
        f"{call.loss} at {path}:{line} expects logits but no score in {given} can be negative: {cause.why} at "
        f"{cause.path}:{cause.line}; expected the output of the last layer as it is."
    )
    if value.grad == "cut":
        return SAY.fail(path, line, f"{message} Only an evaluation is seen to compute it.", chain, "low", "note")
    return SAY.fail(path, line, message, chain)
