"""What a saved object holds: the keys of the dictionary that is handed to the call that saves it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, bindings, written

from ..program import Program

MOST = 14
_WRITES = re.compile(r"(?:^|_)(?:save|dump|save_(?:checkpoint|state|on_master|file|pt)|persistent_save)$")
_TABLES = ("dict", "OrderedDict")


def held_in(program: Program, function: Function, event: Event) -> str:
    """Keys of what the saving call of `event` is given, with the line that makes it; "" when that is not a table."""
    for call in event.calls:
        for value in call.arguments[:2] if _WRITES.search(call.last) else ():
            for made, where in _made(program, function, value, 3):
                if keys := list(dict.fromkeys(_keys(made))):
                    more = f", +{len(keys) - MOST} more" if len(keys) > MOST else ""
                    return f"{', '.join(keys[:MOST])}{more} ({where}:{made.line})"
    return ""


def _made(program: Program, function: Function, value: Expr, hops: int) -> Iterator[tuple[Expr, str]]:
    """Literal tables that `value` may be, followed through names and what functions give back."""
    if value.kind == "dict" or (value.kind == "call" and value.last in _TABLES):
        yield value, function.path
    elif value.kind == "path" and "." not in value.text:
        for binding in bindings(function).get(value.text, ()):
            if binding.kind == "assign" and binding.value is not None and not binding.items:
                yield from _made(program, function, binding.value, hops)
    elif value.kind == "call" and hops:
        for given in value.arguments[:1]:  # move_to_cpu(state_dict)
            yield from _made(program, function, given, hops - 1)
        for target in program.graph.targets(function, value):
            if isinstance(target, Function):
                for event in target.events:
                    if event.kind == "return" and event.value is not None:
                        yield from _made(program, target, event.value, hops - 1)


def _keys(table: Expr) -> Iterator[str]:
    for part in table.parts:
        if part.kind == "pair" and part.parts[0].kind == "string":
            yield part.parts[0].text
        elif part.kind == "keyword":
            yield part.text
        elif part.kind == "doublestar":
            yield f"**{written(part.parts[0], 30)}"
