"""An image is turned, cropped or mirrored at random, and its mask is not, or otherwise.

A random geometric transform moves the pixels. The mask has to move the same way: left as it is, or given its
own draw of the same random transform, its pixels belong to other places. So it is where albumentations is given image=
alone, and for labels that are pictures. The loss falls to the average mask and stays there.

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
    bound_names,
    is_sibling,
    is_test,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._moving import MOVING, draws, is_reset_between, random_move
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
_READING = ("open", "imread", "read_image", "load", "fromarray")


_DENSE = re.compile(
    r"(^|_|\.)(labels?|lbl|targets?|gt|ground_?truth|depth|trimap|anno(tation)?)(_(img|image|map))?$", re.I
)
_UNPAIRED = re.compile(rb"source|src|style|template|query|anchor|reference")  # a target of another kind
_TRANSFORM = re.compile(r"transform|aug|tf", re.I)
_NUMBERS = ("array", "asarray", "tensor", "as_tensor", "astype", "int", "float", "long", "FloatTensor", "LongTensor")
_PICTURES = ("Image.open", "imread", "read_image")


class _Move(NamedTuple):
    """At event `position`, the pixels of an image (or of a mask) move at random by `how`."""

    position: int
    is_mask: bool
    call: Expr
    how: str


class _Masks:
    """What is a mask in a function, by its name: also a label, target or depth that is read as a picture there, or transformed
    as the picture is.
    """

    def __init__(self, function: Function) -> None:
        is_unpaired = function.source.holds(_UNPAIRED)
        found = [] if is_unpaired else [*_read_as_pictures(function), *_transformed_alike(function)]
        self._pictures = {name for name in found if _DENSE.search(name)}
        bound = [one for one in function.events if one.value is not None and any(map(_MASK.search, bound_names(one)))]
        asked = [parameter.name for parameter in function.parameters[1:2]]
        is_given = any(_MASK.search(parameter.name) for parameter in function.parameters)
        self.are_pictures = bool(self._pictures) or is_given or any(map(_reads, bound))
        self.are_there = self.are_pictures or any(mentions(event.value, asked) for event in bound)

    def are_in(self, expr: Expr) -> bool:
        return bool(_MASK.search(written(expr))) or any(
            (part.kind == "path" and part.text in self._pictures)
            or (part.kind == "keyword" and _MASK.search(part.text))
            for part in expr.walk()
        )


def _reads(event: Event) -> bool:
    return any(call.last in _READING for call in event.calls)


def _read_as_pictures(function: Function) -> Iterator[str]:
    """label = Image.open(path), also where it is one of several in a tuple."""
    for event in function.events:
        if len(event.targets) == 1 and event.value is not None:
            target, value = event.targets[0], event.value
            is_each = target.kind == value.kind == "tuple" and len(target.parts) == len(value.parts)
            for name, made in zip(target.parts, value.parts, strict=True) if is_each else [(target, value)]:
                if name.kind == "path" and any(part.callee.endswith(_PICTURES) for part in made.walk()):
                    yield name.text


def _transformed_alike(function: Function) -> Iterator[str]:
    """self.transform(image) and self.transform(target), where nothing says that the target is made of numbers."""
    given: dict[str, set[str]] = {}
    numbers: set[str] = set()
    for event in function.events:
        if any(call.last in _NUMBERS for call in event.calls):
            numbers.update(bound_names(event))
        for call in event.calls:
            if call.callee and len(call.parts) == 2 and call.parts[1].kind == "path" and _TRANSFORM.search(call.last):
                given.setdefault(call.callee, set()).add(call.parts[1].text)
    for names in given.values():
        if any(map(_IMAGE.search, names)):
            yield from names - numbers


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if function.name in ("__getitem__", "__call__", "transform", "augment") and not is_test(function.path):
            masks = _Masks(function)
            moves = list(_moves(index, function, masks)) if masks.are_there else []
            if moves:
                yield _examined(function, moves, masks)


def _targets(event: Event) -> Iterator[Expr]:
    for target in event.targets:
        yield from (part for part in target.walk() if part.kind == "path")


def _moves(index: Index, function: Function, masks: _Masks) -> Iterator[_Move]:
    for position, event in enumerate(function.events):
        for call in event.calls:
            given = _given(call, masks)
            if given is None or call.keyword("mask") is not None:
                continue
            is_mask = masks.are_in(given)
            if (is_mask or _IMAGE.search(written(given))) and not any(map(masks.are_in, call.parts[2:])):
                if how := _how(index, function, position, call):
                    yield _Move(position, is_mask, call, how)


def _given(call: Expr, masks: _Masks) -> Expr | None:
    """The picture that goes in: first, or alone under the name image, beside a mask that is a picture too."""
    if call.arguments:
        return call.arguments[0]
    return call.keyword("image") if len(call.parts) == 2 and masks.are_pictures else None


def _how(index: Index, function: Function, position: int, call: Expr) -> str:
    """The random geometric transform that a call applies; "" for any other call."""
    if call.last in MOVING and call.receiver is not None:
        module = index.resolve(function, call.callee) if call.callee else None
        is_known = isinstance(module, External) and module.name.startswith(("torchvision", "numpy", "cv2", "PIL"))
        return call.last if is_known and _is_drawn(function, position) else ""
    if _is_chosen_by_kind(function, position, call):
        return ""
    for thing in index.objects.of(call.parts[0], Spot(function, position)):
        if isinstance(thing, Instance) and (found := random_move(index, thing)):
            return found
    return ""


def _is_drawn(function: Function, position: int) -> bool:
    """A condition on a random number decides on it."""
    return any(draws(test) for branch in function.events[position].block.branches for test in branch.tests)


def _is_chosen_by_kind(function: Function, position: int, call: Expr) -> bool:
    """Under isinstance(transform, Resize) it is not any of those that it may be."""
    tests = (branch.test for branch in function.events[position].block.branches if branch.test is not None)
    kinds = (part for test in tests for part in test.walk() if part.last == "isinstance")
    return any(mentions(kind, [call.callee]) for kind in kinds)


def _examined(function: Function, moves: list[_Move], masks: _Masks) -> Finding:
    path = function.path
    images = [move for move in moves if not move.is_mask]
    of_masks = [move for move in moves if move.is_mask]
    for move in images:
        partners = [m for m in of_masks if not is_sibling(_block(function, m), _block(function, move))]
        if any(_is_one_draw(function, move, mask) for mask in partners):
            continue
        if not partners and _moves_pairs(function, move, masks):
            continue
        return _failure(function, move, partners[0] if partners else None)
    return SAY.passed(path, function.line, "image and mask move together")


def _block(function: Function, move: _Move) -> Block:
    return function.events[move.position].block


def _is_one_draw(function: Function, image: _Move, mask: _Move) -> bool:
    """Both under the same condition, or from a state that was set in between."""
    drawn = [b for b in _block(function, image).branches if b in _block(function, mask).branches]
    if image.how in MOVING and drawn:
        return True
    return is_reset_between(function, image.position, mask.position)


def _moves_pairs(function: Function, move: _Move, masks: _Masks) -> bool:
    """The mask is changed in ways that are not resolved, under the same condition or by the same transform."""
    for event in function.events:
        for call in event.calls:
            if call is move.call:
                continue
            about_mask = any(map(masks.are_in, call.parts[1:]))
            if about_mask and (call.last in MOVING or written(call.parts[0]) == written(move.call.parts[0])):
                return True
    drawn = _block(function, move).branches
    return move.how in MOVING and any(
        (event.block.branches == drawn or set(event.block.branches) & set(drawn))
        and any(map(masks.are_in, _targets(event)))
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
