"""Which variable a name means, as far as spelling says: one of a function, or one of the whole project.

Wide: attributes, functions, classes and what modules bind go by their last name alone, wherever they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import MODULE_BODY, Expr, Function
from .scopes import own_names

if TYPE_CHECKING:
    from ..index import Index

# "loss" of the project; (function, "loss"), its variable; (name of functions, place or keyword), an argument of theirs
Name = str | tuple[Function | str, str | int]


def last_of(name: Name) -> str:
    return name if isinstance(name, str) else str(name[1])


class Scoping:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._class_bodies = frozenset(cls.body for cls in index.classes())
        self._known: dict[tuple[Function, str], Name] = {}

    def variable(self, function: Function, name: str) -> Name:
        """What `name`, without a dot, means inside `function`."""
        key = (function, name)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._variable(function, name)
        return found

    def _variable(self, function: Function, name: str) -> Name:
        scope: Function | None = function
        while scope is not None and scope.name != MODULE_BODY:
            if name in own_names(scope):
                return name if scope in self._class_bodies else (scope, name)
            scope = self.index.files[scope.path].functions.get(scope.outer) if scope.outer else None
        return name

    def path(self, function: Function, path: str) -> Name:
        """Of a dotted path what it ends with."""
        _, dot, last = path.rpartition(".")
        return last if dot else self.variable(function, path)

    def callee(self, call: Expr, function: Function) -> Name:
        """What a call calls; "" for what has no name."""
        called = call.parts[0]
        kind, text = called.kind, called.text
        if kind == "path" and "." not in text:
            return self.variable(function, text)
        return text.rpartition(".")[2] if kind in ("path", "attr") else ""
