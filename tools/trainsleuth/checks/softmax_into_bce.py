"""Probabilities that compete (softmax) go into a binary cross-entropy.

BCELoss treats each class as a yes/no question of its own; a softmax makes the answers share one unit of
probability. For labels that exclude each other this only wastes gradient; for several labels at once no
output can be right. It runs and learns something, so it is a question, not a verdict.

Fix: sigmoid for labels that may hold together, cross_entropy on logits for labels that exclude each other.

Cannot see: whether the labels exclude each other; values that are not resolved.

Bad:
    import torch.nn.functional as F

    def loss_of(model, x, y):
        return F.binary_cross_entropy(F.softmax(model(x), dim=1), y)

Bad (a softmax at the end of the network):
    from torch import nn

    tagger = nn.Sequential(nn.Linear(8, 5), nn.Softmax(dim=-1))
    criterion = nn.BCELoss()

    def loss_of(x, tags):
        return criterion(tagger(x), tags)

Good:
    import torch

    def loss_of(model, x, y):
        return torch.nn.functional.binary_cross_entropy(torch.sigmoid(model(x)), y)

Good (a discriminator that ends in a sigmoid):
    from torch import nn

    discriminator = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
    adversarial = nn.BCELoss()

    def loss_of(real, fake, ones, zeros):
        return adversarial(discriminator(real), ones) + adversarial(discriminator(fake), zeros)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Index, LossCall, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "softmax-into-bce",
    "loss",
    "note",
    "loss_contract",
    suspects=("wrong-loss-choice",),
    claims=("bce-with-logits",),
)


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, "BCELoss", "binary_cross_entropy"):
        if call.loss:
            yield _examined(index, call)


def _examined(index: Index, call: LossCall) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    given = call.site.call.argument(0, "input")
    values = [value for spot in call.spots for value in index.values.of(given, spot)] if given is not None else []
    if given is None or not values or all(value.range == "unknown" for value in values):
        why = next((value.why for value in values if value.why), "its input is not written out")
        return SAY.open(path, line, f"what {call.loss} is given is not resolved: {why}")
    if not all(value.range == "probability" for value in values):
        return SAY.passed(path, line, f"{written(given)} is no softmax")
    chain = (*values[0].chain, Link(path, line, f"{call.loss} asks each class on its own"))
    message = (
        f"{call.loss} at {path}:{line} gets softmax probabilities ({chain[0].path}:{chain[0].line}): do the classes "
        "exclude each other (then cross_entropy on logits) or may several hold (then a sigmoid)?"
    )
    return SAY.fail(path, line, message, chain, "medium")
