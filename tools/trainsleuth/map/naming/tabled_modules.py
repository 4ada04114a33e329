"""Settings in Python that a table offers by name: ALGORITHMS[name]["config"], the module whose names a parser goes through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import Expr, Function, Index, Module

from ..recipe.branches import Settled
from .written_out import written_out


def tabled_modules(index: Index, functions: Iterable[Function], options: Mapping[str, str]) -> Iterator[str]:
    """Files of settings that the program's tables hold under what `options` choose, those of one choice alone."""
    known = {key: value.lower() for key, value in options.items()}
    offering: dict[str, bool] = {}
    for function in functions:
        if function.path not in offering:
            imported = index.names.imported(index.files[function.path])
            offering[function.path] = any(path in index.configs for path in imported)
        if offering[function.path]:
            settled = Settled(known, index, function)
            yield from (path for expr in _looked_up(function) for path in _chosen(settled, expr))


def _looked_up(function: Function) -> Iterator[Expr]:
    """Outermost ones: table[name]["config"] and not table[name] in it."""
    for event in function.events:
        inner: set[int] = set()
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "index" and id(part) not in inner:
                yield part
            if part.kind == "index":
                inner.add(id(part.parts[0]))


def _chosen(settled: Settled, expr: Expr) -> Iterator[str]:
    held = [
        settled.facts.resolve(scope, value.text) if value.kind == "path" else None
        for scope, value in written_out(settled, expr)
    ]
    module = held[0] if len(held) == 1 else None
    if isinstance(module, Module) and module.path in settled.facts.configs:
        yield module.path
