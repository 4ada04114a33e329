"""Methods that are set on a class of the project by their name: setattr(Box, "after_forward", after_forward)."""

from __future__ import annotations

import re
from functools import cached_property

from trainsleuth.facts import Class, Function

from .optional_imports import resolve
from .values import Values

MOST = 4  # functions that one method may be: of more it is not known which
_SETS = re.compile(rb"setattr\(")


class PutMethods:
    """Read once, when it is first asked for."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def instead_of(self, method: Function) -> tuple[Function, ...]:
        """What runs when `method` is called, besides it."""
        return self._table.get(method, ()) if method.owner else ()

    @cached_property
    def _table(self) -> dict[Function, tuple[Function, ...]]:
        table: dict[Function, tuple[Function, ...]] = {}
        index = self._values.index
        for function in index.functions_holding(_SETS):
            for call in (call for event in function.events for call in event.calls):
                given = call.arguments
                if call.callee != "setattr" or len(given) != 3 or given[1].kind != "string":
                    continue
                held = resolve(index, function, given[0].text) if given[0].kind == "path" else None
                method = held.methods.get(given[1].text) if isinstance(held, Class) else None
                if method is not None:
                    found = self._values.callables(function, given[2])
                    put = [one for one in found if isinstance(one, Function) and one is not method]
                    table[method] = tuple(dict.fromkeys((*table.get(method, ()), *put)))
        return {method: put for method, put in table.items() if len(put) <= MOST}
