"""Ways in which a loop may clear gradients without a call that says so: what is handed on, entered or dispatched."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, Round


def clears_out_of_sight(index: Index, found: Round) -> str:
    """What it is; "" when there is none."""
    function, loop = found.step.function, found.loop
    for event in function.events:
        if event.value is not None and (held := _held(index, function, event.value)) is not None:
            return f"line {held.line} keeps a function that clears gradients, which may be called later"
    source = loop.source.walk() if loop.source is not None else ()
    for call in (part for part in source if part.kind == "call"):
        if index.effects.may_clear(call, function):
            return f"{call.last}() may clear gradients between what it gives"
    inside = [event for event in function.events if loop.id in event.block.loops]
    entered = {context.last for event in inside for context in event.block.contexts}
    for cls in index.classes():
        if cls.name in entered and any(_clears(index, cls.methods.get(name)) for name in ("__enter__", "__exit__")):
            return f"{cls.name} clears gradients where a with statement enters or leaves it"
    for call in (call for event in inside for call in event.calls):
        if any(_dispatches(one) for one in _called(index, function, call)):
            return f"{call.last}() at line {call.line} calls methods by a computed name"
    return ""


def _held(index: Index, function: Function, value: Expr) -> Expr | None:
    """zero_grad, a function of the project or a lambda that clears, not called but kept."""
    called = {part.parts[0] for part in value.walk() if part.kind == "call"}
    for part in value.walk():
        if part.kind == "lambda" and any(one.kind == "call" and one.last == "zero_grad" for one in part.walk()):
            return part
        if part.kind == "path" and part not in called:
            symbol = index.resolve(function, part.text) if "." not in part.text else None
            if part.last == "zero_grad" or (isinstance(symbol, Function) and index.effects.may_clear(part, function)):
                return part
    return None


def _clears(index: Index, method: Function | None) -> bool:
    return method is not None and any(effect.kind == "clear" for effect in index.effects.of(method))


def _called(index: Index, function: Function, call: Expr) -> Iterator[Function]:
    cls = index.class_of(function)
    if cls is not None and call.callee == function.self_name:
        yield from (one for one in (index.method(cls, "__call__"),) if one is not None)
    elif cls is not None and call.callee.startswith(f"{function.self_name}."):
        yield from (one for one in (index.method(cls, call.last),) if one is not None)


def _dispatches(function: Function) -> bool:
    """getattr(callback, name)"""
    found = (call for event in function.events for call in event.calls if call.callee == "getattr")
    return any(len(call.arguments) > 1 and call.arguments[1].kind != "string" for call in found)
