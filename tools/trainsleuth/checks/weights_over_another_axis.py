"""Weights of a softmax sum to 1 over one axis, and are summed over another.

An average by attention takes weights = softmax(scores, dim=1) and (weights * values).sum(dim=1). With two different axes the weights
of one average do not sum to 1, those of several share it, and what comes out is scaled by chance. Shapes fit either way.

Question to answer: over which of the two axes are the weights to compete?

Fix: the same axis in both.

Cannot see: axes that are not numbers, averages by a matrix product, weights that other functions give.

Bad:
    import torch.nn.functional as F

    def similarity(features, centers, classes, k, gamma):
        sim = features.matmul(centers).reshape(-1, classes, k)
        prob = F.softmax(sim * gamma, dim=1)
        return (prob * sim).sum(dim=2)

Good:
    import torch.nn.functional as F

    def similarity(features, centers, classes, k, gamma):
        sim = features.matmul(centers).reshape(-1, classes, k)
        prob = F.softmax(sim * gamma, dim=2)
        return (prob * sim).sum(dim=2)

Good (an axis that is put in front in between):
    import torch

    def pooled(scores, values):
        weights = torch.softmax(scores, dim=1)
        weights = weights.unsqueeze(1)
        return (weights * values).sum(dim=2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, axis_of, bound_names, factors, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "weights-over-another-axis",
    "architecture",
    "warning",
    "",
    suspects=("wrong-axis-or-mask",),
    claims=("view-vs-permute",),
    look="sum the weights over the axis that they are summed over: it is to be 1 everywhere",
    sure=("",),
)
_LABELS = re.compile(
    r"target|label|truth|one_?hot|mask|(?:^|_)(?:y|gt)(?:$|_)", re.IGNORECASE
)  # an overlap, no average
_SOFTMAX = re.compile(rb"softmax\(")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_SOFTMAX):
        if not is_test(function.path):
            for position, event in enumerate(function.events):
                weights = _weights(event)
                if weights is not None:
                    yield from _examined(function, position, *weights)


def _weights(event: Event) -> tuple[str, Expr, int] | None:
    """(name, softmax, axis) of weights = F.softmax(scores, dim=1)."""
    call = event.value
    if (
        event.kind != "assign"
        or call is None
        or call.kind != "call"
        or call.last != "softmax"
        or len(event.targets) != 1
    ):
        return None
    is_method = call.receiver is not None and call.receiver.text not in (
        "F",
        "torch",
        "torch.nn.functional",
        "nn.functional",
    )
    axis = axis_of(call.argument(0 if is_method else 1, "dim"))
    return (event.targets[0].text, call, axis) if axis is not None and event.targets[0].kind == "path" else None


def _examined(function: Function, position: int, name: str, softmax: Expr, axis: int) -> Iterator[Finding]:
    """Each sum of a product with the weights, as long as they have their name and their shape."""
    path = function.path
    for event in function.events[position + 1 :]:
        for part in event.value.walk() if event.value is not None else ():
            summed = _sum_of_product(part, name)
            if summed is None or summed == 0 or (summed < 0) is not (axis < 0):  # over the examples: shares, no average
                continue
            if summed == axis:
                yield SAY.passed(path, part.line, f"{name} is summed over the axis of its softmax")
                continue
            chain = (
                Link(path, softmax.line, f"{written(softmax)} sums to 1 over axis {axis}"),
                Link(path, part.line, f"{written(part)} sums over axis {summed}"),
            )
            message = (
                f"{name} = {written(softmax)} at {path}:{softmax.line} sums to 1 over axis {axis}, but {written(part)} at {path}:{part.line} sums what it "
                f"weighs over axis {summed}, where its weights sum to anything: expected one axis in both."
            )
            yield SAY.fail(path, part.line, message, chain, "medium")
        if name in bound_names(event):
            return


def _sum_of_product(part: Expr, name: str) -> int | None:
    """The axis of (weights * values).sum(dim=2) and torch.sum(weights * values, 2), where the weights come in as they are."""
    if part.kind != "call" or part.last != "sum" or part.receiver is None:
        return None
    is_function = part.receiver.text in ("torch", "np", "numpy")
    product = part.argument(0, "input") if is_function else part.receiver
    if (
        product is None
        or product.kind != "binary"
        or product.text != "*"
        or ((kept := part.keyword("keepdim")) is not None and kept.text == "True")
    ):
        return None
    parts = list(factors(product))
    is_plain = any(one.kind == "path" and one.text == name for one in parts)
    is_alike = all(one.kind in ("path", "number", "call", "attr") and not _LABELS.search(one.last) for one in parts)
    return axis_of(part.argument(1 if is_function else 0, "dim", "axis")) if is_plain and is_alike else None
