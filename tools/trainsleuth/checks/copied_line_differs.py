"""A line of the training stands in the evaluation too, and differs from it in a sign, an axis, a slice or a scale.

delta[1:] where the loss reads the answers, delta[:-1] where the score does; argmax(1) and argmax(2); x.transpose(0, 1) before the network in
one loop and not in the other; x / 255 and x. The lines around it are the same in both, so it was copied, and one of
the two was changed alone. The loss falls, and the score is of something else.

Question to answer: which of the two is meant?

Fix: the same in both, best in one function that both call.

Cannot see: copies in other files, lines that differ in more than one place, names that differ by more than the part of the data that they are of.

Bad:
    import torch

    def train_epoch(model, loader, optimizer, loss_of):
        for frames, answers in loader:
            asked = frames[:, :, :8] + frames[:, :, 8:]
            scores = (model(frames)[:, :-1] * asked[:, 1:]).sum(2)
            loss = loss_of(scores, answers[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    def test_epoch(model, loader, auc):
        for frames, answers in loader:
            asked = frames[:, :, :8] + frames[:, :, 8:]
            scores = (model(frames)[:, :-1] * asked[:, :-1]).sum(2)
            auc.update(scores, answers[:, 1:])

Bad (an axis):
    import torch

    def train(model, loader, optimizer, loss_of):
        for x, y in loader:
            scores = model(x.float() / 255.0, y)
            loss = loss_of(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            predicted = torch.argmax(scores, dim=2)
            print((predicted == y).float().mean())

    def validate(model, loader):
        with torch.no_grad():
            for x, y in loader:
                scores = model(x.float() / 255.0, y)
                predicted = torch.argmax(scores, dim=1)
                print((predicted == y).float().mean())

Good:
    import torch

    def train_epoch(model, loader, optimizer, loss_of):
        for frames, answers in loader:
            asked = frames[:, :, :8] + frames[:, :, 8:]
            scores = (model(frames)[:, :-1] * asked[:, 1:]).sum(2)
            loss = loss_of(scores, answers[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    def test_epoch(model, loader, auc):
        for frames, answers in loader:
            asked = frames[:, :, :8] + frames[:, :, 8:]
            scores = (model(frames)[:, :-1] * asked[:, 1:]).sum(2)
            auc.update(scores, answers[:, 1:])
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from trainsleuth.facts import Event, Expr, FileFacts, Function, Index, is_test, written
from trainsleuth.finding import Finding, Link

from ._sides import side
from ._verdicts import Verdicts

SAY = Verdicts(
    "copied-line-differs",
    "eval",
    "warning",
    "",
    suspects=("preprocessing-mismatch", "another-loss-fault"),
    claims=("val-loss-not-comparable",),
    look="read the two functions beside each other, and say what the line is to give in both",
    forms={
        "part": "another part of the same tensor",
        "axis": "another axis",
        "sign": "another sign, or a difference the other way round",
        "turned": "axes in another order",
        "scale": "another scale",
    },
)
_LEARNS = (re.compile(rb"backward\("), re.compile(rb"def (?:\w+_)?(?:train|fit)"))
_IS_LOSS = re.compile(r"loss|criterion", re.IGNORECASE)
ALIKE = 7  # parts of expressions in other lines that are the same on both sides
_REDUCES = (
    "argmax", "argmin", "max", "min", "softmax", "log_softmax", "sum", "mean", "topk", "sort", "argsort", "cat", "stack", "norm", "cumsum",
    "gather", "squeeze", "unsqueeze", "flip", "roll", "std", "var", "logsumexp", "normalize", "cosine_similarity",
)  # fmt: skip
_TURNS = ("transpose", "permute", "t", "swapaxes", "movedim")
_SCALES = ("255", "255.0", "255.", "256", "256.0", "127.5", "128.0", "128")  # of pictures
_MEASURED = re.compile(
    r"loss|obj|elbo|ll(?:_|$)|likelihood|snr|sdr|metric|acc|err|mi$|reward|total|running|correct|psnr|dist",
    re.IGNORECASE,
)
_SHOWN = re.compile(r"img|image|vis|plot|grid|fig|show|draw", re.IGNORECASE)
_OF_PART = re.compile(
    r"(?<![a-z])(?:train|training|val|valid|validation|test|eval|dev)_|_(?:train|training|val|valid|validation|test|eval|dev)(?![a-z])",
    re.IGNORECASE,
)
_ENDS = frozenset(["1:", ":-1"])
_TIMES = frozenset(["*", "/"])


def check(index: Index) -> Iterator[Finding]:
    for file in index.files_holding(*_LEARNS):
        if not is_test(file.path):
            trained, evaluated = _sides(file)
            for one, other in product(trained.items(), evaluated.items()):
                yield from _compared(*one, *other)


def _sides(file: FileFacts) -> tuple[dict[Function, list[Event]], dict[Function, list[Event]]]:
    """What each function computes where it trains or is a loss, and where it evaluates."""
    sides: tuple[dict[Function, list[Event]], dict[Function, list[Event]]] = ({}, {})
    for function in file.functions.values():
        is_loss = bool(_IS_LOSS.search(function.qualname))
        for position, event in enumerate(function.events):
            if (
                event.kind in ("assign", "augment")
                and event.value is not None
                and len(event.targets) == 1
                and event.value.parts
            ):
                trains = True if is_loss else side(function, position)
                if trains is not None:
                    sides[not trains].setdefault(function, []).append(event)
    return sides


def _compared(trained: Function, mine: list[Event], evaluated: Function, its: list[Event]) -> Iterator[Finding]:
    """Lines that give the same names, the first to the first, where most of what they compute is the same."""
    pairs = list(_paired(mine, its))
    same = [one for one, other in pairs if _value(one) == _value(other)]
    if sum(map(_size, same)) < ALIKE:
        return
    failed = False
    for one, other in pairs:
        assert one.value is not None and other.value is not None
        found = None if _value(one) == _value(other) else _apart(one.value, other.value, None)
        if found is None:
            continue
        form, what = found
        if _is_meant(written(other.targets[0]), form, trained, evaluated):
            continue
        path, name = evaluated.path, written(other.targets[0])
        chain = (
            Link(path, one.line, f"in {trained.name}: {name} = {written(one.value)}"),
            Link(path, other.line, f"in {evaluated.name}: {name} = {written(other.value)}"),
        )
        message = (
            f"{name} at {path}:{other.line} is computed as at {path}:{one.line}, but for {what}, and {len(same)} other line{'s are' if len(same) > 1 else ' is'} the same in "
            f"{trained.name}() and {evaluated.name}(): which of the two is meant?"
        )
        failed = True
        yield SAY.fail(path, other.line, message, chain, "medium", form=form)
    if not failed:
        yield SAY.passed(evaluated.path, evaluated.line, f"{len(same)} lines are those of {trained.name}")


def _is_meant(name: str, form: str, *functions: Function) -> bool:
    """A score with the sign of a loss, a picture that is shown, a difference that is squared or measured either way."""
    if form == "sign":
        own = re.escape(name.encode())
        squared = re.compile(
            rb"\b%s\)?(?: ?\*\* ?2|\.(?:square|pow|abs|norm)\()|(?:square|pow|abs|norm|mse\w*)\(%s\b" % (own, own)
        )
        return bool(_MEASURED.search(name)) or any(function.source.holds(squared) for function in functions)
    return form == "turned" and bool(_SHOWN.search(name))


def _paired(mine: list[Event], its: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Of names that both sides set as often."""
    names = (
        [_neutral(written(event.targets[0])) for event in mine],
        [_neutral(written(event.targets[0])) for event in its],
    )
    for name in dict.fromkeys(names[0]):
        if names[0].count(name) == names[1].count(name):
            first = (event for event, own in zip(mine, names[0], strict=True) if own == name)
            second = (event for event, own in zip(its, names[1], strict=True) if own == name)
            yield from zip(first, second, strict=True)


