"""Tests that one call of a function decides by what it gives: run(loader, train=False), run(loader, None), run("val")."""

from __future__ import annotations

from trainsleuth.facts import Block, Branch, Expr, Index, Instance, Literal, Spot, makers

_SAME, _OTHER = ("is", "=="), ("is not", "!=")


def is_ruled_out(index: Index, block: Block, spot: Spot) -> bool:
    """`block` does not run in the call whose frame `spot` has."""
    return any(_is_left(index, branch, spot) for branch in block.branches)


def is_never_reached(index: Index, spot: Spot) -> bool:
    """The call whose frame `spot` has does not run the event there, or surely leaves the function before."""
    event = spot.function.events[spot.position]
    before = (one.block for one in spot.function.events[: spot.position] if one.kind in ("return", "raise"))
    return is_ruled_out(index, event.block, spot) or any(_surely_runs(index, block, spot) for block in before)


def _surely_runs(index: Index, block: Block, spot: Spot) -> bool:
    return not block.loops and all(
        branch.kind == "if"
        and all(
            _truth(index, test, spot) is (arm == branch.arm) for arm, test in enumerate(branch.tests[: branch.arm + 1])
        )
        for branch in block.branches
    )


def _is_left(index: Index, branch: Branch, spot: Spot) -> bool:
    tests = branch.tests if branch.kind == "if" else ()
    return any(_truth(index, test, spot) is (arm < branch.arm) for arm, test in enumerate(tests[: branch.arm + 1]))


def _truth(index: Index, test: Expr, spot: Spot, depth: int = 3) -> bool | None:
    """None where this call does not fix it."""
    if test.kind == "unary" and test.text == "not":
        inner = _truth(index, test.parts[0], spot, depth)
        return None if inner is None else not inner
    if test.kind == "boolean":
        parts = {_truth(index, part, spot, depth) for part in test.parts}
        decisive = test.text == "or"
        return decisive if decisive in parts else None if None in parts else not decisive
    if test.kind == "compare" and test.text in (*_SAME, *_OTHER) and len(test.parts) == 2:
        is_same = _is_same(index, *test.parts, spot)
        return None if is_same is None else is_same is (test.text in _SAME)
    if test.kind == "path" and depth:
        made = {_said(index, one, at, depth) for one, at in makers(index, test, spot)}
        return made.pop() if len(made) == 1 else None
    return None


def _said(index: Index, made: Expr, spot: Spot, depth: int) -> bool | None:
    if made.kind == "constant":
        return {"True": True, "False": False, "None": False}.get(made.text)
    return None if made.kind == "path" else _truth(index, made, spot, depth - 1)


def _is_same(index: Index, one: Expr, other: Expr, spot: Spot) -> bool | None:
    """Whether a name is None, or the same word, where all that it may be is known."""
    if other.text == "None":
        found = {_is_none(thing) for thing in index.objects.of(one, spot)}
    elif other.kind == "string":
        words = [made for made, _ in makers(index, one, spot)]
        found = {made.text == other.text if made.kind == "string" else None for made in words}
    else:
        return None
    return found.pop() if len(found) == 1 else None


def _is_none(thing: object) -> bool | None:
    if isinstance(thing, Instance):
        return False
    return thing.expr.text == "None" if isinstance(thing, Literal) else None
