"""What is to be done every few rounds is done in all the others.

if epoch % interval: is true in each round but every interval-th, since the remainder is 0 there and 0 is false. A rate that is to decay every ten epochs
decays nine times in ten, a checkpoint is written when none was due.

Fix: if epoch % interval == 0.

Cannot see: conditions that are computed before, or with other words.

Bad:
    def train(model, loader, optimizer, step, epochs, decay_interval):
        for epoch in range(1, epochs):
            if epoch % decay_interval:
                for group in optimizer.param_groups:
                    group["lr"] *= 0.5
            for batch in loader:
                step(model, batch, optimizer)

Good:
    def train(model, loader, optimizer, step, epochs, decay_interval):
        for epoch in range(1, epochs):
            if epoch % decay_interval == 0:
                for group in optimizer.param_groups:
                    group["lr"] *= 0.5
            for batch in loader:
                step(model, batch, optimizer)

Good (the others are passed over):
    def train(model, loader, save, step, log_every):
        for i, batch in enumerate(loader):
            step(model, batch)
            if i % log_every:
                continue
            save(model)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "modulo-upside-down",
    "training-procedure",
    "error",
    "",
    suspects=("another-loop-fault",),
    claims=("fails-silently",),
    look="count how often the branch is taken in an epoch",
)
_REMAINS = re.compile(rb"if[ \t(]+[\w.]+ *% *[\w.]+[ )]*:")
_COUNTS = re.compile(r"epoch|step|iter|batch|^(?:i|idx|n|t|k|it|ep|count|counter|j)$|_idx$", re.IGNORECASE)
_EVERY = re.compile(r"interval|every|freq|period|decay|save|log|print|eval|update|accum|step|num_|size", re.IGNORECASE)
_LEAVES = frozenset(["continue", "break", "return", "raise"])


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_REMAINS):
        if not is_test(function.path):
            for position, event in enumerate(function.events):
                if (
                    event.kind == "if"
                    and event.value is not None
                    and _is_remainder(event.value)
                    and _counts_rounds(function, event)
                ):
                    yield _examined(function, position, event, event.value)


def _counts_rounds(function: Function, event: Event) -> bool:
    """What is divided is the number of a loop around it, and no line beside it asks for the rounds that are due."""
    assert event.value is not None
    count, loops = event.value.parts[0].text, event.block.loops
    targets = {
        part.text for one in loops if (target := function.loops[one].target) is not None for part in target.walk()
    }
    inside = [one for one in function.events if loops and one.block.loops[:1] == loops[:1]]
    moved = any(one.kind == "augment" and one.targets[0].text == count for one in inside)
    tests = [part for one in inside if one.value is not None for part in one.value.walk() if part.kind == "compare"]
    is_asked = any(written(part.parts[0]) == written(event.value) for part in tests)
    return bool(loops) and (count in targets or moved) and not is_asked


def _is_remainder(test: Expr) -> bool:
    if test.kind != "binary" or test.text != "%" or len(test.parts) != 2:
        return False
    count, every = test.parts
    is_every = every.kind == "path" and bool(_EVERY.search(every.last))
    is_many = every.kind == "number" and every.text.isdigit() and int(every.text) > 4
    return count.kind == "path" and bool(_COUNTS.search(count.last)) and (is_every or is_many)


def _examined(function: Function, position: int, event: Event, test: Expr) -> Finding:
    path, line = function.path, event.line
    inside = [one for one in function.events[position + 1 :] if any(arm.test is test for arm in one.block.branches)]
    arms = {arm.arms for one in inside for arm in one.block.branches if arm.test is test}
    if not inside or arms != {1} or inside[-1].kind in _LEAVES:
        return SAY.passed(path, line, "the other rounds are passed over, or have a branch of their own")
    message = f"`if {written(test)}` at {path}:{line} is true in all rounds but every {written(test.parts[1])}-th, where the remainder is 0; expected == 0."
    return SAY.fail(path, line, message, (Link(path, line, f"{written(test)} is 0, and so false, where it is due"),))
