"""What a saved object holds: the keys of the dictionary that is handed to the call that saves it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, bindings

from ...program import Program
from ..saved_keys import is_table, keys_of, put_in

MOST = 14
MOST_HOPS = 5  # names, wrappers and functions between the call and the table; one may be bound to itself
_WRITES = re.compile(r"(?:^|_)(?:save|dump|save_(?:checkpoint|state|on_master|file|pt)|persistent_save)$")


def held_in(program: Program, function: Function, event: Event) -> str:
    """Keys of what the saving call of `event` is given, with the line that makes it; "" when that is not a table."""
    for call in event.calls:
        for value in call.arguments[:2] if _WRITES.search(call.last) else ():
            for where, made, name in _made(program, function, value, MOST_HOPS):
                later = put_in(where, name, _never) if name else ()
                if keys := list(dict.fromkeys((*keys_of(where, made, _never), *later))):
                    more = f", +{len(keys) - MOST} more" if len(keys) > MOST else ""
                    return f"{', '.join(keys[:MOST])}{more} ({where.path}:{made.line})"
    return ""


def _never(line: int) -> bool:
    """No recipe is known here that would switch a line off."""
    return False


def file_named(function: Function, event: Event) -> Iterator[int]:
    """Lines of the statements that make the name of the file that is written or read: path = join(out, name)."""
    for call in event.calls:
        for value in call.arguments[:2] if _MOVES.search(call.last) else ():
            yield from _named(function, value, event.line, 2)


_MOVES = re.compile(r"save|dump|load", re.I)


def _named(function: Function, value: Expr, line: int, hops: int) -> Iterator[int]:
    names = dict.fromkeys(part.text for part in value.walk() if part.kind == "path" and "." not in part.text)
    for name in names if hops else ():
        for one in bindings(function).get(name, ()):
            event = function.events[one.position]
            if one.kind != "assign" or one.value is None or one.items or event.line >= line or not _is_name(one.value):
                continue
            yield event.line
            yield from _named(function, one.value, event.line, hops - 1)


def _is_name(value: Expr) -> bool:
    """Text, or a path that is put together."""
    if value.kind == "call":
        return value.last in ("join", "Path", "format", "str", "joinpath")
    return value.kind in ("string", "format", "binary")


def _made(program: Program, function: Function, value: Expr, hops: int) -> Iterator[tuple[Function, Expr, str]]:
    """Tables that `value` may be, where they are written and their name there, followed through names and functions."""
    if is_table(value):
        yield function, value, ""
    elif value.kind == "path" and "." not in value.text and hops:
        for binding in bindings(function).get(value.text, ()):
            if binding.kind == "assign" and binding.value is not None and not binding.items:
                if is_table(binding.value):
                    yield function, binding.value, value.text
                else:
                    yield from _made(program, function, binding.value, hops - 1)
    elif value.kind == "call" and hops:
        for given in value.arguments[:1]:  # move_to_cpu(state_dict)
            yield from _made(program, function, given, hops - 1)
        for target in program.graph.targets(function, value):
            if isinstance(target, Function):
                for event in target.events:
                    if event.kind == "return" and event.value is not None:
                        yield from _made(program, target, event.value, hops - 1)
