"""Pictures are normalised for training, and not, or by other numbers, for the set that a model is judged on.

Two transforms stand side by side, one for training and one for validation or test. Only one of them has Normalize, or the two have other means.
The network then meets inputs of another range than it has learned from, and the score is lower than it is.

Question to answer: is it normalised elsewhere?

Fix: the same Normalize in both.

Cannot see: transforms in two functions, normalisation in a data set or in the network, lists that are put together.

Bad:
    from torchvision import transforms

    train_transform = transforms.Compose([
        transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,)),
    ])
    test_transform = transforms.Compose([transforms.ToTensor()])

Bad (other numbers):
    from torchvision import transforms as T

    def transforms_for(size):
        return {
            "train": T.Compose([T.Resize(size), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]),
            "val": T.Compose([T.Resize(size), T.ToTensor(), T.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])]),
        }

Good:
    from torchvision import transforms

    normalize = transforms.Normalize((0.5,), (0.5,))
    train_transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalize])
    test_transform = transforms.Compose([transforms.ToTensor(), normalize])
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, Spot, is_test, makers, spelled, written
from trainsleuth.facts.data.purpose import names_evaluation
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "normalised-otherwise",
    "data",
    "warning",
    "batch_as_seen",
    suspects=("preprocessing-mismatch",),
    claims=("preprocessing-stats-from-train",),
    forms={"left out": "one of the two leaves it out", "numbers": "other numbers"},
)
_MADE = re.compile(rb"Normalize\(")
_TO_TENSOR = ("ToTensor", "ToTensorV2", "PILToTensor", "ToImage", "ToDtype", "ConvertImageDtype")
_OTHER = re.compile(
    r"source|target|src|tgt|ood|adv|attack|clean|nois|raw|orig|vis|show|plot|inv|denorm|unnorm|mask|label|gt|clip|dino|vgg|weak|strong|un?sup",
    re.IGNORECASE,
)


class _Transform(NamedTuple):
    """`evaluates`: is it for what a model is judged on? `norms`: each Normalize in it, as it is spelled."""

    name: str
    evaluates: bool
    call: Expr
    norms: tuple[Expr, ...]
    spot: Spot


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_MADE):
        if not is_test(function.path):
            for _, beside in groupby(_transforms(index, function), lambda one: one[0]):
                yield from _compared(index, function, [transform for _, transform in beside])


def _transforms(index: Index, function: Function) -> Iterator[tuple[object, _Transform]]:
    """(the arms that it stands in, the transform): those that are written out as a list, and named for a part of the data."""
    for position, event in enumerate(function.events):
        for name, call in _named(event) if "Compose" in function.called else ():
            evaluates = names_evaluation(name)
            listed = call.argument(0, "transforms")
            if evaluates is None or _OTHER.search(name) or listed is None or listed.kind not in ("list", "tuple"):
                continue
            steps = [_made(index, part, Spot(function, position)) for part in listed.parts]
            if None in steps or not any(step is not None and step.last in _TO_TENSOR for step in steps):
                continue
            norms = tuple(step for step in steps if step is not None and step.last == "Normalize")
            yield event.block.branches, _Transform(name, evaluates, call, norms, Spot(function, position))


def _named(event: Event) -> Iterator[tuple[str, Expr]]:
    """train_transform = Compose(...), {"train": Compose(...)}"""
    value = event.value
    if value is None or event.kind not in ("assign", "return"):
        return
    if value.kind == "call" and value.last == "Compose" and len(event.targets) == 1:
        yield written(event.targets[0]), value
    for part in value.walk() if value.kind == "dict" else ():
        if part.kind == "pair" and part.parts[1].last == "Compose":
            yield written(part.parts[0]), part.parts[1]


def _made(index: Index, step: Expr, spot: Spot) -> Expr | None:
    """The call that makes the step; None where that is not known."""
    if step.kind == "call":
        return step
    found = [one for one, _ in makers(index, step, spot)] if step.kind == "path" else []
    return found[0] if len(found) == 1 and found[0].kind == "call" else None


def _compared(index: Index, function: Function, beside: list[_Transform]) -> Iterator[Finding]:
    trained = [one for one in beside if not one.evaluates]
    if len({_numbers(index, one) for one in trained}) != 1:
        return
    first = trained[0]
    for one in beside:
        if one.evaluates:
            yield _examined(index, function.path, first, one)


def _numbers(index: Index, transform: _Transform) -> tuple[object, ...]:
    """The means and deviations of each Normalize in it; one number stands for all channels where they share it."""
    return tuple(
        _values(index, norm.argument(at, name), transform.spot)
        for norm in transform.norms
        for at, name in ((0, "mean"), (1, "std"))
    )


def _values(index: Index, given: Expr | None, spot: Spot) -> object:
    """The numbers; how it is written where they are not known, None where nothing is given."""
    if given is None:
        return None
    made = [one for one, _ in makers(index, given, spot)]
    if len(made) == 1 and made[0].kind in ("tuple", "list") and all(part.kind == "number" for part in made[0].parts):
        return tuple(dict.fromkeys(float(part.text) for part in made[0].parts))
    return spelled(given)


def _examined(index: Index, path: str, trained: _Transform, judged: _Transform) -> Finding:
    line, own, its = judged.call.line, _numbers(index, trained), _numbers(index, judged)
    if own == its:
        return SAY.passed(path, line, f"{judged.name} normalises as {trained.name} does")
    if trained.norms and judged.norms and not all(_is_known(one) for one in (*own, *its)):
        return SAY.open(path, line, f"whether {judged.name} normalises as {trained.name} does is not known")
    has, lacks = _said(trained), _said(judged)
    message = (
        f"{judged.name} at {path}:{line} {lacks}, and {trained.name} at {path}:{trained.call.line} {has}: the network is judged on inputs of another "
        "range than it has learned from. Is the rest done elsewhere?"
    )
    chain = (Link(path, trained.call.line, f"{trained.name} {has}"), Link(path, line, f"{judged.name} {lacks}"))
    form = "numbers" if trained.norms and judged.norms else "left out"
    return SAY.fail(path, line, message, chain, "medium", form=form)


def _is_known(values: object) -> bool:
    return values is None or (isinstance(values, tuple) and all(isinstance(one, float) for one in values))


def _said(transform: _Transform) -> str:
    return "has " + " and ".join(map(written, transform.norms)) if transform.norms else "has no Normalize"
