"""A masked loss is averaged over the masked positions too.

(each * mask).mean() makes the loss of padding zero, and still divides by the number of all positions. The loss, and
with it every gradient, shrinks by the share of padding, which changes from batch to batch: a batch with one long
sentence weighs less than one whose sentences are alike, and runs with other lengths cannot be compared.

Question to answer: is each batch meant to count by how full it is?

Fix: (each * mask).sum() / mask.sum().clamp(min=1), or each[mask].mean().

A mask of those that a model is sure of (pseudo-labels) is another thing: there the share is meant.

Cannot see: masks whose names do not say so, losses that are weighted in another function.

Bad:
    import torch.nn.functional as F

    def loss_of(model, tokens, labels, mask):
        each = F.cross_entropy(model(tokens).transpose(1, 2), labels, reduction="none")
        return (each * mask).mean()

Bad (padding told by its token, step by step):
    import torch
    from torch import nn

    criterion = nn.CrossEntropyLoss(reduction="none")

    def loss_of(model, tokens, labels, pad):
        keep = (labels != pad).float()
        loss = criterion(model(tokens).transpose(1, 2), labels)
        loss *= keep
        return torch.mean(loss)

Good:
    import torch.nn.functional as F

    def loss_of(model, tokens, labels, mask):
        each = F.cross_entropy(model(tokens).transpose(1, 2), labels, reduction="none")
        return (each * mask).sum() / mask.sum().clamp(min=1)

Good (only what counts; the share is given back):
    import torch.nn.functional as F

    def loss_of(model, tokens, labels, mask):
        each = F.cross_entropy(model(tokens).transpose(1, 2), labels, reduction="none")
        return each[mask.bool()].mean() + (each * mask).mean() / mask.mean()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Event,
    Expr,
    Index,
    Instance,
    LossCall,
    Spot,
    derived,
    loss_calls,
    mentions,
    reaching,
    written,
)
from trainsleuth.finding import Finding, Link

from ._tokens import base_of
from ._verdicts import Verdicts

SAY = Verdicts(
    "padding-in-mean",
    "loss",
    "note",
    "",
    suspects=("another-loss-fault",),
    claims=("average-loss-per-token",),
    look="print mask.mean() of ten batches: how much it varies is how much their weights do",
)
_LOSSES = (
    "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "MSELoss", "mse_loss", "L1Loss", "l1_loss",
    "SmoothL1Loss", "smooth_l1_loss", "BCELoss", "BCEWithLogitsLoss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)  # fmt: skip
_MASK = re.compile(r"(^|_)(\w*mask|pad(ding)?|padded|is_pad|valid)(_|$)", re.IGNORECASE)
_COMPARING = ("ne", "not_equal", "eq", "gt", "lt", "ge", "le", "greater", "less")


def check(index: Index) -> Iterator[Finding]:
    for loss in loss_calls(index, *_LOSSES):
        if loss.loss and _is_unreduced(index, loss):
            yield _examined(index, loss)


def _is_unreduced(index: Index, loss: LossCall) -> bool:
    """One number for each position: every way to make it says so."""
    calls = [loss.site.call]
    for spot in loss.spots:
        things = index.objects.of(loss.site.call.parts[0], spot)
        calls += [thing.call for thing in things if isinstance(thing, Instance) and thing.call is not None]
    return any((how := call.keyword("reduction")) is not None and how.text == "none" for call in calls)


def _examined(index: Index, loss: LossCall) -> Finding:
    site, function = loss.site, loss.site.function
    path = function.path
    names = derived(function, (t.text for t in site.event.targets if t.kind == "path"), site.position + 1)
    for position, event in enumerate(function.events[site.position :], site.position):
        for mean in event.calls:
            spot = Spot(function, position)
            product = _product(mean, spot)
            if mean.last != "mean" or product is None:
                continue
            each, mask = product
            is_this = mentions(each, names) or any(part is site.call for part in each.walk())
            if not is_this or not _is_mask(index, mask, spot):
                continue
            if _is_share_of_one(mask, spot):
                return SAY.passed(path, mean.line, f"{written(mask)} is divided by its own mean or sum")
            if _is_given_back(function.events[position:], event, mean):
                return SAY.passed(path, mean.line, f"{written(mean)} is divided by what the mask leaves")
            return _failure(loss, mean, mask)
    return SAY.passed(path, site.call.line, f"no mean over masked positions of {loss.loss} was found")


def _product(mean: Expr, spot: Spot) -> tuple[Expr, Expr] | None:
    """(the loss, what it is multiplied by) where the mean of a product is taken, by whatever name."""
    receiver = mean.receiver
    averaged = mean.argument(0, "input") if receiver is None or receiver.text in ("torch", "th") else receiver
    if averaged is not None and averaged.kind == "path":
        found, certain = reaching(spot.function, averaged.text, spot.position)
        made = found[0] if found and certain else None  # the newest
        event = spot.function.events[made.position] if made is not None else None
        if made is not None and event is not None and event.kind == "augment" and event.text == "*=" and made.value:
            return averaged, made.value
        averaged = made.value if made is not None and not made.items else None
    if averaged is None or averaged.kind != "binary" or averaged.text != "*" or len(averaged.parts) != 2:
        return None
    one, other = averaged.parts
    return (other, one) if _is_named(one) and not _is_named(other) else (one, other)


def _is_named(expr: Expr) -> bool:
    return any(
        (part.kind in ("path", "attr") and _MASK.search(part.last))
        or (part.kind == "string" and _MASK.search(part.text))
        for part in expr.walk()
    )


def _is_mask(index: Index, expr: Expr, spot: Spot) -> bool:
    """Its name says so, or it is made by comparing labels with the padding; not what a threshold lets through."""
    base = base_of(index, expr, spot)
    made = base.expr if base is not None else expr
    if made.kind == "compare" or (made.kind == "call" and made.last in _COMPARING):
        is_inequality = made.text == "!=" or made.last in ("ne", "not_equal")
        return is_inequality and (_is_named(made) or "-100" in written(made))
    if made.kind == "call":
        return bool(_MASK.search(made.last)) or _is_named(made)
    return _is_named(expr) or _is_named(made)


def _is_share_of_one(mask: Expr, spot: Spot) -> bool:
    """mask = mask / mask.mean() before"""
    found, _ = reaching(spot.function, mask.text, spot.position) if mask.kind == "path" else ((), False)
    for made in found:
        event = spot.function.events[made.position]
        is_divided = event.kind == "augment" and event.text == "/="
        divisor = made.value if is_divided else None
        if made.value is not None and made.value.kind == "binary" and made.value.text == "/":
            divisor = made.value.parts[1]
        if divisor is not None and any(call.last in ("mean", "sum") for call in divisor.walk() if call.kind == "call"):
            return True
    return False


def _is_given_back(events: tuple[Event, ...], event: Event, mean: Expr) -> bool:
    """The mean, or the name that it is given, is divided or scaled by a number that the mask decides."""
    names = [target.text for target in event.targets if target.kind == "path"]
    for later in events:
        parts = [part for part in later.value.walk() if part.kind == "binary"] if later.value is not None else []
        for part in parts:
            holds = any(inner is mean for inner in part.walk()) or (later is not event and mentions(part, names))
            if holds and part.text in ("/", "*") and _is_named_beside(part, mean):
                return True
        if later.kind == "augment" and later.text in ("/=", "*=") and later.targets[0].text in names:
            return True
    return False


def _is_named_beside(part: Expr, mean: Expr) -> bool:
    """Some operand that does not hold the mean speaks of a mask, a count or a sum."""
    beside = [one for one in part.parts if not any(inner is mean for inner in one.walk())]
    return any(_is_named(one) or any(call.last in ("sum", "mean", "numel") for call in one.walk()) for one in beside)


def _failure(loss: LossCall, mean: Expr, mask: Expr) -> Finding:
    path, line = loss.site.function.path, mean.line
    chain = (
        Link(path, loss.site.call.line, f"{loss.loss} gives one number for each position"),
        Link(path, line, f"{written(mean)} counts those that {written(mask)} makes zero"),
    )
    message = (
        f"{written(mean)} at {path}:{line} divides by all positions, those that {written(mask)} makes zero too, so a "
        "batch weighs less the more of it is masked: is that meant? Expected the sum divided by the sum of the mask."
    )
    return SAY.fail(path, line, message, chain, "low")
