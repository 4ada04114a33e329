"""What the names in a statement are worth: keys of the configuration, constants, and what callers give."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Event, Expr, Function, bindings, written

from ..configuration import Truth
from ..configuration.literals import is_literal, text_of
from ..configuration.truth import reads_in
from ..program import Program

MAX_VALUES = 6
MAX_CALLERS = 3


def values_in(program: Program, truth: Truth, function: Function, event: Event, line: int) -> Iterator[tuple[str, str]]:
    """(name as written, value and where it is set) of the statement `event`, those that are known."""
    seen: dict[str, None] = {}
    for expr in _parts(event, line):
        seen.update(dict.fromkeys(reads_in(expr)))
    count = 0
    for name in seen:
        if (value := value_of(program, truth, function, name)) and count < MAX_VALUES:
            count += 1
            yield name, value


def _parts(event: Event, line: int) -> Iterator[Expr]:
    """The value of the statement, the calls at `line`, and the tests that it stands under."""
    if event.value is not None:
        yield event.value
    else:
        yield from (call for call in event.calls if call.line == line)
    yield from (branch.test for branch in event.block.branches[-2:] if branch.test is not None)


def value_of(program: Program, truth: Truth, function: Function, name: str) -> str:
    """The value of a name in `function` in words; "" when it is not known."""
    if "." in name:
        return _of_key(truth, name, function.path)
    bound = [one for one in bindings(function).get(name, ()) if one.kind != "augment"]
    if len(bound) == 1 and (value := bound[0].value) is not None and bound[0].kind == "assign":
        if not bound[0].items:
            return _of_bound(truth, value, name, function)
        return ""
    if not bound and (parameter := function.parameter(name)) is not None:
        return _given(program, truth, function, name, parameter.default)
    if not bound and function.name != MODULE_BODY:
        outside = bindings(program.index.files[function.path].body).get(name, ())
        if len(outside) == 1 and (value := outside[0].value) is not None and is_literal(value):
            return _of_key(truth, name) or f"{text_of(value)} (:{value.line})"
    return ""


def _of_bound(truth: Truth, value: Expr, name: str, function: Function) -> str:
    if is_literal(value):
        return (_of_key(truth, name) if function.name == MODULE_BODY else "") or f"{text_of(value)} (:{value.line})"
    dotted = next((one for one in reads_in(value)), "")
    if value.kind in ("path", "index") and dotted and (said := _of_key(truth, dotted)):
        return f"{written(value)} = {said}"
    return ""


def _of_key(truth: Truth, name: str, path: str = "") -> str:
    """Value of a configuration key and the place that sets it; what it overrides, too."""
    key = truth.find(name, path) if name else None
    source = key.source if key is not None else None
    if key is None or source is None:
        return ""
    where = f"{source.path}:{source.line}" if source.path else "the given command"
    default = key.layers[0]
    over = f", default {default.value}" if default is not source and default.value != source.value else ""
    later = key.layers[key.layers.index(source) + 1 :]
    maybe = "".join(f"; may become {one.value} at {one.path}:{one.line}" for one in later[:1])
    return f"{truth.effective(source.value)} ({where}{over}){maybe}"


def _given(program: Program, truth: Truth, function: Function, name: str, default: Expr | None) -> str:
    """What callers give for a parameter, one hop up; else its default."""
    called = function.owner.rpartition(".")[2] if function.name == "__init__" else function.name
    order = [one.name for one in function.parameters if one.name != function.self_name]
    said: dict[str, None] = {}
    for site in program.index.calls(called):
        if not program.is_reached(site.function):
            continue
        value = site.call.argument(order.index(name), name) if name in order else None
        if value is None:
            continue
        text = text_of(value)
        known = text if is_literal(value) else _known(truth, value)
        if known:
            said.setdefault(f"{known} ({site.function.path}:{value.line})" if known == text else known)
        if len(said) >= MAX_CALLERS:
            break
    if said:
        return " or ".join(said)
    return f"{text_of(default)} (default :{default.line})" if default is not None and is_literal(default) else ""


def _known(truth: Truth, value: Expr) -> str:
    dotted = next(iter(reads_in(value)), "")
    if value.kind in ("path", "index") and "." in dotted and (said := _of_key(truth, dotted)):
        return f"{dotted} = {said}"
    return ""
