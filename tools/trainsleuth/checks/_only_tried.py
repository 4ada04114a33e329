"""Files of networks that are started by themselves: they try what they hold on a few numbers and train nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainsleuth.facts import MODULE_BODY, Expr, Function, Index, Instance, Spot, around, is_module
from trainsleuth.repository import is_notebook

_TRAINS = re.compile(rb"optim|scaler|\.step\(|\bfit|\.grad\b|autograd\.grad|import \*")
_TRAINING = ("step", "clear", "update")


def only_tried(index: Index, places: Sequence[tuple[str, int]]) -> str:
    """The line of such a program on the way to the places. A backward pass alone changes no parameter."""
    for path, line in places:
        function = around(index, path, line)
        if function is not None and not is_notebook(path) and _is_program(index, function):
            if not index.files[path].body.source.holds(_TRAINS) and not any(_trains(index, function)):
                return f"{path}:{line}"
    return ""


def _is_program(index: Index, function: Function) -> bool:
    """The body of a file, or a function that only this calls: main() below `if __name__ == "__main__"`."""
    if function.name == MODULE_BODY:
        return True
    sites = list(index.calls(function.name))
    body = index.files[function.path].body
    return bool(sites) and not function.owner and all(site.function is body for site in sites)


def _trains(index: Index, function: Function) -> Iterator[bool]:
    """What it does to an optimizer or to gradients at any depth, and train() of anything but a network."""
    yield from (effect.kind in _TRAINING for effect in index.effects.of(function))
    for every in index.files[function.path].functions.values():
        for position, event in enumerate(every.events):
            yield from (
                not _sets_mode(index, call, Spot(every, position)) for call in event.calls if call.last == "train"
            )


def _sets_mode(index: Index, call: Expr, spot: Spot) -> bool:
    things = index.objects.of(call.receiver, spot) if call.receiver is not None and not call.arguments else ()
    return bool(things) and all(isinstance(one, Instance) and is_module(index, one) for one in things)
