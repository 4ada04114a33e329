"""Classes of settings that a parser is handed: HfArgumentParser((ModelArguments, DataArguments)), tyro.cli(Args)."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Index
from trainsleuth.facts.reading.scopes import bindings

_OF_ITSELF = ("formatter_class", "parser_class", "action")  # of argparse: what it works with


def parsed_classes(index: Index, function: Function, call: Expr) -> Iterator[Class]:
    """In the order in which they are handed over, in place or by a name that is bound to them."""
    for part in call.parts[1:]:
        if part.kind != "keyword" or part.text not in _OF_ITSELF:
            yield from _classes(index, function, part.parts[0] if part.kind == "keyword" else part, 1)


def _classes(index: Index, function: Function, value: Expr, hops: int) -> Iterator[Class]:
    if value.kind in ("tuple", "list"):
        for part in value.parts:
            yield from _classes(index, function, part, hops)
    elif value.kind == "path":
        held = index.resolve(function, value.text)
        if isinstance(held, Class):
            yield held
        else:
            for binding in bindings(function).get(value.text, ()) if hops else ():
                if binding.value is not None and not binding.items:
                    yield from _classes(index, function, binding.value, hops - 1)
