"""Names that are imported in a try and set to None when the package is missing: still that package."""

from __future__ import annotations

from trainsleuth.facts import MODULE_BODY, External, Function, Index, Symbol, Variable
from trainsleuth.facts.memo import kept_per_function


def resolve(index: Index, function: Function, dotted: str) -> Symbol | None:
    """`Index.resolve`, but a name that is also imported from another library means the import."""
    return _resolved(function, index, dotted)


@kept_per_function
def _resolved(function: Function, index: Index, dotted: str) -> Symbol | None:
    symbol = index.resolve(function, dotted)
    head, _, rest = dotted.partition(".")
    if symbol is not None and not (isinstance(symbol, Variable) and symbol.scope.name == MODULE_BODY):
        return symbol
    for entry in index.files[function.path].imports:
        if entry.alias == head and not entry.level and index.names.module(function.path, entry.module) is None:
            whole = ".".join(filter(None, (entry.module, entry.name, rest)))
            return External(whole)
    return symbol
