"""What a training loop calls now and then with gradients off: a look at how well it does, whatever it is called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, written

from ..program import Program

_UPDATES = re.compile(r"(?:^|[._])ema|average|update|momentum|target|copy|sync|log|save|queue|bank", re.I)

_EVERY = re.compile(r"every|freq|interval|multiple|period", re.I)


def glances(program: Program) -> Iterator[tuple[Function, Expr, Function]]:
    """(the function with the loop, the call, what it calls); no averages of weights or targets, which are kept up so."""
    for function in program.training.loop_lines:
        for event in function.events:
            for call in event.calls if _is_aside(event) else ():
                if not _UPDATES.search(call.callee):
                    found = program.graph.targets(function, call)
                    yield from ((function, call, one) for one in found if isinstance(one, Function))


def _is_aside(event: Event) -> bool:
    """In a loop, every so many rounds, with gradients off."""
    if not event.block.loops or not event.block.contexts:
        return False
    quiet = any(written(one).endswith(("no_grad()", "inference_mode()")) for one in event.block.contexts)
    return quiet and any(one.test is not None and _is_periodic(one.test) for one in event.block.branches)


def _is_periodic(test: Expr) -> bool:
    return any(part.kind == "binary" and part.text == "%" for part in test.walk()) or bool(_EVERY.search(written(test)))
