"""What of the call that is being followed an expression can depend on: which arguments, and whether its object.

The same expression is asked about in many calls. As far as its names do not lead to what tells these calls apart all
of them are one, and so is the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..reading.scopes import Binding, bindings, comprehension_bindings, is_bound
from ..records import MODULE_BODY, Branch, Expr, Function
from ..running.reachable import Reachable
from .things import Frame, Instance, Spot

if TYPE_CHECKING:
    from ..index import Index

_ALL = "*"  # a name that stands for everything: what closures see is not taken apart
_EVERYTHING = frozenset([_ALL])


class Needs:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[object, frozenset[str]] = {}
        self._leading: dict[Function, Callable[[str], int]] = {}
        self._trimmed: dict[tuple[Frame, frozenset[str]], Frame] = {}

    def plain(self, expr: Expr, spot: Spot) -> Spot:
        """`spot` with no more of its frame than `expr` can depend on."""
        if not spot.reach and (spot.frame is None or spot.frame.function is not spot.function):
            return spot  # nothing to take off
        return self._with(spot, self.of(expr, spot.function, spot.position))

    def anywhere(self, expr: Expr, spot: Spot) -> Spot:
        """Like `plain`; a name that is not bound in the function means the same all over it."""
        spot = self.plain(expr, spot)
        function, position, frame, reach = spot
        if expr.kind != "path" or is_bound(function, expr.text) or position in comprehension_bindings(function):
            return spot
        if reach and frame is None and self._is_method(expr.text, function):
            reach = 0
        return tuple.__new__(Spot, (function, len(function.events), frame, reach))

    def _is_method(self, path: str, function: Function) -> bool:
        """It is a plain method of the function's own class: nothing is looked for at callers."""
        owner, _, name = path.rpartition(".")
        cls = self.index.class_of(function) if owner and owner == function.self_name else None
        methods = self.index.hierarchy.methods(Instance(cls), name) if cls is not None else ()
        return bool(methods) and not any(method.decorators for method in methods)

    def of(self, expr: Expr, function: Function, position: int) -> frozenset[str]:
        """Wide: parameters, self among them, that can have to do with what `expr` stands for."""
        inner = comprehension_bindings(function).get(position, ())
        if expr.kind == "path" and not inner:
            return self._named(expr.text, function)
        key = (function, expr.text if expr.kind == "path" else expr, position if inner else -1)
        if key not in self._known:
            self._known[key] = self._of(expr, function, inner)
        return self._known[key]

    def _of(self, expr: Expr, function: Function, inner: tuple[Binding, ...]) -> frozenset[str]:
        names = dict.fromkeys(_paths(expr))
        for _ in inner:  # a clause may use the variable of another
            heads = {name.partition(".")[0] for name in names}
            sources = (one.value for one in inner if one.name in heads and one.value is not None)
            names.update((name, None) for source in sources for name in _paths(source))
        return frozenset().union(*(self._named(name, function) for name in names))

    def _named(self, name: str, function: Function) -> frozenset[str]:
        key = (function, name)
        if key not in self._known:
            self._known[key] = self._behind(name, function)
        return self._known[key]

    def _behind(self, name: str, function: Function) -> frozenset[str]:
        """Parameters that lead to `name` by assignments; `_EVERYTHING` where a closure is on the way."""
        if function not in self._leading:
            self._leading[function] = self._leads(function)
        bits = self._leading[function](name)
        if bits & 1:
            return _EVERYTHING
        return frozenset([one.name for place, one in enumerate(function.parameters, 1) if bits >> place & 1])

    def _leads(self, function: Function) -> Callable[[str], int]:
        """From a name to what it is made of: bit 0 for a closure, the others for the parameters."""
        outside, table = self._names_outside(function), bindings(function)
        places = {one.name: place for place, one in enumerate(function.parameters, 1)}
        tested: dict[tuple[Branch, ...], list[str]] = {}
        known: dict[str, dict[str, None]] = {}

        def onward(path: str) -> dict[str, None]:
            """Names that what is bound to `path` is made of, and those that decide whether it is bound."""
            if path in known:
                return known[path]
            names = known[path] = dict.fromkeys((above,) if (above := path.rpartition(".")[0]) else ())
            for binding in table.get(path, ()):
                if binding.kind == "define":
                    names[_ALL] = None  # a closure sees the arguments
                    break
                if binding.value is not None:
                    names.update(dict.fromkeys(_paths(binding.value)))
                branches = function.events[binding.position].block.branches
                if branches:
                    if branches not in tested:
                        tested[branches] = [name for one in branches for test in one.tests for name in _paths(test)]
                    names.update(dict.fromkeys(tested[branches]))
            return names

        def itself(path: str) -> int:
            head = path.partition(".")[0]
            return 1 if head in outside else 1 << places[head] if head in places else 0

        reachable = Reachable(onward, lambda path: 1 if _ALL in onward(path) else itself(path))

        def leads(path: str) -> int:
            above = path
            while above and above not in table:
                above = above.rpartition(".")[0]
            return reachable.of(path) if above else itself(path)

        return leads

    def _names_outside(self, function: Function) -> frozenset[str]:
        """Variables of the functions that it is written in: what they hold depends on the call around."""
        names: set[str] = set()
        file, outer = self.index.files[function.path], function.outer
        while outer and (around := file.functions.get(outer)) is not None and around.name != MODULE_BODY:
            names.update(bindings(around), (parameter.name for parameter in around.parameters))
            outer = around.outer
        return frozenset(names)

    def _with(self, spot: Spot, needs: frozenset[str]) -> Spot:
        frame = spot.frame
        if not needs and spot.reach:  # nothing to look for at callers
            spot = Spot(spot.function, spot.position, frame, 0)
        if frame is None or frame.function is not spot.function or _ALL in needs:
            return spot
        key = (frame, needs)
        if key not in self._trimmed:
            self._trimmed[key] = self._trim(frame, needs)
        return Spot(spot.function, spot.position, self._trimmed[key], spot.reach)

    def _trim(self, frame: Frame, needs: frozenset[str]) -> Frame:
        function, call, caller = frame.function, frame.call, frame.caller
        owner = frame.owner if function.self_name in needs else None
        arguments = needs - {function.self_name}
        if call is None or caller is None or not arguments:
            return self.index.frames.frame(function, None, None, owner)
        if owner is None and frame.owner is not None:  # that there is one still says which argument is whose
            owner = Instance(self.index.class_of(function) or frame.owner.kind)
        used: frozenset[str] = frozenset()
        for name in arguments:
            given = self.index.flow.given(function, call, name, frame.owner is not None)
            used |= self.of(given, caller.function, caller.position) if given is not None else frozenset()
        return self.index.frames.frame(function, call, self._with(caller, used), owner)


def _paths(expr: Expr) -> list[str]:
    """Every path in an expression."""
    if not expr.parts:
        return [expr.text] if expr.kind == "path" else []
    found, waiting = [], [expr.parts]
    while waiting:
        for part in waiting.pop():
            if part.parts:
                waiting.append(part.parts)
            elif part.kind == "path":
                found.append(part.text)
    return found
