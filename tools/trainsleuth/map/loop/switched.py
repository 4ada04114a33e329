"""Signs of a feature that a setting keeps from doing anything: autocast(enabled=args.amp), a method that loads if args.resume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import Branch, Expr, Function

from ..configuration import Truth
from ..configuration.use.untaken import said_off
from ..program import Program
from ..records import Place
from .idle_features import around

_SCALES = ("autocast", "GradScaler", "ShardedGradScaler")


def disabled(program: Program, truth: Truth, place: Place) -> str:
    """The setting by which what a place makes for mixed precision is not enabled; "" where none is known to say so."""
    function = around(program, place)
    calls = _calls_at(function, place.line) if function is not None else ()
    tests = (
        [_enabled(program, function, call) for call in calls if call.last in _SCALES] if function is not None else []
    )
    said = [said_off(truth, function, _asking(test)) for test in tests if function is not None and test is not None]
    return said[0] if said and len(said) == len(tests) and all(said) else ""


def _calls_at(function: Function, line: int) -> Iterator[Expr]:
    yield from (call for event in function.events for call in event.calls if call.line == line)


def _enabled(program: Program, function: Function, call: Expr) -> Expr | None:
    """What decides whether it is on: of torch.cuda.amp.autocast the first argument, of torch.autocast one by its name only."""
    if (named := call.keyword("enabled")) is not None or not call.arguments:
        return named
    return call.arguments[0] if program.full_name(function, call.callee) == "torch.cuda.amp.autocast" else None


def _asking(test: Expr) -> Branch:
    return Branch(-1, 0, 1, False, "if", (test,))


def does_nothing(program: Program, place: Place, others: Iterable[Place], idle: Mapping[Place, str]) -> str:
    """The setting by which all `others` of a feature in the functions that a place calls are `idle`; "" where one runs, or
    there are none.
    """
    function = around(program, place)
    calls = _calls_at(function, place.line) if function is not None else ()
    targets = [one for call in calls if function is not None for one in program.graph.targets(function, call)]
    within = [one for one in others if any(_holds(target, one) for target in targets if isinstance(target, Function))]
    said = [idle.get(one, "") for one in within]
    return said[0] if said and all(said) else ""


def _holds(function: Function, place: Place) -> bool:
    return place.path == function.path and function.line < place.line <= function.end_line
