"""A part of the batch is brought to the device, and nothing reads it.

A mask of padding, lengths, weights of examples: the data set makes it, the loop unpacks and moves it, and the line that
should use it was lost. The loss counts what the mask was to leave out, and training looks well.

Asks, for a part may be left over by design. Labels are not asked about: much is learnt without them.

Fix: use it where the loss or the model expects it, or leave it out of the batch.

Cannot see: parts that another function is given and does not read, and those that are never moved.

Bad:
    import torch

    def train(model, loader, criterion, optimizer, device):
        for tokens, labels, mask in loader:
            tokens, labels = tokens.to(device), labels.to(device)
            mask = mask.to(device)
            optimizer.zero_grad()
            criterion(model(tokens), labels).mean().backward()
            optimizer.step()

Good:
    import torch

    def train(model, loader, criterion, optimizer, device):
        for tokens, labels, mask in loader:
            tokens, labels = tokens.to(device), labels.to(device)
            mask = mask.to(device)
            optimizer.zero_grad()
            losses = criterion(model(tokens), labels)
            (losses * mask).mean().backward()
            optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test
from trainsleuth.finding import Finding, Link

from ._uses import times_named
from ._verdicts import Verdicts

SAY = Verdicts(
    "unread-batch-part",
    "loss",
    "note",
    "batch_as_seen",
    suspects=("another-loss-fault",),
    claims=("look-at-data-first",),
    look="look for the line that should use it: in the paper, in the evaluation, in a sibling of this function",
)
_MOVES = re.compile(rb"\.(?:to|cuda)\(")
_LABELS = re.compile(r"label|target|class|(^|_)y(_|$)|^_|^(gt|idx|index)", re.IGNORECASE)
_KEEPING = ("to", "cuda", "float", "long", "bool", "half", "detach", "contiguous", "squeeze", "unsqueeze", "type")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_MOVES):
        if is_test(function.path) or "backward" not in function.called:
            continue
        moved: dict[str, list[Event]] = {}
        for event in function.events:
            for name in _moved(event):
                moved.setdefault(name, []).append(event)
        for name, events in moved.items():
            if _is_of_batch(function, name, events):
                yield _examined(function, name, events)


def _moved(event: Event) -> Iterator[str]:
    """Names that a statement gives their own value on another device: mask = mask.to(device)."""
    value = event.value
    for target in event.targets if event.kind == "assign" and value is not None else ():
        pairs = [(target, value)]
        if target.kind == "tuple" and value is not None and value.kind == "tuple":
            pairs = list(zip(target.parts, value.parts, strict=False))
        yield from (one.text for one, given in pairs if given is not None and _is_moved(one, given))


def _is_moved(target: Expr, given: Expr) -> bool:
    calls = []
    while given.kind == "call" and given.last in _KEEPING and given.receiver is not None:
        calls.append(given.last)
        given = given.receiver
    return target.kind == given.kind == "path" and target.text == given.text and not {"to", "cuda"}.isdisjoint(calls)


def _is_of_batch(function: Function, name: str, events: list[Event]) -> bool:
    """Unpacked by the loop over the batches, or from one of them, in the function itself."""
    lines = {event.line for event in events}
    found = [one for one in bindings(function).get(name, ()) if function.events[one.position].line not in lines]
    return bool(found) and "." not in name and _LABELS.search(name) is None and all(one.items for one in found)


def _examined(function: Function, name: str, events: list[Event]) -> Finding:
    line = events[0].line
    if times_named(function, name) > len(bindings(function)[name]) + len(events):  # each move reads it once
        return SAY.passed(function.path, line, f"{name} is read")
    message = (
        f"{name} is unpacked, brought to the device at {function.path}:{line}, and read nowhere in {function.name}(): is it meant "
        "to have no part in the loss?"
    )
    return SAY.fail(function.path, line, message, (Link(function.path, line, f"{name} is moved here, and not read"),))
