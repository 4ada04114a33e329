"""Where a statement stands in the run: under which test of its callers, after which loops, after training."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainsleuth.facts import Branch, Event, Expr, Function, written

from ...configuration import Truth
from ...configuration.use.untaken import is_taken
from ...drawing.statements import any_of, conditions, event_at
from ...drawing.wording import clean
from ...program import Program
from ...programs.standing import off
from .pace import is_over_batches

TEST_WIDTH = 60  # characters of the test of an arm
_HOLDER = re.compile(r"\bself\.(?:(?:cfg|config|args|hparams)\.)?(?=\w)")
MAX_HOPS = 3  # from a function to the only call of it that runs


def callers_of(program: Program, truth: Truth, function: Function, line: int) -> Iterator[tuple[Function, int]]:
    """A statement, the only call of its function that runs, the only one of that function, and so on."""
    yield function, line
    for _ in range(MAX_HOPS):
        sites = [one for one in program.callers(function) if not off(program, truth, *one)]
        if len(sites) != 1 or sites[0][0] is function:
            return
        function, line = sites[0]
        yield function, line


def tests_above(truth: Truth, function: Function, event: Event) -> str:
    """The conditions of a statement but for those that ask for the class that the settings make."""
    left = tuple(
        branch
        for branch in event.block.branches
        if not (branch.kind == "if" and any(map(_asks_class, branch.tests)) and is_taken(truth, function, branch))
    )
    said = conditions(event._replace(block=event.block._replace(branches=left)))
    return said[1:-1] if said.startswith("(") and said.find(")") == len(said) - 1 else said


def undecided(truth: Truth, function: Function, branches: Sequence[Branch]) -> str:
    """The innermost test, in short, under which a statement stands and of which the settings do not decide."""
    for branch in reversed(branches):
        if branch.kind == "if" and branch.tests and not is_taken(truth, function, branch):
            test = branch.test
            said = written(test) if test is not None else f"not ({any_of(branch.tests)})"
            return clean(_HOLDER.sub("", said), TEST_WIDTH)
    return ""


def defined_under(program: Program, truth: Truth, function: Function) -> str:
    """The same of the statement that defines a function inside of another: of two hooks of one name each in its arm."""
    outer = program.index.files[function.path].functions.get(function.outer) if function.outer else None
    event = event_at(outer, function.line) if outer is not None else None
    if outer is None or event is None or event[1].kind != "define" or event[1].line != function.line:
        return ""
    return undecided(truth, outer, event[1].block.branches)


def _asks_class(test: Expr) -> bool:
    return any(part.kind == "call" and part.callee == "isinstance" for part in test.walk())


def called_under(program: Program, truth: Truth, function: Function, line: int) -> tuple[Function, int, str] | None:
    """The nearest call above a statement that stands under a test, with that test."""
    for caller, at in list(callers_of(program, truth, function, line))[1:]:
        event = event_at(caller, at)
        if event is not None and (said := tests_above(truth, caller, event[1])):
            return caller, at, said
    return None


def after_batches(program: Program, truth: Truth, function: Function, line: int) -> bool:
    """The loop over batches is over where a statement that runs once an epoch stands, or the call that leads to it."""
    for caller, at in callers_of(program, truth, function, line):
        if any(loop.end_line < at and is_over_batches(program, caller, loop) for loop in caller.loops):
            return True
    return False


def is_after_training(program: Program, function: Function, line: int) -> bool:
    """It stands, in no loop, below the call that leads to the training step or gives the loop to a framework, or below
    the loop around the step."""
    event, step = event_at(function, line), program.training.step
    if event is None or event[1].block.loops:
        return False
    handed = program.training.handed.get(function, ())
    if handed and all(one.site.call.line < line for one in handed):
        return True
    if step is None:
        return False
    if function is step:
        return any(loop.end_line < line for loop in step.loops)
    way = (edge for caller, edge in program.training.ways.back(step) if caller is function and edge.position >= 0)
    return any(function.events[edge.position].line < line for edge in way)


def ends_training(program: Program, truth: Truth, function: Function, line: int) -> bool:
    """It stands below training, in no loop, as does the only call that leads to it; and nothing trains after it, in a
    second phase.
    """
    for caller, at in callers_of(program, truth, function, line):
        trains, event = set(_trains_at(program, caller)), event_at(caller, at)
        if any(one > at for one in trains):
            return False
        if trains and event is not None and not event[1].block.loops:
            return True
    return False


def _trains_at(program: Program, function: Function) -> Iterator[int]:
    """Lines at which it trains in a loop of its own, calls what leads to training, or gives the loop to a framework."""
    training = program.training
    for one in training.steppers:
        yield from (
            function.events[edge.position].line
            for caller, edge in training.ways.back(one)
            if caller is function and edge.position >= 0
        )
    for sign in program.signs.get(function, ()):
        if sign.role == "backward" and sign.site.event.block.loops:
            yield sign.site.call.line
    yield from (one.site.call.line for one in training.handed.get(function, ()))
