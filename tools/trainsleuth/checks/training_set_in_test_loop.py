"""A loop over the batches of the test set takes them out of the training set.

Where one function serves both, forward(model, i, train_data) is copied from the loop that trains into the loop that tests. The
numbers of the batches are those of the test set, the examples are not: what is reported is the score on examples that were
trained on [leakage-is-widespread].

Question to answer: is the score on the training set meant?

Fix: forward(model, i, test_data).

Cannot see: loops over the examples themselves, and those whose source does not name the test set.

Bad:
    def epoch(model, forward, loss_of, train_data, test_data, size):
        for i in train_data.batches(size):
            scores, targets = forward(model, i, train_data)
            loss_of(scores, targets).backward()
            model.optimizer.step()
            model.optimizer.zero_grad()
        hits = []
        batches = test_data.batches(size)
        for i in batches:
            scores, targets = forward(model, i, train_data)
            hits.append((scores.argmax(1) == targets).float().mean())
        return sum(hits) / len(hits)

Good:
    def epoch(model, forward, loss_of, train_data, test_data, size):
        for i in train_data.batches(size):
            scores, targets = forward(model, i, train_data)
            loss_of(scores, targets).backward()
            model.optimizer.step()
            model.optimizer.zero_grad()
        hits = []
        batches = test_data.batches(size)
        for i in batches:
            scores, targets = forward(model, i, test_data)
            hits.append((scores.argmax(1) == targets).float().mean())
        return sum(hits) / len(hits)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import (
    Event,
    Expr,
    Function,
    Index,
    Loop,
    header_of,
    is_test,
    mentions,
    reaching,
    spelled,
    written,
)
from trainsleuth.facts.data.splits import counterpart, held_out, is_training_part
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "training-set-in-test-loop",
    "data",
    "warning",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="compare the first example that is tested with that of the training set",
)
_PARTS = (rb"test", rb"Test", rb"TEST", rb"val(?:id)?", rb"Val(?:id)?", rb"VAL(?:ID)?", rb"holdout")
_NAMES = re.compile(b"|".join(part + rb"(?:_\w+)?(?:\.\w+\(|\)|\.shape)" for part in _PARTS))
_TRAINING = re.compile(rb"train|tr_|_tr\b"), re.compile(rb"for\b")
_COUNTS = ("range", "arange", "trange", "len", "tqdm", "zip", "enumerate", "list", "shape")


class _Loop(NamedTuple):
    """A loop whose target numbers batches of `held`."""

    loop: Loop
    numbers: tuple[str, ...]
    held: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_NAMES):
        if not is_test(function.path) and all(map(function.source.holds, _TRAINING)):
            for one in _loops(function):
                yield _examined(function, one)


def _loops(function: Function) -> Iterator[_Loop]:
    """for i in range(len(test_x)), and for i in batches after batches = test_data.batches(size)."""
    for loop in function.loops:
        if loop.kind != "for" or loop.source is None or loop.target is None:
            continue
        sources = [loop.source]
        names = {part.text for part in loop.source.walk() if part.kind == "path" and part.last not in _COUNTS}
        place = header_of(function, loop)
        for name in names:
            found, _ = reaching(function, name, place)
            sources += [one.value for one in found[:1] if one.value is not None and one.kind == "assign"]
        numbers = tuple(part.text for part in loop.target.walk() if part.kind == "path")
        held = [one for source in sources for one in _counted(source)]
        if held and numbers and not any(map(_is_training, sources)):
            yield _Loop(loop, numbers, held[0])


def _counted(source: Expr) -> Iterator[Expr]:
    """What is counted, or asked for numbers of batches, and called a test set."""
    for part in source.walk():
        if part.kind == "call":
            owner = part.receiver
            if owner is not None and owner.kind == "path" and held_out(owner):
                yield owner
            if part.last == "len" and part.arguments and held_out(part.arguments[0]):
                yield part.arguments[0]
        elif part.kind == "path" and part.text.endswith(".shape") and (owner := part.receiver) and held_out(owner):
            yield owner


def _is_training(source: Expr) -> bool:
    return any(is_training_part(part) for part in source.walk())


def _examined(function: Function, one: _Loop) -> Finding:
    path, held = function.path, one.held
    for event in function.events:
        if one.loop.id not in event.block.loops or event.value is None or mentions(event.value, (held.text,)):
            continue
        for part in event.value.walk():
            if (training := _taken(part, one)) is not None and (other := _elsewhere(function, one, part)) is not None:
                return _failure(path, one, part, training, other)
    return SAY.passed(path, one.loop.line, f"nothing of the training set is taken by the numbers of {held.text}")


def _taken(part: Expr, one: _Loop) -> Expr | None:
    """The training set that gives its part with the number of a batch: f(i, train_data), train_x[i]."""
    if part.kind not in ("call", "index"):
        return None
    given = part.parts if part.kind == "index" else part.parts[1:]
    by_number = any(inner.kind == "path" and inner.text in one.numbers for each in given for inner in each.walk())
    known = [each for each in given if is_training_part(each) and counterpart(one.held, [each.text])]
    return known[0] if known and by_number else None


def _elsewhere(function: Function, one: _Loop, part: Expr) -> Event | None:
    """The same words in another loop, where they are right."""
    text = spelled(part)
    for event in function.events:
        loops = event.block.loops
        if loops and one.loop.id not in loops and event.value is not None:
            if any(other.kind == part.kind and spelled(other) == text for other in event.value.walk()):
                return event
    return None


def _failure(path: str, one: _Loop, part: Expr, training: Expr, other: Event) -> Finding:
    shown, held = written(part), one.held.text
    chain = (
        Link(path, one.loop.line, f"the loop goes over batches of {held}"),
        Link(path, part.line, f"{shown} takes them out of {training.text}"),
        Link(path, other.line, "as the loop that trains does"),
    )
    message = (
        f"the loop at {path}:{one.loop.line} goes over batches of {held}, and {shown} at {path}:{part.line} takes them out of "
        f"{training.text}, as line {other.line} does: the score is one on training examples. Is {held} meant?"
    )
    return SAY.fail(path, part.line, message, chain, "medium")
