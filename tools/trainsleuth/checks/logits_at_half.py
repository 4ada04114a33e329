"""Logits are compared with 0.5, as if they were probabilities.

A loss with its own sigmoid takes scores of both signs: a score of 0 is a probability of 0.5, and one of 0.5 is 0.62.
Compared with 0.5, or rounded, the scores say yes later than the model does, so accuracy, recall, Dice and the checkpoint
that they choose belong to another threshold than the one that is told.

Fix: compare with 0, or apply the sigmoid first.

Cannot see: scores that pass through code that is not resolved, thresholds that are handed over.

Bad:
    import torch
    from torch import nn

    def train(model, loader, optimizer):
        criterion = nn.BCEWithLogitsLoss()
        correct = 0
        for x, y in loader:
            scores = model(x).squeeze(1)
            loss = criterion(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += ((scores > 0.5) == y).sum().item()
        return correct

Bad (the evaluation of a network whose last layer gives the scores):
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(16, 1)

        def forward(self, x):
            return self.head(x)

    def train(loader):
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model(x), y).backward()
            optimizer.step()
        return evaluate(model, loader)

    def evaluate(model: Net, loader):
        model.eval()
        right = 0
        for x, y in loader:
            with torch.no_grad():
                answer = torch.round(model(x))
            right += (answer == y).sum().item()
        return right

Good:
    import torch
    from torch import nn

    def train(model, loader, optimizer):
        criterion = nn.BCEWithLogitsLoss()
        correct = 0
        for x, y in loader:
            scores = model(x).squeeze(1)
            loss = criterion(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scores = torch.sigmoid(scores)
            correct += ((scores > 0.5) == y).sum().item()
        return correct

Good (it is only looked at):
    import matplotlib.pyplot as plt
    from torch import nn

    def train(model, loader, optimizer):
        criterion = nn.BCEWithLogitsLoss()
        for x, y in loader:
            scores = model(x).squeeze(1)
            loss = criterion(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            plt.imshow(scores[0].detach().numpy() > 0.5, cmap="gray")

Good (another output of the same step is a probability):
    import torch
    from torch import nn

    def step(model, x, y):
        scores = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, y)
        dropped = torch.rand(4) > 0.5
        return loss, (scores > 0) & dropped, scores.sigmoid() > 0.5
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, LossCall, Spot, is_test, loss_calls, reaching, written
from trainsleuth.finding import Finding, Link

from ._ranges import where_it_comes_from
from ._verdicts import Verdicts

SAY = Verdicts(
    "logits-at-half",
    "eval",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("logits-at-half",),
    look="compute the score with a sigmoid before the comparison: it must not change",
    sure=("",),
)
_WITH_SIGMOID = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
_MAY_COMPARE = re.compile(rb"\.5\b"), re.compile(rb"round\w*\(")  # apart: each begins with what is soon found
_LESS_OR_MORE = re.compile(rb"[<>]")
_HALF = ("0.5", ".5", "0.50")
_COMPARES = ("gt", "ge", "gt_", "ge_", "greater", "greater_equal", "lt", "le", "lt_", "le_")
_DRAW = ("imshow", "matshow", "contour", "contourf", "add_image", "add_images")
_ROUNDS = ("round", "round_", "around", "rint")
_SAME_NUMBERS = frozenset(
    [
        "detach",
        "cpu",
        "cuda",
        "to",
        "numpy",
        "float",
        "double",
        "squeeze",
        "unsqueeze",
        "view",
        "reshape",
        "flatten",
        "ravel",
        "clone",
        "contiguous",
        "data",
        "permute",
        "transpose",
        "item",
        "tolist",
    ]
)


class _Told(NamedTuple):
    """Scores that are compared: `scores` without what leaves the numbers as they are, `whole` as it is written."""

    function: Function
    position: int
    scores: Expr
    whole: Expr


def check(index: Index) -> Iterator[Finding]:
    losses = [one for one in loss_calls(index, *_WITH_SIGMOID) if one.loss]
    if losses:
        made = dict(_layers(index, losses))
        for told in _compared(index):
            if (found := _examined(index, told, losses, made)) is not None:
                yield found


def _compared(index: Index) -> Iterator[_Told]:
    """Every comparison with a half, and every rounding, outside tests."""
    for function in index.functions_holding(*_MAY_COMPARE):
        for position, event in enumerate(function.events if _may_compare(function) else ()):
            drawn = {id(one) for call in event.calls if call.last in _DRAW for one in call.walk()}
            for root in (event.value, *event.targets):
                for part in root.walk() if root is not None else ():
                    scores = _scores(part) if id(part) not in drawn else None
                    if scores is not None:
                        yield _Told(function, position, _plain(scores), part)


def _may_compare(function: Function) -> bool:
    """Not in tests; of the many that write .5 somewhere most compare nothing."""
    calls = not function.called.isdisjoint((*_COMPARES, *_ROUNDS))
    return (calls or function.source.holds(_LESS_OR_MORE)) and not is_test(function.path)


def _scores(part: Expr) -> Expr | None:
    """What is compared with a half: of scores > 0.5, torch.gt(scores, 0.5), scores.gt(0.5), and what is rounded."""
    if part.kind == "compare" and part.text in (">", ">=", "<", "<=") and len(part.parts) == 2:
        left, right = part.parts
        return left if _is_half(right) else right if _is_half(left) else None
    if part.kind != "call" or part.last not in (*_COMPARES, *_ROUNDS):
        return None
    given = part.arguments
    of_module = part.receiver is not None and part.receiver.text in ("torch", "np", "numpy")
    held, rest = (given[0], given[1:]) if of_module and given else (part.receiver, given)
    if part.last in _ROUNDS:
        return held if not rest and len(part.parts) == 1 + len(given) else None
    return held if len(rest) == 1 and _is_half(rest[0]) else None


def _is_half(expr: Expr) -> bool:
    return expr.kind == "number" and expr.text in _HALF


def _plain(scores: Expr) -> Expr:
    """Without what leaves each number as it is: scores.detach().squeeze(1), scores[:, 0]."""
    while True:
        if scores.kind == "call" and scores.last in _SAME_NUMBERS and scores.receiver is not None:
            scores = scores.receiver
        elif scores.kind == "index":
            scores = scores.parts[0]
        else:
            return scores


def _layers(index: Index, losses: Iterable[LossCall]) -> Iterator[tuple[tuple[str, int], LossCall]]:
    """The places of the last layers whose output such a loss is given."""
    for loss in losses:
        given = loss.site.call.argument(0, "input")
        for spot in loss.spots if given is not None else ():
            values = index.values.of(given, spot) if given is not None else ()
            if values and all(value.range == "logits" and value.chain for value in values):
                for value in values:
                    cause = where_it_comes_from(value.chain)
                    yield (cause.path, cause.line), loss


def _examined(
    index: Index, told: _Told, losses: Iterable[LossCall], made: dict[tuple[str, int], LossCall]
) -> Finding | None:
    path, line = told.function.path, told.whole.line
    values = index.values.of(told.scores, Spot(told.function, told.position))
    if any(value.range in ("sigmoid", "probability") for value in values):
        return SAY.passed(path, line, f"{written(told.scores)} is seen to be a probability")
    if (loss := _same_name(told, losses)) is not None:
        return _failure(told, loss, ())
    causes = [where_it_comes_from(value.chain) for value in values if value.range == "logits" and value.chain]
    if not causes or len(causes) < len(values):
        return None
    found = [made.get((one.path, one.line)) for one in causes]
    if (first := found[0]) is not None and all(found):
        return _failure(told, first, values[0].chain)
    return None


def _same_name(told: _Told, losses: Iterable[LossCall]) -> LossCall | None:
    """A loss in the same function that is given the same name, while it holds the same."""
    if told.scores.kind != "path":
        return None
    for loss in losses:
        given = loss.site.call.argument(0, "input")
        if loss.site.function is told.function and given is not None and _plain(given).text == told.scores.text:
            if _plain(given).kind == "path" and _holds_the_same(told, loss.site.position):
                return loss
    return None


def _holds_the_same(told: _Told, position: int) -> bool:
    bound = [reaching(told.function, told.scores.text, one)[0] for one in (told.position, position)]
    made = [{one.position for one in each} for each in bound]
    return made[0] == made[1] and bool(made[0])


def _failure(told: _Told, loss: LossCall, chain: tuple[Link, ...]) -> Finding:
    path, line, site = told.function.path, told.whole.line, loss.site
    at = f"{site.function.path}:{site.call.line}"
    shown = written(told.scores)
    links = (*chain, Link(site.function.path, site.call.line, f"{loss.loss} applies its own sigmoid"))
    does = "rounded" if told.whole.kind == "call" and told.whole.last in _ROUNDS else "compared with 0.5"
    message = (
        f"{shown} at {path}:{line} is {does}, but it holds logits: {loss.loss} at {at} applies the sigmoid itself, so "
        f"0.5 is a probability of 0.62; expected a comparison with 0, or torch.sigmoid({shown}) first."
    )
    return SAY.fail(path, line, message, (*links, Link(path, line, f"{does} without a sigmoid")))
