"""An image is turned, cropped or mirrored at random, and its mask is not, or otherwise.

A random geometric transform moves the pixels. The mask has to move the same way: left as it is, or given its
own draw of the same random transform, its pixels belong to other places. The loss falls to the average mask and
stays there.

Fix: draw once, apply to both: transforms.v2 on the pair, albumentations, or functional calls under one draw.

Cannot see: transforms that are not resolved, pairs whose names do not say which is the mask.

Bad:
    from torch.utils.data import Dataset
    from torchvision import transforms

    class Cells(Dataset):
        def __init__(self, images, masks):
            self.images, self.masks = images, masks
            self.augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
            self.to_tensor = transforms.ToTensor()

        def __getitem__(self, i):
            image = self.augment(self.images[i])
            mask = self.to_tensor(self.masks[i])
            return image, mask

Bad (each draws for itself):
    import random
    import torchvision.transforms.functional as TF
    from torch.utils.data import Dataset

    class Roads(Dataset):
        def __init__(self, pairs):
            self.pairs = pairs

        def __getitem__(self, i):
            image, mask = self.pairs[i]
            if random.random() < 0.5:
                image = TF.hflip(image)
            if random.random() < 0.5:
                mask = TF.hflip(mask)
            return TF.to_tensor(image), TF.to_tensor(mask)

Good:
    import random
    import torchvision.transforms.functional as TF
    from torch.utils.data import Dataset
    from torchvision import transforms

    class Roads(Dataset):
        def __init__(self, pairs):
            self.pairs = pairs
            self.colour = transforms.ColorJitter(0.2)

        def __getitem__(self, i):
            image, mask = self.pairs[i]
            if random.random() < 0.5:
                image = TF.hflip(image)
                mask = TF.hflip(mask)
            return TF.to_tensor(self.colour(image)), TF.to_tensor(mask)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import (
    Block,
    Event,
    Expr,
    External,
    Function,
    Index,
    Instance,
    Spot,
    is_sibling,
    is_test,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "mask-not-transformed",
    "data",
    "error",
    "",
    suspects=("augmentation",),
    claims=("flip-label-bug-still-trains",),
    look="draw ten images with their masks on top, as they enter the model",
)
_MASK = re.compile(
    r"(^|_|\.)(masks?|seg|segmentation|seg_?map|label_?map|gt_?mask|annotation_mask)(_|\[|$)", re.IGNORECASE
)
_IMAGE = re.compile(r"(^|_|\.)(images?|imgs?|pictures?|x|inputs?|frames?)(_|\[|$)", re.IGNORECASE)
_RANDOM = (
    "RandomHorizontalFlip", "RandomVerticalFlip", "RandomRotation", "RandomCrop", "RandomResizedCrop", "RandomAffine",
    "RandomPerspective", "RandomSizedCrop", "ElasticTransform",
)  # fmt: skip
_SURE = ("0", "0.0", "1", "1.", "1.0")
_MOVING = (
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
_READING = ("open", "imread", "read_image", "load", "fromarray")
_RESETTING = ("seed", "manual_seed", "setstate", "set_state", "set_rng_state")


class _Move(NamedTuple):
    """At event `position`, the pixels of an image (or of a mask) move at random by `how`."""

    position: int
    is_mask: bool
    call: Expr
    how: str


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if function.name in ("__getitem__", "__call__", "transform", "augment") and not is_test(function.path):
            moves = list(_moves(index, function)) if _has_mask(function) else []
            if moves:
                yield _examined(function, moves)


def _has_mask(function: Function) -> bool:
    """It is given a mask, or reads one of the data; a mask that it makes up, for inpainting, needs no moving."""
    if any(_MASK.search(parameter.name) for parameter in function.parameters):
        return True
    asked = [parameter.name for parameter in function.parameters[1:2]]
    for event in function.events:
        if event.value is not None and any(_MASK.search(target.text) for target in _targets(event)):
            reads = any(part.kind == "call" and part.last in _READING for part in event.value.walk())
            return reads or mentions(event.value, asked)
    return False


def _targets(event: Event) -> Iterator[Expr]:
    for target in event.targets:
        yield from (part for part in target.walk() if part.kind == "path")


def _moves(index: Index, function: Function) -> Iterator[_Move]:
    for position, event in enumerate(function.events):
        for call in event.calls:
            given = call.arguments[0] if len(call.arguments) >= 1 else None
            if given is None or call.keyword("mask") is not None:
                continue
            how = _how(index, function, position, call)
            names = written(given)
            if how and (_MASK.search(names) or _IMAGE.search(names)) and not _is_pair(call):
                yield _Move(position, bool(_MASK.search(names)), call, how)


def _is_pair(call: Expr) -> bool:
    """Image and mask go in together."""
    return len(call.parts) > 2 and any(_MASK.search(written(part)) for part in call.parts[2:])


def _how(index: Index, function: Function, position: int, call: Expr) -> str:
    """The random geometric transform that a call applies; "" for any other call."""
    if call.last in _MOVING and call.receiver is not None:
        module = index.resolve(function, call.callee) if call.callee else None
        is_known = isinstance(module, External) and module.name.startswith(("torchvision", "numpy", "cv2", "PIL"))
        return call.last if is_known and _is_drawn(function, position) else ""
    for thing in index.objects.of(call.parts[0], Spot(function, position)):
        if isinstance(thing, Instance) and (found := _random(index, thing, 3)):
            return found
    return ""


def _is_drawn(function: Function, position: int) -> bool:
    """A condition on a random number decides on it."""
    return any(
        test is not None and any("rand" in part.text.lower() for part in test.walk() if part.kind == "path")
        for branch in function.events[position].block.branches
        for test in branch.tests
    )


def _random(index: Index, thing: Instance, depth: int, is_drawn: bool = False) -> str:
    """`is_drawn`: a draw around it decides whether it is applied."""
    last = thing.name.rpartition(".")[2]
    if isinstance(thing.kind, External) and thing.name.startswith("torchvision."):
        if last in _RANDOM:
            return last if is_drawn or not _is_fixed(thing, last) else ""
        if last in ("Compose", "RandomApply", "RandomOrder") and thing.call is not None and thing.spot is not None:
            for part in thing.call.arguments[:1] if depth else ():
                for member in index.members.of(part, thing.spot):
                    for inner in index.objects.of(member.expr, member.spot):
                        is_inner = is_drawn or last == "RandomApply"
                        if isinstance(inner, Instance) and (found := _random(index, inner, depth - 1, is_inner)):
                            return found
    return ""


def _is_fixed(thing: Instance, name: str) -> bool:
    """It does the same to all, whatever it is called: RandomHorizontalFlip(p=1), RandomRotation((90, 90))."""
    call = thing.call
    if call is not None and name in ("RandomHorizontalFlip", "RandomVerticalFlip"):
        chance = call.argument(0, "p")
        return chance is not None and chance.text in _SURE
    degrees = call.argument(0, "degrees") if call is not None and name == "RandomRotation" else None
    ends = (
        {written(part) for part in degrees.parts} if degrees is not None and degrees.kind in ("tuple", "list") else ()
    )
    return len(ends) == 1


def _examined(function: Function, moves: list[_Move]) -> Finding:
    path = function.path
    images = [move for move in moves if not move.is_mask]
    masks = [move for move in moves if move.is_mask]
    for move in images:
        partners = [m for m in masks if not is_sibling(_block(function, m), _block(function, move))]
        if any(_is_one_draw(function, move, mask) for mask in partners):
            continue
        if not partners and _moves_pairs(function, move):
            continue
        return _failure(function, move, partners[0] if partners else None)
    return SAY.passed(path, function.line, "image and mask move together")


def _block(function: Function, move: _Move) -> Block:
    return function.events[move.position].block


def _is_one_draw(function: Function, image: _Move, mask: _Move) -> bool:
    """Both under the same condition, or from a state that was set in between."""
    drawn = [b for b in _block(function, image).branches if b in _block(function, mask).branches]
    if image.how in _MOVING and drawn:
        return True
    first, last = sorted((image.position, mask.position))
    between = function.events[first : last + 1]
    return any(call.last in _RESETTING for event in between for call in event.calls)


def _moves_pairs(function: Function, move: _Move) -> bool:
    """The mask is changed in ways that are not resolved, under the same condition or by the same transform."""
    for event in function.events:
        for call in event.calls:
            if call is move.call:
                continue
            about_mask = any(_MASK.search(written(part)) for part in call.parts[1:])
            if about_mask and (call.last in _MOVING or written(call.parts[0]) == written(move.call.parts[0])):
                return True
    drawn = _block(function, move).branches
    return move.how in _MOVING and any(
        (event.block.branches == drawn or set(event.block.branches) & set(drawn))
        and any(_MASK.search(target.text) for target in _targets(event))
        for event in function.events
    )


def _failure(function: Function, image: _Move, mask: _Move | None) -> Finding:
    path, line = function.path, image.call.line
    other = (
        Link(path, mask.call.line, f"{written(mask.call)} draws anew")
        if mask is not None
        else Link(path, function.line, f"nothing moves the mask in {function.name}")
    )
    chain = (Link(path, line, f"{written(image.call)} moves the pixels by {image.how}, at random"), other)
    but = "its mask draws for itself" if mask is not None else "its mask stays as it is"
    message = (
        f"{written(image.call)} at {path}:{line} moves the image by {image.how} at random, but {but}, so pixels and labels "
        "do not meet: expected one draw for both."
    )
    return SAY.fail(path, line, message, chain, "medium")
