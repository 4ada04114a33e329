"""A mean is divided by the number of its parts once for each part.

In `for w in weights: mean += w; mean /= len(weights)` the division stands inside of the loop that adds up. What came first is
divided again with every round, so the result is the last part over n and next to nothing of the others. An average of the weights
of clients made so is close to 0, and the rounds learn nothing.

Fix: the division behind the loop.

Cannot see: numbers of parts that have a name of their own.

Bad:
    import copy
    import torch

    def average(states):
        mean = copy.deepcopy(states[0])
        for k in mean:
            for i in range(1, len(states)):
                mean[k] += states[i][k]
                mean[k] = torch.div(mean[k], len(states))
        return mean

Good:
    import copy
    import torch

    def average(states):
        mean = copy.deepcopy(states[0])
        for k in mean:
            for i in range(1, len(states)):
                mean[k] += states[i][k]
            mean[k] = torch.div(mean[k], len(states))
        return mean
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, Loop, bound_names, is_test, mentions, spelled, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "divided-in-the-sum",
    "training-procedure",
    "error",
    "",
    suspects=("another-loop-fault",),
    claims=("fails-silently",),
    look="give it equal parts: the mean should be one of them",
    sure=("",),
)
_DIVIDES = re.compile(rb"/=|div(?:ide)?\(|/[ \t]*(?:float\()?len\(|/[ \t]*[\w.]+[ \t]*\n")
_LOOPS = re.compile(rb"for\b")
_SUMS = re.compile(rb"\+=|=[^\n]*\+")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_DIVIDES):
        if not is_test(function.path) and function.source.holds(_SUMS) and function.source.holds(_LOOPS):
            for position, event in enumerate(function.events):
                loop = next((one for one in function.loops if one.id in event.block.loops[-1:]), None)
                if loop is not None and (divisor := _divided(event)) is not None and _counts(loop, divisor):
                    if (finding := _examined(function, loop, position, divisor)) is not None:
                        yield finding


def _divided(event: Event) -> Expr | None:
    """n of x /= n, x = x / n, x = torch.div(x, n)."""
    value, target = event.value, event.targets[0] if len(event.targets) == 1 else None
    if value is None or target is None:
        return None
    if event.kind == "augment":
        return value if event.text in ("/", "/=") else None
    if event.kind != "assign":
        return None
    if value.kind == "binary" and value.text == "/" and spelled(value.parts[0]) == spelled(target):
        return value.parts[1]
    if value.kind == "call" and value.last in ("div", "true_divide", "divide") and len(value.arguments) == 2:
        return value.arguments[1] if spelled(value.arguments[0]) == spelled(target) else None
    return None


def _counts(loop: Loop, divisor: Expr) -> bool:
    """It is the number of rounds: len(parts) for `in parts` and `in range(1, len(parts))`, n for `in range(n)`."""
    source = loop.source
    if loop.kind != "for" or source is None:
        return False
    while divisor.kind == "call" and divisor.callee == "float" and divisor.arguments:
        divisor = divisor.arguments[0]
    ends = [one for one in source.arguments[:2] if source.callee in ("range", "trange")]
    if divisor.callee == "len" and divisor.arguments:
        parts = spelled(divisor.arguments[0])
        whole = source.arguments[:1] if source.callee in ("enumerate", "tqdm", "zip") else (source,)
        return any(spelled(one) == parts for one in whole) or any(spelled(one) == spelled(divisor) for one in ends)
    return divisor.kind == "path" and any(spelled(one) == spelled(divisor) for one in ends)


def _examined(function: Function, loop: Loop, position: int, divisor: Expr) -> Finding | None:
    event = function.events[position]
    target, path = event.targets[0], function.path
    added = None
    for place, other in enumerate(function.events):
        if loop.id not in other.block.loops or other is event:
            continue
        to_it = len(other.targets) == 1 and spelled(other.targets[0]) == spelled(target)
        if to_it and _adds(other) and other.block == event.block and place < position:
            added = other
        elif to_it and other.kind == "assign":
            return SAY.passed(path, event.line, f"{written(target)} begins anew in each round")
    if added is None:
        return None
    own = [part.text for part in loop.target.walk() if part.kind == "path"] if loop.target is not None else []
    root = target.parts[0].text if target.kind == "index" else target.text
    remade = [one for one in function.events if loop.id in one.block.loops and one.kind in ("assign", "for")]
    if mentions(target, own) or any(root in bound_names(one) for one in remade if one not in (added, event)):
        return SAY.passed(path, event.line, f"{written(target)} is another one in each round")
    return _failure(function, loop, added, event, divisor)


def _adds(event: Event) -> bool:
    value = event.value
    if event.kind == "augment":
        return event.text in ("+", "+=")
    sums = value is not None and value.kind == "binary" and value.text == "+"
    return (
        event.kind == "assign" and sums and value is not None and spelled(event.targets[0]) in map(spelled, value.parts)
    )


def _failure(function: Function, loop: Loop, added: Event, event: Event, divisor: Expr) -> Finding:
    path, line, total, n = function.path, event.line, written(event.targets[0]), written(divisor)
    chain = (
        Link(path, loop.line, f"a loop of {n} rounds"),
        Link(path, added.line, f"each adds to {total}"),
        Link(path, line, f"each divides all of {total} by {n}"),
    )
    message = (
        f"{total} is divided by {n} at {path}:{line} in each round of the loop at line {loop.line} that adds it up, so the first parts "
        "are divided again and again and only the last one counts; expected the division behind the loop."
    )
    return SAY.fail(path, line, message, chain)
