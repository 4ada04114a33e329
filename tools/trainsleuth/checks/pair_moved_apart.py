"""Two pictures that belong together are flipped by two draws.

Where the two halves of one file, or a picture and its depth, are mirrored each by a random number of its own, in half of all
cases one is mirrored and the other one is not: what should be learned pixel by pixel does not meet. The loss falls to the
average of both, and the output is blurred.

Fix: draw once, and flip both under the one condition.

Cannot see: pictures whose names and origin do not say that they belong together; image and mask are looked at by
mask-not-transformed.

Bad:
    import numpy as np
    from PIL import Image
    from torch.utils.data import Dataset

    class Facades(Dataset):
        def __init__(self, files, transform):
            self.files, self.transform = files, transform

        def __getitem__(self, index):
            both = Image.open(self.files[index])
            w, h = both.size
            plan = both.crop((0, 0, w / 2, h))
            photo = both.crop((w / 2, 0, w, h))
            if np.random.random() < 0.5:
                plan = Image.fromarray(np.array(plan)[:, ::-1, :])
            if np.random.random() < 0.5:
                photo = Image.fromarray(np.array(photo)[:, ::-1, :])
            return self.transform(plan), self.transform(photo)

Good:
    import numpy as np
    from PIL import Image
    from torch.utils.data import Dataset

    class Facades(Dataset):
        def __init__(self, files, transform):
            self.files, self.transform = files, transform

        def __getitem__(self, index):
            both = Image.open(self.files[index])
            w, h = both.size
            plan = both.crop((0, 0, w / 2, h))
            photo = both.crop((w / 2, 0, w, h))
            if np.random.random() < 0.5:
                plan = Image.fromarray(np.array(plan)[:, ::-1, :])
                photo = Image.fromarray(np.array(photo)[:, ::-1, :])
            return self.transform(plan), self.transform(photo)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from trainsleuth.facts import Branch, Expr, Function, Index, is_sibling, is_test, written
from trainsleuth.finding import Finding, Link

from ._moving import MOVING, is_reset_between
from ._verdicts import Verdicts

SAY = Verdicts(
    "pair-moved-apart",
    "data",
    "error",
    "",
    suspects=("augmentation",),
    claims=("flip-label-bug-still-trains",),
    look="draw ten pairs beside each other, as they enter the model",
    sure=("",),
)
_WORDS = re.compile(rb"rand\w*[.(][^\n]*:\s*\n[^\n]*(?:flip|FLIP|::[ \t]*-1|rot90|ROTATE)")
_PICTURE = re.compile(
    r"(^|_)(images?|imgs?|rgb|colou?r|x|inputs?|frames?|pictures?|noisy|hazy|blur(red|ry)?|rain(y)?|lr|low)(_|$)", re.I
)
_COUNTERPART = re.compile(
    r"(^|_)(labels?|lbl|targets?|gt|ground_?truth|depth|disp(arity)?|normals?|clean|sharp|clear|hr|high)(_|$)", re.I
)
_HALF = re.compile(r"/ 2\b|// 2\b|half|w_?2\b")


class _Turn(NamedTuple):
    """Under a draw of its own, `name` becomes the mirror image of itself; `form` is how, whatever it is called."""

    position: int
    name: str
    value: Expr
    branch: Branch
    form: tuple[str, str]


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_WORDS):
        if not is_test(function.path):
            turns = list(_turns(function))
            alone = [one for one in turns if not any(_goes_with(one, other) for other in turns)]
            for one, other in combinations(alone, 2):
                if one.form == other.form and one.name != other.name and _are_apart(function, one, other):
                    if why := _belong(function, one, other):
                        yield _failure(function, one, other, why)


def _goes_with(one: _Turn, other: _Turn) -> bool:
    """Two names under one draw: what belongs to the picture is turned with it."""
    return one.name != other.name and (one.branch.id, one.branch.arm) == (other.branch.id, other.branch.arm)


def _turns(function: Function) -> Iterator[_Turn]:
    for position, event in enumerate(function.events):
        branch = event.block.branches[-1] if event.block.branches else None
        target = event.targets[0] if event.kind == "assign" and len(event.targets) == 1 else None
        if branch is None or branch.test is None or target is None or target.kind != "path" or event.value is None:
            continue
        if _is_draw(branch.test) and _is_turned(event.value):
            form = re.sub(rf"\b{re.escape(target.text)}\b", "·", written(event.value, 200))
            if "·" in form:
                yield _Turn(position, target.text, event.value, branch, (form, written(branch.test, 200)))


def _is_draw(test: Expr) -> bool:
    """The number is drawn in the condition, so anew for each."""
    return any(part.kind == "call" and "rand" in part.callee.lower() for part in test.walk())


def _is_turned(value: Expr) -> bool:
    for part in value.walk():
        if part.kind == "call" and (part.last in MOVING or any("FLIP" in one.last for one in part.arguments)):
            return True
        if part.kind == "slice" and part.text.startswith("::") and [written(one) for one in part.parts] == ["-1"]:
            return True
    return False


def _are_apart(function: Function, one: _Turn, other: _Turn) -> bool:
    """By two draws, whenever both are made."""
    here, there = function.events[one.position].block, function.events[other.position].block
    if one.branch.id == other.branch.id or here.loops != there.loops or is_sibling(here, there):
        return False
    return not is_reset_between(function, one.position, other.position)


def _belong(function: Function, one: _Turn, other: _Turn) -> str:
    """Why they do; "" where nothing says so."""
    for picture, counterpart in ((one.name, other.name), (other.name, one.name)):
        if _is_drawn(function, one) or _is_drawn(function, other):
            break
        if _PICTURE.search(picture) and not _COUNTERPART.search(picture) and _COUNTERPART.search(counterpart):
            return f"{counterpart} belongs to {picture}"
    wholes = [_whole(function, turn) for turn in (one, other)]
    if wholes[0] and wholes[0] == wholes[1]:
        return f"both are halves of {wholes[0]}"
    return ""


def _is_drawn(function: Function, turn: _Turn) -> bool:
    """It is any of its kind: noisy = self.noisy[random.randrange(n)]."""
    return any(
        event.value is not None
        and any(target.text == turn.name for target in event.targets)
        and "rand" in written(event.value, 200)
        for event in function.events[: turn.position]
    )


def _whole(function: Function, turn: _Turn) -> str:
    """What it is cut out of by a half: image.crop((0, 0, w / 2, h)), image[:, : w // 2]."""
    for event in reversed(function.events[: turn.position]):
        if (
            event.kind == "assign"
            and any(target.text == turn.name for target in event.targets)
            and event.value is not None
        ):
            cut = event.value
            owner = cut.receiver if cut.last == "crop" else cut.parts[0] if cut.kind == "index" else None
            is_half = any(_HALF.search(written(part, 200)) for part in cut.parts[1:])
            return owner.text if owner is not None and owner.kind == "path" and is_half else ""
    return ""


def _failure(function: Function, one: _Turn, other: _Turn, why: str) -> Finding:
    path, line = function.path, other.value.line
    chain = (
        Link(path, one.value.line, f"{one.name} is turned where {written(one.branch.test) if one.branch.test else ''}"),
        Link(path, line, f"{other.name} is turned by another draw"),
    )
    message = (
        f"{other.name} at {path}:{line} and {one.name} at line {one.value.line} are turned by two draws, but {why}: in many pairs "
        "one is mirrored and the other one is not. Expected one draw for both."
    )
    return SAY.fail(path, line, message, chain)
