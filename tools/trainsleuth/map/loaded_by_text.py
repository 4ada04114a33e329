"""Classes whose names are handed as texts to what loads them: load("trainers." + TABLE[name][0], TABLE[name][1])."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr, Function, Variable, bindings
from trainsleuth.facts.scopes import Binding

from .branches import Settled, value_of

if TYPE_CHECKING:
    from .values import Values

_LOADS = re.compile(rb"\b(?:exec|eval|__import__|import_module|import_string|locate)\(")
_CLASS = re.compile(r"[A-Z]\w*")
MAX_CLASSES = 8  # of more it is not known which is meant
MAX_STEPS = 4  # from a text to the table that holds it


def loaded_by_text(values: Values, function: Function, call: Expr) -> tuple[Class, ...]:
    """What `call` in `function` may give back: classes of the project whose names its arguments spell."""
    held = [*call.arguments, *(one.parts[-1] for one in call.parts if one.kind == "keyword")]
    if not any(one.kind in ("string", "index", "binary") for one in held):
        return ()
    loader = values.index.resolve(function, call.callee) if call.callee else None
    if not isinstance(loader, Function) or not loader.source.holds(_LOADS):
        return ()
    texts = [text for given in held for text in islice(_texts(values, function, given, 0), 2 * MAX_CLASSES)]
    classes = {name: _named(values, name) for text in texts if _CLASS.fullmatch(name := text.rpartition(".")[2])}
    found = [cls for several in classes.values() for cls in _in_files(several, texts)]
    return tuple(dict.fromkeys(found)) if len(found) <= MAX_CLASSES else ()


def given_back_by_text(values: Values, function: Function) -> Iterator[Class]:
    """The same of what a call of `function` gives back."""
    for event in function.events:
        if event.kind == "return" and event.value is not None and event.value.kind == "call":
            yield from loaded_by_text(values, function, event.value)


def _named(values: Values, name: str) -> tuple[Class, ...]:
    found = (one for one in values.index.classes() if one.name == name and one not in values.known.excluded)
    return tuple(found)


def _in_files(several: tuple[Class, ...], texts: Iterable[str]) -> tuple[Class, ...]:
    """Of namesakes those of a module that is spelled as well; none where several are left."""
    words = {word for text in texts for word in re.split(r"[./]", text)}
    near = [one for one in several if one.path.rpartition("/")[2].removesuffix(".py") in words] or several
    return tuple(near) if len(near) == 1 else ()


def _texts(values: Values, function: Function, expr: Expr, steps: int) -> Iterator[str]:
    """Texts that `expr` may be, or be put together of."""
    if expr.kind == "string":
        yield expr.text
    elif expr.kind == "binary":
        yield from (text for part in expr.parts for text in _texts(values, function, part, steps))
    elif expr.kind in ("index", "path") and steps <= MAX_STEPS:
        for scope, value in _written(values, function, expr, steps):
            if value.kind in ("string", "binary"):
                yield from _texts(values, scope, value, steps + 1)


def _written(values: Values, function: Function, expr: Expr, steps: int) -> Iterator[tuple[Function, Expr]]:
    """What is written out where `expr` stands for it: a name's value, the item of a table that settings choose, else each."""
    if steps > MAX_STEPS:
        return
    if expr.kind == "path":
        for scope, binding in _bound(values, function, expr.text):
            if binding.value is not None and not binding.items and binding.kind == "assign":
                yield from _written(values, scope, binding.value, steps + 1)
    elif expr.kind == "index":
        for scope, table in _written(values, function, expr.parts[0], steps + 1):
            yield from ((scope, one) for one in _items(values, function, table, expr.parts[-1]))
    else:
        yield function, expr


def _bound(values: Values, function: Function, name: str) -> Iterator[tuple[Function, Binding]]:
    symbol = values.index.resolve(function, name)
    if isinstance(symbol, Variable):
        yield from ((symbol.scope, one) for one in bindings(symbol.scope).get(symbol.name, ()))


def _items(values: Values, function: Function, table: Expr, asked: Expr) -> Iterator[Expr]:
    word = value_of(asked, Settled(values.known.settings, values.index, function))
    if table.kind == "dict":
        pairs = [pair for pair in table.parts if pair.kind == "pair"]
        named = [pair for pair in pairs if pair.parts[0].kind == "string" and pair.parts[0].text.lower() == word]
        yield from (pair.parts[1] for pair in named or pairs)
    elif table.kind in ("tuple", "list") and word is not None and word.isdigit():
        yield from table.parts[int(word) : int(word) + 1]
