"""A score is the mean of batch means, though the last batch is smaller.

total += loss.item() over batches, divided by len(loader), gives each batch the same weight. The examples of a
small last batch then count more than the others. With few batches the score is off by several percent, and it
changes with the batch size. Divided by the number of examples, the sum of the batch means is too small by the size of a batch.

Question to answer: do all batches have the same size, or is the number good enough?

Fix: weight by the batch size and divide by the number of examples.

Cannot see: losses that are sums already, loaders that drop the last batch out of sight, metrics of libraries.

Bad:
    import torch
    import torch.nn.functional as F
    from torch.utils.data import DataLoader

    @torch.no_grad()
    def evaluate(model, dataset):
        loader = DataLoader(dataset, batch_size=64)
        model.eval()
        total = 0.0
        for x, y in loader:
            total += F.cross_entropy(model(x), y).item()
        return total / len(loader)

Bad (a count of batches):
    import torch
    from torch import nn

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.criterion = nn.CrossEntropyLoss()

        def validate(self, loader):
            self.model.eval()
            losses, count = 0.0, 0
            with torch.no_grad():
                for x, y in loader:
                    loss = self.criterion(self.model(x), y)
                    losses += loss.item()
                    count += 1
            return losses / count

Bad (means of batches over a number of examples):
    import torch
    import torch.nn.functional as F

    @torch.no_grad()
    def evaluate(model, test_loader):
        model.eval()
        test_loss = 0.0
        for x, y in test_loader:
            test_loss += F.cross_entropy(model(x), y).item()
        return test_loss / len(test_loader.dataset)

Good:
    import torch
    import torch.nn.functional as F

    @torch.no_grad()
    def evaluate(model, loader, dataset):
        model.eval()
        total = 0.0
        for x, y in loader:
            total += F.cross_entropy(model(x), y, reduction="sum").item()
        return total / len(dataset)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Event,
    Expr,
    Function,
    Index,
    Instance,
    LossCall,
    Site,
    bindings,
    loss_calls,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "mean-of-batch-means",
    "eval",
    "note",
    "",
    suspects=("another-loss-fault",),
    claims=("full-test-eval", "average-loss-per-token"),
    look="evaluate with two batch sizes: the score must not change",
)
_LOADER = re.compile(r"load|(^|_)dl\b|_iter\b|batches|dataset", re.IGNORECASE)
_LOSSES = (
    "CrossEntropyLoss", "cross_entropy", "MSELoss", "mse_loss", "BCELoss", "BCEWithLogitsLoss", "NLLLoss", "nll_loss",
    "L1Loss", "l1_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "SmoothL1Loss", "smooth_l1_loss",
)  # fmt: skip


def check(index: Index) -> Iterator[Finding]:
    for loss in loss_calls(index, *_LOSSES):
        function = loss.site.function
        if loss.loss and _is_over_batches(loss.site) and not _trains(index, function):
            yield _examined(index, loss)


def _is_over_batches(site: Site) -> bool:
    """The innermost loop goes over a loader, by its name."""
    loops = site.event.block.loops
    source = site.function.loops[loops[-1]].source if loops else None
    return source is not None and bool(_LOADER.search(written(source, 200)))


def _trains(index: Index, function: Function) -> bool:
    return any(effect.kind == "backward" for effect in index.effects.of(function))


def _examined(index: Index, loss: LossCall) -> Finding:
    site, function = loss.site, loss.site.function
    path, line = function.path, site.call.line
    if _is_sum(index, loss):
        return SAY.passed(path, line, f"{loss.loss} sums over the batch")
    added = _added(site.event, function, site.position)
    if added is None:
        return SAY.passed(path, line, "the loss of a batch is not added up as it is")
    name, event = added
    division = _division(function, name, site.position)
    if division is None:
        return SAY.passed(path, line, f"{name} is not divided by a number of batches")
    by_examples = _is_number_of_examples(function, _divisor(division))
    effect = "takes each mean for one example" if by_examples else "gives each batch the same weight"
    chain = (
        Link(path, event.line, f"{name} adds the mean of one batch"),
        Link(path, division.line, f"{written(division)} {effect}"),
    )
    message = (
        f"{written(division)} at {path}:{division.line} divides the sum of the means of batches by a number of examples, so it is too small by about the "
        "size of a batch: is it compared with others? Expected means weighted by the batch size."
        if by_examples
        else f"{written(division)} at {path}:{division.line} averages the means of batches, so a smaller last batch counts more: "
        "is that good enough? Expected means weighted by the batch size."
    )
    return SAY.fail(path, division.line, message, chain, "low")


def _is_sum(index: Index, loss: LossCall) -> bool:
    made = [
        thing.call
        for spot in loss.spots
        for thing in index.objects.of(loss.site.call.parts[0], spot)
        if isinstance(thing, Instance)
    ]
    return any(
        reduction is not None and reduction.text in texts
        for call in (loss.site.call, *made)
        for name, texts in (("reduction", ("sum", "none")), ("size_average", ("False",)))
        if call is not None and ((reduction := call.keyword(name)) is not None)
    )


def _added(event: Event, function: Function, position: int) -> tuple[str, Event] | None:
    """`name += loss.item()` of this loss, in the same loop and with nothing multiplied to it."""
    names = [target.text for target in event.targets if target.kind == "path"]
    if event.kind == "augment":
        return (event.targets[0].text, event) if _is_plain(event.value, ()) else None
    for later in function.events[position + 1 :]:
        weighed = any(target.text in names for target in later.targets) and (
            later.kind == "augment" or not _is_plain(later.value, names)
        )
        if weighed:
            return None  # loss = loss * len(x), loss *= len(x)
        if later.kind == "augment" and later.text == "+=" and later.block.loops == event.block.loops:
            if mentions(later.value, names) and _is_plain(later.value, names) and later.targets[0].kind == "path":
                return later.targets[0].text, later
    return None


def _is_plain(value: Expr | None, names: tuple[str, ...] | list[str]) -> bool:
    """The loss, or its item(): no weight by a batch size."""
    return value is not None and not any(part.kind == "binary" for part in value.walk())


def _division(function: Function, name: str, position: int) -> Expr | None:
    """total / n, or the n of total /= n: by a number of batches, or of examples."""
    for event in function.events[position + 1 :]:
        divided = (
            [part for part in event.value.walk() if part.kind == "binary" and part.text == "/"]
            if event.value is not None
            else []
        )
        found = [part for part in divided if part.parts[0].text == name]
        if event.kind == "augment" and event.text == "/=" and event.targets[0].text == name and event.value is not None:
            found.append(event.value)
        for one in found:
            if _is_number_of_batches(function, _divisor(one)) or _is_number_of_examples(function, _divisor(one)):
                return one
    return None


def _divisor(division: Expr) -> Expr:
    return division.parts[1] if division.kind == "binary" and division.text == "/" else division


def _is_number_of_batches(function: Function, by: Expr) -> bool:
    """len(loader), or a counter that each batch makes one larger."""
    if by.kind == "call" and by.last == "len" and by.arguments:
        held = by.arguments[0]
        return held.last != "dataset" and ("load" in held.last.lower() or held.last.lower().endswith(("dl", "iter")))
    counted = _counted(function, by)
    return bool(counted) and all(one.text == "1" for one in counted)


def _is_number_of_examples(function: Function, by: Expr) -> bool:
    """len(loader.dataset), or a counter that grows by the size of each batch."""
    if by.kind == "call" and by.last == "len" and by.arguments:
        return by.arguments[0].last == "dataset"
    counted = _counted(function, by)
    return bool(counted) and all(_is_size(one) for one in counted)


def _counted(function: Function, by: Expr) -> list[Expr]:
    """What is added to a counter."""
    found = bindings(function).get(by.text, ()) if by.kind == "path" else ()
    return [one.value for one in found if one.kind == "augment" and one.value is not None]


def _is_size(expr: Expr) -> bool:
    """x.size(0), x.shape[0], len(x)"""
    if expr.kind == "call":
        return (expr.last == "size" and [one.text for one in expr.arguments] == ["0"]) or expr.callee == "len"
    return expr.kind == "index" and expr.parts[0].last == "shape" and expr.parts[1].text == "0"
