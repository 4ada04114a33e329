"""Of the classes that an annotation offers, the one of which a caller makes what it gives.

actor: Union[SlowWorker, FastWorker] is a FastWorker where the caller gives FastWorker.create_group(config).launch().
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr, Function

from .annotations import every_type

if TYPE_CHECKING:
    from .values import Values


def given_of(values: Values, function: Function, name: str, annotation: str, depth: int) -> tuple[Class, ...]:
    """Empty where the annotation offers no choice, or the callers are not seen to make one."""
    types = every_type(values.index, function, annotation)
    if len(types) < 2:
        return ()
    sites = values.calls.given(function, name)
    made = {cls for site, value in sites for cls in _made_of(values, site.function, value, depth)}
    return tuple(one for one in types if one in made)


def _made_of(values: Values, function: Function, value: Expr, depth: int) -> Iterator[Class]:
    """The classes at the root of a chain of calls, through the name that it was given."""
    if value.kind == "path" and "." not in value.text:
        for binding in values.live(function, value.text):
            if binding.value is not None and binding.value.kind == "call" and not binding.items:
                yield from _made_of(values, function, binding.value, depth)
        return
    while value.kind == "call" and value.receiver is not None:
        value = value.receiver
    if value.kind == "path":
        yield from (one for one in values.callables(function, value, depth + 1) if isinstance(one, Class))
