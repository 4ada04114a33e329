"""A divergence that is summed over the whole batch is added to an error that is a mean.

The bound of a variational autoencoder adds the error of a reconstruction and a KL divergence, both summed over an example. Where
the error is the mean over all values (mse_loss, binary_cross_entropy as they are) and the divergence is torch.sum() of all, the
divergence counts as many times as the batch has values: the code is driven to the prior, the decoder gives the mean of the data
whatever it is given, and the loss still falls.

Fix: reduction="sum" for the error, or the mean over the batch of sums over an example for both.

It asks, since a weight may be meant.

Cannot see: divergences that are written in another way, or divided elsewhere.

Bad:
    import torch
    import torch.nn.functional as F

    def loss_of(recon, x, mu, logvar):
        error = F.mse_loss(recon, x)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return error + kl

    def train(model, loader, optimizer):
        for x in loader:
            recon, mu, logvar = model(x)
            optimizer.zero_grad()
            loss_of(recon, x, mu, logvar).backward()
            optimizer.step()

Good:
    import torch
    import torch.nn.functional as F

    def loss_of(recon, x, mu, logvar):
        error = F.mse_loss(recon, x, reduction="sum")
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return error + kl

    def train(model, loader, optimizer):
        for x in loader:
            recon, mu, logvar = model(x)
            optimizer.zero_grad()
            loss_of(recon, x, mu, logvar).backward()
            optimizer.step()

Good (a weight says that it is meant):
    import torch
    import torch.nn.functional as F

    def loss_of(recon, x, mu, logvar, beta=1e-4):
        error = F.mse_loss(recon, x)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return error + beta * kl
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
    Spot,
    is_test,
    loss_calls,
    number_sign,
    terms,
    written,
)
from trainsleuth.finding import Finding, Link

from ._divergence import divergences
from ._uses import holder_of
from ._verdicts import Verdicts

SAY = Verdicts(
    "unequal-reductions",
    "loss",
    "note",
    "",
    suspects=("another-loss-fault",),
    claims=("mean-beside-summed-divergence",),
    look="print both summands for some batches: a divergence that is driven to 0 while the error stays says that it weighs too much",
)
_EXP = re.compile(rb"\bexp\(")
_ERRORS = (
    "mse_loss", "MSELoss", "l1_loss", "L1Loss", "smooth_l1_loss", "SmoothL1Loss", "huber_loss", "HuberLoss", "binary_cross_entropy",
    "BCELoss", "binary_cross_entropy_with_logits", "BCEWithLogitsLoss",
)  # fmt: skip


def check(index: Index) -> Iterator[Finding]:
    holding = {one for one in index.functions_holding(_EXP) if not is_test(one.path)}
    sums = {one: found for one in holding if (found := _summed(index, one)) is not None}
    said: set[Function] = set()
    for call in loss_calls(index, *_ERRORS, within=frozenset(sums)) if sums else ():
        function = call.site.function
        if call.loss and function not in said:
            said.add(function)
            yield _examined(index, call, *sums[function])


def _summed(index: Index, function: Function) -> tuple[Event, Expr] | None:
    """kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()), over everything at once."""
    for position, event in enumerate(function.events):
        found = _whole_sum(event.value) if event.kind == "assign" and event.value is not None else None
        if found is not None and len(event.targets) == 1 and event.targets[0].kind == "path":
            if any(True for _ in divergences(terms(index, found, Spot(function, position)))):
                return event, found
    return None


def _whole_sum(value: Expr) -> Expr | None:
    """A call that sums over everything, where nothing but numbers is multiplied with it."""
    while value.kind in ("unary", "binary"):
        others = [part for part in value.parts if not number_sign(part)]
        if value.text not in ("-", "*") or len(others) != 1 or (value.kind == "binary" and value.text != "*"):
            return None
        value = others[0]
    is_of_torch = value.kind == "call" and value.receiver is not None and value.receiver.text == "torch"
    given = len(value.parts) - 1  # a sum over an axis is given one more
    return value if value.kind == "call" and value.last == "sum" and given == int(is_of_torch) else None


def _examined(index: Index, call: LossCall, made: Event, summed: Expr) -> Finding:
    site = call.site
    function, path, line = site.function, site.function.path, site.call.line
    holder = holder_of(site)
    name, error = made.targets[0].text, holder.name if holder is not None and holder.function is not None else ""
    if not _is_mean(index, call):
        return SAY.passed(path, line, f"{call.loss} is no mean")
    names = {name, error} - {""}
    others = (one for one in function.events if one is not made and one is not site.event)
    changed = next((one for one in others if any(target.text in names for target in one.targets)), None)
    if changed is not None:
        return SAY.open(path, line, f"{' or '.join(sorted(names))} is changed at line {changed.line}")
    if (added := _added(function, name, error, site.call)) is None:
        return SAY.passed(path, line, f"{name} is not seen to be added to it as it is")
    message = (
        f"{written(added)} at {path}:{added.line} adds {name}, which {written(summed)} sums over the whole batch (line {summed.line}), to "
        f"{written(site.call)}, which is a mean over all values: so {name} counts as many times as the batch has values. Is it meant? "
        f'Expected reduction="sum" for both, or a mean over the batch for both.'
    )
    chain = (
        Link(path, line, f"{written(site.call)} is a mean over all values"),
        Link(path, summed.line, f"{written(summed)} is a sum over all"),
        Link(path, added.line, f"{written(added)} adds them as they are"),
    )
    return SAY.fail(path, line, message, chain, "medium")


def _is_mean(index: Index, call: LossCall) -> bool:
    """reduction is not given, or is the mean: of the call of a function, of what made an object."""
    site = call.site
    things = index.objects.of(site.call.parts[0], Spot(site.function, site.position))
    made = [site.call, *(one.call for one in things if isinstance(one, Instance) and one.call is not None)]
    told = [one.keyword(name) for one in made for name in ("reduction", "size_average", "reduce")]
    return all(one is None or one.text == "mean" for one in told)


def _added(function: Function, name: str, error: str, call: Expr) -> Expr | None:
    """error + kl, with nothing multiplied or divided: in a sum, or in one that is added to."""
    for event in function.events:
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "binary" and part.text == "+":
                summands = list(_summands(part))
                has_error = any(one is call or (error and one.text == error) for one in summands)
                if has_error and any(one.kind == "path" and one.text == name for one in summands):
                    return part
    return None


def _summands(expr: Expr) -> Iterator[Expr]:
    if expr.kind == "binary" and expr.text == "+":
        for part in expr.parts:
            yield from _summands(part)
    else:
        yield expr
