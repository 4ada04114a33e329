"""What is written out where an expression stands for it: a name's value, the item of a table that settings choose."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Variable, bindings

from ..recipe.branches import Settled, is_not_chosen, value_of

MAX_STEPS = 4  # from a name to the table that holds what it is


def written_out(settled: Settled, expr: Expr, steps: int = 0) -> Iterator[tuple[Function, Expr]]:
    """(where it stands, what stands there) for `expr` in the function of `settled`; every item of a table of which no
    setting is seen to choose one.
    """
    if steps > MAX_STEPS:
        return
    if expr.kind == "path" and (held := list(_bound(settled, expr.text))):
        for scope, value in held:
            yield from written_out(settled._replace(function=scope), value, steps + 1)
    elif expr.kind == "index":
        for scope, table in written_out(settled, expr.parts[0], steps + 1):
            yield from ((scope, one) for one in _items(settled, table, expr.parts[-1]))
    else:
        yield settled.function, expr


def _bound(settled: Settled, name: str) -> Iterator[tuple[Function, Expr]]:
    symbol = settled.facts.resolve(settled.function, name)
    if isinstance(symbol, Variable):
        within = settled._replace(function=symbol.scope)
        for one in bindings(symbol.scope).get(symbol.name, ()):
            is_plain = one.kind == "assign" and one.value is not None and not one.items
            if is_plain and one.value is not None and not is_not_chosen(symbol.scope.events[one.position], within):
                yield symbol.scope, one.value


def _items(settled: Settled, table: Expr, asked: Expr) -> Iterator[Expr]:
    word = value_of(asked, settled)
    if table.kind == "dict":
        pairs = [pair for pair in table.parts if pair.kind == "pair"]
        named = [pair for pair in pairs if pair.parts[0].kind == "string" and pair.parts[0].text.lower() == word]
        yield from (pair.parts[1] for pair in named or pairs)
    elif table.kind in ("tuple", "list") and word is not None and word.isdigit():
        yield from table.parts[int(word) : int(word) + 1]
