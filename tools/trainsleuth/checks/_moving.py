"""Transforms and calls that move the pixels of a picture at random: flips, turns, crops."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr, External, Function, Index, Instance, written

MOVING = (
    "hflip",
    "vflip",
    "rotate",
    "affine",
    "crop",
    "resized_crop",
    "perspective",
    "flip",
    "fliplr",
    "flipud",
    "rot90",
)
_RANDOM = (
    "RandomHorizontalFlip", "RandomVerticalFlip", "RandomRotation", "RandomCrop", "RandomResizedCrop", "RandomAffine",
    "RandomPerspective", "RandomSizedCrop", "ElasticTransform",
)  # fmt: skip
_OF_ALBUMENTATIONS = (
    "HorizontalFlip", "VerticalFlip", "Flip", "Transpose", "RandomRotate90", "Rotate", "SafeRotate", "ShiftScaleRotate", "Affine",
    "Perspective", "RandomCrop", "RandomResizedCrop", "RandomSizedCrop", "ElasticTransform", "GridDistortion",
    "OpticalDistortion", "D4",
)  # fmt: skip
_CONTAINERS = ("Compose", "Sequential", "RandomApply", "RandomOrder", "OneOf", "SomeOf")
_CHOOSING = ("RandomApply", "OneOf", "SomeOf")
_RESETTING = re.compile(r"seed|set_?state|set_rng_state", re.I)
_SURE = ("0", "0.0", "1", "1.", "1.0")


def random_move(index: Index, thing: Instance, depth: int = 3, is_drawn: bool = False) -> str:
    """The random geometric transform that it is, or that it holds; "" for none.

    `is_drawn`: a draw around it decides whether it is applied.
    """
    last = thing.name.rpartition(".")[2]
    family = thing.name.partition(".")[0] if isinstance(thing.kind, External) else ""
    if last in {"torchvision": _RANDOM, "albumentations": _OF_ALBUMENTATIONS}.get(family, ()):
        return last if is_drawn or not _is_fixed(thing, last) else ""
    if family not in ("torchvision", "albumentations") or last not in _CONTAINERS:
        return ""
    if thing.call is not None and thing.spot is not None:
        for part in thing.call.arguments[:1] if depth else ():
            for member in index.members.of(part, thing.spot):
                for inner in index.objects.of(member.expr, member.spot):
                    is_inner = is_drawn or last in _CHOOSING
                    if isinstance(inner, Instance) and (found := random_move(index, inner, depth - 1, is_inner)):
                        return found
    return ""


def _is_fixed(thing: Instance, name: str) -> bool:
    """It does the same to all, whatever it is called: RandomHorizontalFlip(p=1), RandomRotation((90, 90))."""
    call = thing.call
    if call is not None and name.endswith(("HorizontalFlip", "VerticalFlip")):
        chance = call.argument(0, "p")
        return chance is not None and chance.text in _SURE
    degrees = call.argument(0, "degrees") if call is not None and name == "RandomRotation" else None
    ends = (
        {written(part) for part in degrees.parts} if degrees is not None and degrees.kind in ("tuple", "list") else ()
    )
    return len(ends) == 1


def is_reset_between(function: Function, one: int, other: int) -> bool:
    """The state of the random numbers is set between two events."""
    first, last = sorted((one, other))
    return any(_RESETTING.search(call.last) for event in function.events[first : last + 1] for call in event.calls)


def draws(test: Expr | None) -> bool:
    """A random number stands in a condition."""
    return test is not None and any("rand" in part.text.lower() for part in test.walk() if part.kind == "path")
