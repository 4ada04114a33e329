"""A window into an array is cut at the same place in each round, since nobody moves its start on.

out[i : i + m, j : j + n] = block; i += m is half of a step along the diagonal: j stays 0, and all blocks lie below each other. x[start : start + size] in a
loop without start += size reads the first rows each time. Shapes agree, and nothing fails.

Fix: advance it with the window: j += n.

Cannot see: starts that are computed by a function.

Bad:
    import numpy as np

    def blocks(matrices, size):
        out = np.zeros((size, size))
        i, j = 0, 0
        for matrix in matrices:
            n = len(matrix)
            out[i : i + n, j : j + n] = matrix
            i += n
        return out

Good:
    import numpy as np

    def blocks(matrices, size):
        out = np.zeros((size, size))
        i, j = 0, 0
        for matrix in matrices:
            n = len(matrix)
            out[i : i + n, j : j + n] = matrix
            i += n
            j += n
        return out
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "offset-not-advanced",
    "data",
    "error",
    "",
    suspects=("another-data-fault",),
    claims=("fails-silently",),
    look="print the bounds of the window in each round",
)
_WINDOW = re.compile(rb"(\b\w+) *: *\(? *\1 *\+")
_IS_START = re.compile(
    r"^(?:[ijkst]|start|begin|offset|pos|ptr|pointer|cursor|at|low|row|col|idx|index)\w?(?:_\w+|\d)?$", re.IGNORECASE
)
_BOUND = re.compile(rb": *\w+ *\+ *\w")  # of a window, without what makes a search slow


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_BOUND):
        if not is_test(function.path) and function.source.holds(_WINDOW):
            for event in function.events:
                if event.block.loops:
                    for name, window in _windows(event):
                        if (finding := _examined(function, event, name, window)) is not None:
                            yield finding


def _windows(event: Event) -> Iterator[tuple[str, Expr]]:
    """(start, window) of each x[start : start + size]."""
    for root in (*event.targets, event.value):
        for part in root.walk() if root is not None else ():
            if part.kind == "index":
                for one in part.parts[1:]:
                    for cut in one.parts if one.kind == "tuple" else (one,):
                        if cut.kind == "slice" and len(cut.parts) == 2 and _is_from(*cut.parts):
                            yield cut.parts[0].text, cut


def _is_from(start: Expr, end: Expr) -> bool:
    if start.kind != "path" or end.kind != "binary" or end.text != "+" or not _IS_START.match(start.text):
        return False
    return any(part.kind == "path" and part.text == start.text for part in end.parts)


def _examined(function: Function, event: Event, name: str, window: Expr) -> Finding | None:
    """None where the start is not a number from before the loop."""
    made = bindings(function).get(name, ())
    if not made or function.parameter(name) is not None:
        return None
    outer = event.block.loops[0]
    inside = [one for one in made if outer in function.events[one.position].block.loops]
    numbers = [
        one
        for one in made
        if one.kind == "assign" and one.value is not None and one.value.text in ("0", "1") and not one.items
    ]
    path = function.path
    if any(one not in numbers for one in made if one.kind != "augment") or any(
        one.kind == "augment" for one in made if one not in inside
    ):
        return None
    if any(one not in numbers for one in inside):
        return SAY.passed(path, event.line, f"{name} is moved on")
    before = function.events[made[0].position]
    message = (
        f"the window [{written(window)}] at {path}:{event.line} begins at {name}, which is {written(made[0].value) if made[0].value else 0} from {path}:{before.line} on and "
        "is never moved: each round cuts at the same place; expected it to be advanced in the loop."
    )
    chain = (Link(path, before.line, f"{name} begins"), Link(path, event.line, f"[{written(window)}] in each round"))
    return SAY.fail(path, event.line, message, chain)
