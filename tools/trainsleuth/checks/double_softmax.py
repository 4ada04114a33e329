"""Probabilities are given to a loss that expects logits.

CrossEntropyLoss applies log-softmax itself, and BCEWithLogitsLoss a sigmoid. Given probabilities they
squash a second
time: nothing fails, the loss falls a little and then stays high, because its input only spans 0 to 1. With 10
classes a perfect prediction still costs 1.46, and gradients are a fraction of what they should be.

Fix: give the loss the logits; apply softmax only where probabilities are read, after the loss.

Cannot see: a model chosen by a computed name, an output that travels through attributes of objects that are
not resolved, layers added under conditions, losses outside torch.nn; log_softmax before cross-entropy is
harmless and is not reported.

Bad:
    # file: model.py
    import torch.nn as nn
    import torch.nn.functional as F

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(784, 10)

        def forward(self, x):
            return F.softmax(self.fc(x), dim=1)

    # file: train.py
    import torch.nn as nn
    from model import Net

    def train(loader, optimizer):
        model = Net()
        criterion = nn.CrossEntropyLoss()
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Bad (a sigmoid layer before the loss that has its own):
    import torch.nn as nn

    model = nn.Sequential(nn.Linear(20, 1), nn.Sigmoid())
    loss_fn = nn.BCEWithLogitsLoss()

    def loss_of(x, y):
        return loss_fn(model(x).squeeze(1), y)

Good:
    import torch.nn as nn
    import torch.nn.functional as F

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(784, 10)

        def forward(self, x):
            return self.fc(x)

    model = Net()
    criterion = nn.CrossEntropyLoss()

    def step(x, y):
        logits = model(x)
        loss = criterion(logits, y)
        accuracy = (F.softmax(logits, dim=1).argmax(1) == y).float().mean()
        return loss, accuracy

Bad (it is tried on a few numbers too):
    import torch
    from torch import nn

    criterion = nn.CrossEntropyLoss()

    def loss_of(probabilities, y):
        return criterion(probabilities, y)

    def train(loader):
        model = nn.Sequential(nn.Linear(20, 5), nn.Softmax(dim=1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()

    print(loss_of(torch.softmax(torch.randn(4, 5), dim=1), torch.tensor([0, 1, 2, 3])))

Good (what the loss gives is tried on a few numbers):
    import torch

    scores = torch.softmax(torch.randn(4, 5), dim=1)
    print(torch.nn.CrossEntropyLoss()(scores, torch.tensor([0, 1, 2, 3])))

Good (a loss with its own sigmoid takes the other arm):
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(784, 1)

        def scores(self, x):
            return self.fc(x)

        def forward(self, x):
            return torch.sigmoid(self.scores(x))

    def loss_of(model, x, y, criterion):
        if isinstance(criterion, nn.BCEWithLogitsLoss) and hasattr(model, "scores"):
            return criterion(model.scores(x), y)
        else:
            return criterion(model(x), y)

    def train(loader, optimizer):
        model = Net()
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(model, x, y, nn.BCEWithLogitsLoss()).backward()
            optimizer.step()

Good (the arm with a teacher runs for a student that gives logits):
    import torch

    def train(model, loader, optimizer, teacher=None):
        criterion = torch.nn.CrossEntropyLoss()
        for x, y in loader:
            output = model(x)
            if teacher is not None:
                with torch.no_grad():
                    y = teacher(x).argmax(1)
                loss = criterion(output, y)
            else:
                loss = (output - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    def main(loader):
        scorer = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(dim=1))
        train(scorer, loader, torch.optim.Adam(scorer.parameters()))
        student = torch.nn.Linear(4, 3)
        train(student, loader, torch.optim.Adam(student.parameters()), teacher=scorer)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import ENOUGH, Index, LossCall, Spot, Value, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._one_class import layer_of_one
from ._only_measured import is_only_measured
from ._ranges import where_it_comes_from
from ._verdicts import Verdicts

SAY = Verdicts(
    "double-softmax",
    "loss",
    "error",
    "loss_contract",
    suspects=("double-normalised-loss",),
    claims=(
        "softmax-before-ce",
        "softmax-before-ce-floor",
    ),
)

_SOFTMAX_LOSSES = ("CrossEntropyLoss", "cross_entropy")
_SIGMOID_LOSSES = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
_OWN = {**dict.fromkeys(_SOFTMAX_LOSSES, "probability"), **dict.fromkeys(_SIGMOID_LOSSES, "sigmoid")}
_OWN_NAME = {"probability": "softmax", "sigmoid": "sigmoid"}
_SQUASHED = {"probability": "probabilities (softmax was applied)", "sigmoid": "sigmoid outputs"}


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, *_SOFTMAX_LOSSES, *_SIGMOID_LOSSES):
        yield _examined(index, call)


def _examined(index: Index, call: LossCall) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    given = call.site.call.argument(0, "input")
    if not call.loss or given is None:
        return SAY.open(path, line, f"not resolved: {call.why or 'its input is not written out'}")
    reasons: list[str] = []
    squashed: list[tuple[Value, Spot]] = []
    is_shown = is_only_measured(call.site.function, call.site.position, call.site.call)
    tried: list[tuple[Value, Spot]] = []
    anyhow = Spot(call.site.function, call.site.position)
    for spot in call.spots if _may_be_squashed(index.values.of(given, anyhow)) else (anyhow,):
        values = index.values.of(given, spot)
        if call.loss in _SOFTMAX_LOSSES and layer_of_one(index, values):
            return SAY.passed(path, line, f"{written(given)} has one class: see one-class-cross-entropy")
        if values and all(value.range in _SQUASHED for value in values):
            is_tried = all(value.grad == "constant" for value in values)
            (tried if is_tried else squashed).append((values[0], spot))
        reasons += [value.why or "unknown" for value in values if value.range == "unknown"]
    if squashed:  # told on the way of a training step rather than of an evaluation
        return _failure(call, written(given), *min(squashed, key=lambda found: found[0].grad == "cut"), is_shown)
    if reasons:
        return SAY.open(path, line, f"the range of {written(given)} is not resolved: {reasons[0]}")
    if tried:
        return SAY.passed(path, line, f"{written(given)} is made of plain numbers: nothing is trained by it")
    return SAY.passed(path, line, f"{written(given)} is not squashed before {call.loss}")


def _may_be_squashed(values: tuple[Value, ...]) -> bool:
    """In some way of getting there, as far as all ways together show."""
    return len(values) >= ENOUGH or any(value.range in _SQUASHED for value in values)


def _failure(call: LossCall, given: str, value: Value, spot: Spot, is_shown: bool) -> Finding:
    path, line, caller = call.site.function.path, call.site.call.line, spot.frame and spot.frame.caller
    losses = sorted((call.loss, *call.also), key=lambda name: _OWN[name] != value.range)  # the likelier first
    loss, own = " or ".join(losses), " or ".join(dict.fromkeys(_OWN_NAME[_OWN[name]] for name in losses))
    reached = (Link(caller.function.path, caller.line, f"{call.site.function.name} is called here"),) if caller else ()
    chain = (*value.chain, *reached, Link(path, line, f"{loss} applies its own {own}"))
    cause = where_it_comes_from(chain)
    message = (
        f"{loss} expects logits but {given} holds {_SQUASHED[value.range]}: {cause.why} at "
        f"{cause.path}:{cause.line}, so it is squashed twice and the loss has a floor well above zero."
    )
    # no way through which it trains: of two readers one called such a loss harmless, another undecided
    if value.grad == "cut" or is_shown:
        return SAY.fail(path, line, f"{message} Only an evaluation is seen to compute it.", chain, "low", "note")
    return SAY.fail(path, line, message, chain)