def _neutral(name: str) -> str:
    """val_loss and train_loss are one."""
    return _OF_PART.sub("", name)


def _spelled(expr: Expr) -> tuple[object, ...]:
    """An expression to compare with others by, with names that do not tell of which part of the data they are."""
    return expr.kind, _neutral(expr.text) if expr.kind == "path" else expr.text, *map(_spelled, expr.parts)


def _value(event: Event) -> tuple[object, ...]:
    assert event.value is not None
    return _spelled(event.value)


def _size(event: Event) -> int:
    return sum(1 for _ in event.value.walk()) if event.value is not None else 0


def _apart(mine: Expr, its: Expr, around: Expr | None) -> tuple[str, str] | None:
    """(form, in words) of the one place where two expressions differ; None where they differ otherwise."""
    if told := _told(mine, its, around):
        return told
    if (mine.kind, mine.text, len(mine.parts)) != (its.kind, its.text, len(its.parts)):
        return None
    parts = [(a, b) for a, b in zip(mine.parts, its.parts, strict=True) if _spelled(a) != _spelled(b)]
    return _apart(*parts[0], mine) if len(parts) == 1 else None


def _told(mine: Expr, its: Expr, around: Expr | None) -> tuple[str, str] | None:
    said = f"{written(its)} for {written(mine)}"
    if mine.kind == its.kind == "slice" and {written(mine), written(its)} == _ENDS:
        return "part", said
    if _is_axis(mine, around) and _is_axis(its, around) and mine.kind == its.kind:  # -1 and 1 may be the same
        return "axis", f"axis {said}"
    if mine.kind == its.kind == "binary" and mine.text == its.text == "-" and len(mine.parts) == len(its.parts) == 2:
        if list(map(_spelled, mine.parts)) == list(map(_spelled, reversed(its.parts))):
            return "sign", said
    for whole, bare in ((mine, its), (its, mine)):
        if (
            whole.kind == "unary"
            and whole.text == "-"
            and _spelled(whole.parts[0]) == _spelled(bare)
            and bare.kind != "number"
        ):
            return "sign", said
        inner = whole.receiver if whole.kind == "call" and whole.last in _TURNS else None
        if inner is not None and _spelled(inner) == _spelled(bare):
            return "turned", said
        if (
            whole.kind == "binary"
            and whole.text in _TIMES
            and whole.parts[1].text in _SCALES
            and _spelled(whole.parts[0]) == _spelled(bare)
        ):
            return "scale", said
    return None


def _is_axis(expr: Expr, around: Expr | None) -> bool:
    """A number that is given as an axis: argmax(1), softmax(x, dim=-1)."""
    bare = expr.parts[0] if expr.kind == "unary" and expr.text == "-" else expr
    if bare.kind != "number" or around is None:
        return False
    return (around.kind == "keyword" and around.text in ("dim", "axis")) or (
        around.kind == "call" and around.last in _REDUCES
    )
