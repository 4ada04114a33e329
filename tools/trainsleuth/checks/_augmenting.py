"""Transforms that draw and transforms that do not: those written out with a random flip, and those that resize and normalise."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr, External, Index, Instance, Literal, Spot, Thing, constant, written
from trainsleuth.facts.data.purpose import names_evaluation

_DRAWS = re.compile(
    r"Random|Jitter|Erasing|AutoAugment|RandAugment|AugMix|TrivialAugment|Flip|Rotate|ElasticTransform|GaussNoise|"
    r"CoarseDropout|Cutout|ShiftScaleRotate|GridDistortion|OneOf"
)
_LISTING = ("Compose", "Sequential")
_FIXED = re.compile(
    r"ToTensor(V2)?|Normalize|Resize|CenterCrop|Grayscale|ToPILImage|Pad|ToDtype|ToImage|PILToTensor|"
    r"ConvertImageDtype|LongestMaxSize|PadIfNeeded"
)


def difference(index: Index, before: tuple[Expr, Spot], now: tuple[Expr, Spot]) -> str:
    """ "same"; "written", where one of the two surely draws and the other one does not; "other", where they differ as switches
    or by their names; "" where that they differ is not known.
    """
    old, new = written(before[0], 200), written(now[0], 200)
    if old == new:
        return "same"
    drew, will = draws(index, *before), draws(index, *now)
    if drew is not None and will is not None:
        return "written" if drew is not will else ""
    told = {one.text for given in (before, now) if (one := constant(index, *given)) is not None}
    if told == {"True", "False"}:
        return "other"
    return "other" if old != "None" and bool(names_evaluation(old)) is not bool(names_evaluation(new)) else ""


def draws(index: Index, expr: Expr, spot: Spot, depth: int = 6) -> bool | None:
    """None where it is not resolved."""
    found = {_thing(index, one, depth) for one in index.objects.of(expr, spot)} if depth else {None}
    return found.pop() if len(found) == 1 else None


def _thing(index: Index, thing: Thing, depth: int) -> bool | None:
    if isinstance(thing, Instance) and isinstance(thing.kind, External) and thing.call is not None and thing.spot:
        name = thing.name.rpartition(".")[2]
        if _DRAWS.search(name):
            return not _is_fixed(thing.call) and not (thing.name.startswith("torchvision.") and _is_idle(thing.call))
        if name in _LISTING:
            return _any(index, thing.call.arguments, thing.spot, depth)
        return False if _FIXED.fullmatch(name) else None
    if isinstance(thing, Literal):
        expr = thing.expr
        if expr.kind in ("list", "tuple"):
            return _any(index, expr.parts, thing.spot, depth)
        return False if expr.text == "None" else None
    return None


def _is_fixed(call: Expr) -> bool:
    """RandomRotation((90, 90)) turns by one angle, RandomHorizontalFlip(p=1.0) all pictures, p=0 none."""
    if call.last.startswith(("RandomRotation", "RandomAffine")):
        degrees = call.argument(0, "degrees")
        bounds = [written(one) for one in degrees.parts] if degrees is not None else []
        is_one = (
            len(bounds) == 2 and bounds[0] == bounds[1] and degrees is not None and degrees.kind in ("tuple", "list")
        )
        return is_one and (call.last != "RandomAffine" or len(call.parts) == 2)
    given = call.argument(0, "p") if call.last.endswith("Flip") else call.keyword("p")
    return given is not None and (
        given.text in ("0", "0.0") or (given.text in ("1", "1.0") and call.last.endswith("Flip"))
    )


def _is_idle(call: Expr) -> bool:
    """ColorJitter() of torchvision, which changes nothing unless it is told how much."""
    given = [part.parts[0] if part.kind == "keyword" else part for part in call.parts[1:]]
    return call.last == "ColorJitter" and all(one.text in ("0", "0.0", "None") for one in given)


def _any(index: Index, parts: tuple[Expr, ...], spot: Spot, depth: int) -> bool | None:
    each = [draws(index, part, spot, depth - 1) for part in parts]
    return True if True in each else None if None in each else False
