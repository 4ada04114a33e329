"""A cross-entropy gets scores for a single class, so it is 0 whatever the network says.

Softmax over one score is 1 and its logarithm 0: the loss is 0 from the first step (with targets from 0 to 1 as well), every gradient
is 0 and no weight moves. A network with one output that was meant for a binary question is the usual way there.

Question to answer: is a second output, or binary_cross_entropy_with_logits, meant?

Fix: nn.Linear(size, 2) with cross_entropy, or one output with BCEWithLogitsLoss.

Cannot see: numbers of classes that come from options or data, outputs that are reshaped; scores of candidates, one each, along
another axis that no view moves.

Bad:
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(784, 64)
            self.score = nn.Linear(64, 1)

        def forward(self, x):
            return self.score(F.relu(self.hidden(x)))

    net = Net()

    def step(x, y):
        return F.cross_entropy(net(x), y)

Bad (the number of classes is handed over):
    from torch import nn

    class Net(nn.Module):
        def __init__(self, channels, classes):
            super().__init__()
            self.body = nn.Conv2d(channels, 8, 3, padding=1)
            self.final = nn.Conv2d(8, classes, 1)

        def forward(self, x):
            return self.final(self.body(x).relu())

    net = Net(3, classes=1)
    criterion = nn.CrossEntropyLoss()

    def step(x, mask):
        return criterion(net(x), mask)

Good:
    import torch.nn.functional as F
    from torch import nn

    net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 1))

    def step(x, y):
        return F.binary_cross_entropy_with_logits(net(x).squeeze(1), y)

Good (one score for each candidate):
    import torch.nn.functional as F
    from torch import nn

    score = nn.Linear(64, 1)

    def step(candidates, right):
        return F.cross_entropy(score(candidates).squeeze(-1), right)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Index, Instance, LossCall, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._one_class import layer_of_one
from ._only_measured import is_only_measured
from ._verdicts import Verdicts

SAY = Verdicts(
    "one-class-cross-entropy",
    "loss",
    "error",
    "loss_contract",
    suspects=("wrong-loss-choice",),
    claims=("fails-silently",),
)


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, "CrossEntropyLoss", "cross_entropy"):
        yield _examined(index, call)


def _examined(index: Index, call: LossCall) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    given = call.site.call.argument(0, "input")
    if not call.loss or given is None:
        return SAY.open(path, line, f"not resolved: {call.why or 'its input is not written out'}")
    for spot in call.spots:
        layer = layer_of_one(index, index.values.of(given, spot))
        if layer is not None and not is_only_measured(call.site.function, call.site.position, call.site.call):
            return _failure(call, written(given), layer)
    return SAY.passed(path, line, f"{written(given)} is not seen to come out of a layer with a single output")


def _failure(call: LossCall, given: str, layer: Instance) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    assert layer.call is not None and layer.spot is not None
    made = Link(layer.spot.function.path, layer.call.line, f"{written(layer.call)} has a single output")
    message = (
        f"{call.loss} at {path}:{line} gets {given}, which comes out of {written(layer.call)} at {made.path}:{made.line}: a softmax over "
        "one class is 1, so the loss is 0 whatever the scores are. Is a binary cross-entropy, or an output for each class, meant?"
    )
    return SAY.fail(path, line, message, (made, Link(path, line, f"{call.loss} is 0 for one class")), "medium")
