"""Members of a module that the keys of a section name: for key, hook in cfg.hooks.items(): getattr(hooks, key)(hook)."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Module
from trainsleuth.facts.reading.scopes import bindings

from ..recipe.branches import Settled, keys_below

_GOES_THROUGH = ("items", "keys")


def named_by_keys(settled: Settled, call: Expr) -> Iterator[Class | Function]:
    """Of getattr(module, key), where a loop takes `key` from a section that settings were given for."""
    index, function = settled.facts, settled.function
    module, key = (*call.arguments, None, None)[:2]
    held = index.resolve(function, module.text) if module is not None and module.kind == "path" else None
    if not isinstance(held, Module) or key is None or key.kind != "path":
        return
    for binding in bindings(function).get(key.text, ()):
        source = binding.value if binding.kind == "for" and binding.items in ((), (0,)) else None
        while source is not None and source.kind == "call" and source.last in _GOES_THROUGH:
            source = source.receiver
        for name in sorted(keys_below(source, settled)) if source is not None else ():
            member = index.names.member(held, name)
            if isinstance(member, Class | Function):
                yield member
