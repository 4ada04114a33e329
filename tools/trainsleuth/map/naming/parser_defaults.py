"""Classes that a parser keeps for later: parser.set_defaults(Trainer=FastTrainer), and args.pop("Trainer") where it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr

if TYPE_CHECKING:
    from ..calling.values import Values


def taken_back(values: Values, call: Expr) -> tuple[Class, ...]:
    """What `call` gives back, where all parsers that the program loads keep one class under the name it asks for."""
    name = next(iter(call.arguments), None)
    if call.last not in ("pop", "get", "getattr") or call.receiver is None or name is None or name.kind != "string":
        return ()
    found: set[Class] = set()
    for site in values.index.calls("set_defaults"):
        kept = site.call.keyword(name.text)
        held = values.index.resolve(site.function, kept.text) if kept is not None and kept.kind == "path" else None
        if isinstance(held, Class) and values.known.is_loaded(site.function.path):
            found.add(held)
    return tuple(found) if len(found) == 1 else ()
