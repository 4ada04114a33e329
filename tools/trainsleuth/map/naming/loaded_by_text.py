"""Classes whose names are handed as texts to what loads them: load("trainers." + TABLE[name][0], TABLE[name][1])."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr, Function

from ..recipe.branches import Settled
from .written_out import written_out

if TYPE_CHECKING:
    from ..calling.values import Values

_LOADS = re.compile(rb"(?<![\w.])(?:exec|eval|__import__)\(|\b(?:import_module|import_string|locate)\(")
_CLASS = re.compile(r"[A-Z]\w*")
MAX_SUMS = 8  # within each other
MAX_CLASSES = 8  # of more it is not known which is meant


def loaded_by_text(values: Values, function: Function, call: Expr) -> tuple[Class, ...]:
    """What `call` in `function` may give back: classes of the project whose names its arguments spell."""
    held = [*call.arguments, *(one.parts[-1] for one in call.parts if one.kind == "keyword")]
    if not any(one.kind in ("string", "index", "binary") for one in held):
        return ()
    loader = values.index.resolve(function, call.callee) if call.callee else None
    if not isinstance(loader, Function) or not loader.source.holds(_LOADS):
        return ()
    settled = Settled(values.known.settings, values.index, function)
    texts = [text for given in held for text in islice(_texts(settled, given), 2 * MAX_CLASSES)]
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


def _texts(settled: Settled, expr: Expr, around: frozenset[Expr] = frozenset()) -> Iterator[str]:
    """Texts that `expr` may be, or be put together of. `around`: the sums that it is a part of, by name = name + ".pt" its own."""
    for scope, value in written_out(settled, expr):
        if value.kind == "string":
            yield value.text
        elif value.kind == "binary" and value not in around and len(around) < MAX_SUMS:
            inside = settled._replace(function=scope)
            yield from (text for part in value.parts for text in _texts(inside, part, around | {value}))
