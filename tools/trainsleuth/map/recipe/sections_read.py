"""What code takes of a file of settings that it reads for itself: yaml.safe_load(open(path))["model_params"]."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Event, Expr, External, Function, Index

_READERS = re.compile(r"(?:yaml|json|toml|tomli|tomllib)\.\w*load\w*")


def sections_read(index: Index, function: Function, naming: Event) -> tuple[tuple[str, str], ...]:
    """The keys that the function takes of the file whose path a statement of it names, each with what it stands under: the
    name of the file's content there. Empty where it may take all of it.
    """
    if function.name == MODULE_BODY or any(event.kind == "define" for event in function.events):
        return ()
    content = _content(index, function, naming)
    asked = [one for event in function.events for one in _asked(event, content)] if content else []
    if not asked or None in asked:
        return ()
    return tuple((key, f"{content}.{key}") for key in dict.fromkeys(one for one in asked if one is not None))


def _content(index: Index, function: Function, naming: Event) -> str:
    """The one name that what a reader gives of the file is bound to, "" for none or several."""
    paths, found = set[str](), set[str]()
    for event in function.events[function.events.index(naming) :]:
        if event.value is None or (event is not naming and paths.isdisjoint(_names(event.value))):
            continue
        read = event.value.kind == "call" and _is_reader(index, function, event.value)
        (found if read else paths).update(one.text for one in event.targets)
    return found.pop() if len(found) == 1 and found.isdisjoint(paths) else ""


def _is_reader(index: Index, function: Function, call: Expr) -> bool:
    symbol = index.resolve(function, call.callee) if call.callee else None
    return isinstance(symbol, External) and _READERS.fullmatch(symbol.name) is not None


def _names(expr: Expr) -> Iterator[str]:
    return (part.text.partition(".")[0] for part in expr.walk() if part.kind == "path")


def _asked(event: Event, content: str) -> Iterator[str | None]:
    """The keys under which a statement takes something of `content`, None for what is not a key."""
    if any(target.text == content for target in event.targets):
        return
    for expr in (*event.targets, event.value):
        yield from _keys(expr, content) if expr is not None else ()


def _keys(expr: Expr, content: str) -> Iterator[str | None]:
    key = None
    if expr.kind == "index" and expr.parts[0].text == content and expr.parts[0].kind == "path":
        key = expr.parts[1]
    elif expr.callee == f"{content}.get" and expr.arguments:
        key = expr.arguments[0]
    if key is not None:
        yield key.text if key.kind == "string" else None
        return
    if expr.kind == "path" and expr.text.partition(".")[0] == content:
        yield None
    for part in expr.parts:
        yield from _keys(part, content)
