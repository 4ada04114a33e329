"""Steps of the optimizer that gather the gradients or the losses of several rounds, whatever the numbers are called."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Branch, Event, Function

from ..calling.values import Values
from .networks import calls_network
from .steps import Sign


def accumulations(values: Values, function: Function, signs: list[Sign]) -> Iterator[int]:
    """Lines of inner loops that go backward and leave the step to what follows them, with that call, and of the tests
    below which a sum of losses goes backward, or a step waits for a counter of the rounds.
    """
    for sign in signs:
        if sign.role == "backward" and (loops := sign.site.event.block.loops):
            if _is_stepped_after(function, sign, signs) and _runs_network(values, function, loops[-1]):
                yield function.loops[loops[-1]].line
                yield sign.site.call.line
            yield from _summed(function, sign)
            yield from _counted(function, sign, signs)


def _is_stepped_after(function: Function, backward: Sign, signs: list[Sign]) -> bool:
    """Nothing steps or clears in its loop; what stands behind the loop steps."""
    around, inner = backward.site.event.block.loops[:-1], backward.site.event.block.loops[-1]
    ended = function.loops[inner].end_line
    others = [one for one in signs if one.role in ("optimizer step", "zero_grad")]
    if any(inner in one.site.event.block.loops for one in others):
        return False
    steps = (one.site for one in others if one.role == "optimizer step")
    return any(one.event.line > ended and one.event.block.loops == around for one in steps)


def _runs_network(values: Values, function: Function, loop: int) -> bool:
    """Each round is of other examples, not of another loss of the same ones."""
    inside = (call for event in function.events if loop in event.block.loops for call in event.calls)
    return any(calls_network(values, function, call) for call in inside)


def _summed(function: Function, backward: Sign) -> Iterator[int]:
    """if i % n == 0: total.backward(), where the rounds before have added to the total and did not begin it anew."""
    event, receiver = backward.site.event, backward.site.call.receiver
    tests = [one.test for one in event.block.branches if one.test is not None]
    periodic = [one for one in tests if any(part.kind == "binary" and part.text == "%" for part in one.walk())]
    if receiver is None or receiver.kind != "path" or not periodic:
        return
    inner = event.block.loops[-1]
    bound = [
        one
        for one in function.events
        if inner in one.block.loops and any(target.text == receiver.text for target in one.targets)
    ]
    added = [one for one in bound if one.kind == "augment" and one.text.startswith("+")]
    begun = [one for one in bound if one.kind == "assign"]
    if any(not any(_is_around(one, plus) for one in begun) for plus in added):
        yield from (one.line for one in function.events if one.kind == "if" and one.value in periodic)


def _counted(function: Function, backward: Sign, signs: list[Sign]) -> Iterator[int]:
    """left -= 1 in each round, and: if not left: optimizer.step(), left = n. Nothing clears in every round."""
    event = backward.site.event
    inner = [one.site.event for one in signs if one.role in ("optimizer step", "zero_grad")]
    inner = [one for one in inner if event.block.loops[-1] in one.block.loops]
    if any(_is_around(one, event) for one in inner):
        return
    around = {(one.id, one.arm) for one in event.block.branches}
    for branch in (branch for one in inner for branch in one.block.branches if (branch.id, branch.arm) not in around):
        names = {part.text for part in branch.test.walk() if part.kind == "path"} if branch.test is not None else set()
        if any(_counts_rounds(function, event, branch, name) for name in names):
            yield from (one.line for one in function.events if one.kind == "if" and one.value is branch.test)


def _counts_rounds(function: Function, backward: Event, branch: Branch, name: str) -> bool:
    """Each round that goes backward changes the name by one, and the arm sets it anew."""
    bound = [one for one in function.events if any(target.text == name for target in one.targets)]
    bound = [one for one in bound if backward.block.loops[-1] in one.block.loops]
    each = [one for one in bound if one.kind == "augment" and one.value is not None and one.value.text == "1"]
    anew = [one for one in bound if one.kind == "assign" and branch in one.block.branches]
    return bool(anew) and any(_is_around(one, backward) for one in each)


def _is_around(begun: Event, added: Event) -> bool:
    """What begins the sum runs in every round that adds to it."""
    arms = [(one.id, one.arm) for one in begun.block.branches]
    return [(one.id, one.arm) for one in added.block.branches][: len(arms)] == arms
