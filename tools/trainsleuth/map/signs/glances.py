"""What a training loop calls now and then with gradients off: a look at how well it does, whatever it is called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, written

from ..loop.networks import calls_network
from ..loop.quiet import is_quiet
from ..program import Program
from .measures import SAYS_METRIC

_UPDATES = re.compile(r"(?:^|[._])ema|average|update|momentum|target|copy|sync|log|save|queue|bank", re.I)

_EVERY = re.compile(r"every|freq|interval|multiple|period", re.I)


def glances(program: Program) -> Iterator[tuple[Function, Expr, Function]]:
    """(the function with the loop, the call, what it calls); no averages of weights or targets, which are kept up so."""
    for function in program.training.loop_lines:
        for event in function.events:
            quiet, due = is_quiet(event), _is_due(event)
            for call in event.calls if event.block.loops and (quiet or due) else ():
                for one in program.graph.targets(function, call) if not _UPDATES.search(call.callee) else ():
                    if isinstance(one, Function) and _is_look(program, one, quiet, due):
                        yield function, call, one


def _is_look(program: Program, target: Function, quiet: bool, due: bool) -> bool:
    """Called every so many rounds with gradients off, where it may switch them off itself, or see to when it is due."""
    if quiet and due:
        return True
    if not target.loops or not (quiet or any(one.last in _OFF for one in target.decorators)):
        return False
    calls = (call for event in target.events if event.block.loops for call in event.calls)
    if due:
        return any(calls_network(program.values, target, call) for call in calls)
    return any(SAYS_METRIC.search(call.last) for call in calls)


_OFF = ("no_grad", "inference_mode")


def _is_due(event: Event) -> bool:
    return any(one.test is not None and _is_periodic(one.test) for one in event.block.branches)


def _is_periodic(test: Expr) -> bool:
    return any(part.kind == "binary" and part.text == "%" for part in test.walk()) or bool(_EVERY.search(written(test)))
