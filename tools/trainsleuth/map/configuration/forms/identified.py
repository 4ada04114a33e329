"""Records that code looks up by an identifier: BASE = by_id("d20b7120"), where register(Record(id="d20b7120", name=...))."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr, Function, Index, Variable, written

from ...naming.only_values import held_by_variable, only_value

SHORTEST = 8  # letters of an identifier: shorter ones say other things too
_HOPS = 3


def of_record(index: Index, held: Variable, field: str) -> str | None:
    """What the one record has as `field` that the variable is, a text; None for none or several."""
    identifier = _identifier(index, held, _HOPS)
    if identifier is None:
        return None
    found = set()
    for function in index.functions_holding(re.compile(re.escape(identifier.encode()))):
        for event in function.events:
            for call in event.calls:
                given = {part.text: part.parts[0] for part in call.parts[1:] if part.kind == "keyword"}
                texts = {name: one.text for name, one in given.items() if one.kind == "string"}
                if field in texts and identifier in texts.values():
                    found.add(texts[field])
    return found.pop() if len(found) == 1 else None


def _identifier(index: Index, held: Variable, hops: int) -> str | None:
    """by_id("d20b7120"), or TABLE[key] of a table that holds it."""
    value = only_value(held.scope, held.name)
    if value is not None and value.kind == "index" and len(value.parts) == 2:
        value = _picked(index, held.scope, value)
    if value is not None and value.kind == "path" and hops:
        symbol = index.resolve(held.scope, value.text)
        return _identifier(index, symbol, hops - 1) if isinstance(symbol, Variable) else None
    given = value.arguments if value is not None and value.kind == "call" and len(value.parts) == 2 else ()
    text = given[0].text if given and given[0].kind == "string" else ""
    return text if len(text) >= SHORTEST else None


def _picked(index: Index, scope: Function, value: Expr) -> Expr | None:
    table, key = value.parts
    held = held_by_variable(index, scope, table)
    pairs = held[1].parts if held is not None else ()
    found = [pair.parts[1] for pair in pairs if pair.kind == "pair" and written(pair.parts[0]) == written(key)]
    return found[0] if len(found) == 1 else None
