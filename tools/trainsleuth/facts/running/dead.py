"""Code that says nothing of a running program: it never runs, is left to be written, or shows an error on purpose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainsleuth.repository import is_notebook

from ..memo import kept_per_function
from ..reading.scopes import encloses
from ..records import Branch, Event, Expr, Function, Loop
from ..tracing.things import Spot

if TYPE_CHECKING:
    from ..index import Index

_LEAVING = ("return", "raise")
_EXERCISE = re.compile(rb"your[ _]code|fill in|start code here|# *todo", re.IGNORECASE)
_LESSON = re.compile(
    r"not to do|(don't|do not) do (this|that|it)|this is (wrong|incorrect|a bug)|(wrong|incorrect) way"
    r"|common (mistake|bug|error|pitfall)|(deliberate|intentional|purpose)(ly)? (wrong|broken|bug|forg)"
    r"|(wrong|broken|forg\w+|left out|bug) (on purpose|deliberately|intentionally)",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"(^|_)(wrong|bad|broken|buggy|bug|incorrect|mistakes?|pitfalls?|antipattern|forgot(ten)?|faulty)(_|$)"
    r"|(^|_)(missing|without|no|forget)_(zero_?grad|clear|eval|train|detach|log|unscale|set_epoch)(_|$)",
    re.IGNORECASE,
)
_TRY = re.compile(rb"\btry\b")


def is_dead(index: Index, path: str, line: int) -> bool:
    """Surely the statement that `path:line` is part of never runs: behind a test that is a constant as written,
    or after a return that always comes first.
    """
    function = around(index, path, line)
    if function is None:
        return False
    starts = [event.line for event in function.events if event.line <= line]
    return bool(starts) and max(starts) in _dead_lines(function)


def statement_at(index: Index, path: str, line: int) -> tuple[Function | None, Event | None]:
    """The innermost function, or body of the file, that holds the line, and the statement that begins there last; of those
    that begin in one line the innermost: `if clips: clip(model)`.
    """
    spot = spot_at(index, path, line)
    return (
        (spot.function, spot.function.events[spot.position]) if spot is not None else (around(index, path, line), None)
    )


def spot_at(index: Index, path: str, line: int) -> Spot | None:
    """Where that statement stands."""
    function = around(index, path, line)
    if function is None:
        return None
    starts = [
        (event.line, len(event.block.branches), -n) for n, event in enumerate(function.events) if event.line <= line
    ]
    return Spot(function, -max(starts)[2]) if starts else None


def overridden_by_all(index: Index, path: str, line: int) -> str:
    """The method around `path:line` when every class below has one of its own, and nobody makes the class itself or
    calls the method by super(); "" otherwise.
    """
    function = around(index, path, line)
    owner = index.class_of(function) if function is not None else None
    below = index.subclasses(owner) if owner is not None else ()
    if (
        function is None
        or owner is None
        or not below
        or any(index.method(one, function.name) is function for one in below)
    ):
        return ""
    by_super = (site.call.receiver for site in index.calls(function.name))
    if any(one is not None and one.callee == "super" for one in by_super) or any(True for _ in index.calls(owner.name)):
        return ""
    return f"{owner.name}.{function.name}"


def left_blank(index: Index, path: str, line: int) -> int | None:
    """A line of an exercise that is still to be solved, in the function around `path:line`."""
    function = around(index, path, line)
    if function is None or not function.source.holds(_EXERCISE):
        return None
    return next(
        (bad for bad, _ in index.files[path].problems if function.line <= bad <= function.end_line),
        None,
    )


def is_lesson(index: Index, path: str, line: int) -> bool:
    """Names or words around the line say that it shows an error on purpose: def wrong_loop(), "what not to do"."""
    function = around(index, path, line)
    if function is None:
        return False
    stem = path.rpartition("/")[2].partition(".")[0]
    if any(_WRONG.search(name) for name in (stem, *function.qualname.split("."))):
        return True
    lines = (index.repository.read(path) or "").split("\n") if not is_notebook(path) else []
    head = function.line - 1 if function.name != "<module>" else line - 1
    return bool(_LESSON.search("\n".join([*lines[max(head - 4, 0) : head + 6], *lines[max(line - 5, 0) : line + 1]])))


def around(index: Index, path: str, line: int) -> Function | None:
    """The innermost function, or the body of the file, that holds the line."""
    file = index.files.get(path)
    inside = [one for one in file.functions.values() if one.line <= line <= one.end_line] if file is not None else []
    return min(inside, key=lambda one: one.end_line - one.line, default=None)


@kept_per_function
def _dead_lines(function: Function) -> frozenset[int]:
    """First lines of the statements in a function's own body of which none ever runs."""
    can_catch = function.source.holds(_TRY)
    left: list[Event] = []
    dead: set[int] = set()
    alive: set[int] = set()
    for event in function.events:
        is_never = _is_excluded(event, function.loops) or any(_comes_after(event, one) for one in left)
        (dead if is_never else alive).add(event.line)
        if event.kind in _LEAVING and not can_catch:
            left.append(event)
    return frozenset(dead - alive)


def _is_excluded(event: Event, loops: tuple[Loop, ...]) -> bool:
    tested = [loops[one] for one in event.block.loops if loops[one].kind == "while"]
    return any(_is_never(branch) for branch in event.block.branches) or any(
        loop.source is not None and _truth(loop.source) is False for loop in tested
    )


def _is_never(branch: Branch) -> bool:
    if branch.kind != "if":
        return False
    before, own = branch.tests[: branch.arm], branch.test
    return any(_truth(test) is True for test in before) or (own is not None and _truth(own) is False)


def _comes_after(event: Event, leaving: Event) -> bool:
    """In the same block as a return that stands before it."""
    return event.line > leaving.line and event.kind != "define" and encloses(leaving.block, event.block)


def _truth(test: Expr) -> bool | None:
    if test.kind == "constant":
        return {"True": True, "False": False, "None": False}.get(test.text)
    if test.kind == "number" and test.text in ("0", "1"):
        return test.text == "1"
    if test.kind == "unary" and test.text == "not":
        inner = _truth(test.parts[0])
        return None if inner is None else not inner
    return None
