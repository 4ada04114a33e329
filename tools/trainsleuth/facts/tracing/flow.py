"""Where the value of a name comes from: assignments, arguments at the call sites, attributes of objects,
globals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..naming.names import External, Module, Variable
from ..reading.scopes import Binding, Item, bindings, comprehension_bindings, is_sibling, own_names, reaching
from ..records import MODULE_BODY, Block, Branch, Class, Expr, Function
from .things import Frame, Instance, Literal, Spot

if TYPE_CHECKING:
    from ..index import Index

_new: Callable[..., Any] = tuple.__new__  # half the time of Spot() and Origin(), and there are hundreds of thousands


class Origin(NamedTuple):
    """One way a name got its value.

    kind: assign, with, walrus (the value is `expr`), for, append, extend, augment (what `Binding` says),
    argument, default, symbol (a class, function, module or external name), unknown (`why`).
    """

    kind: str
    expr: Expr | None
    spot: Spot
    items: tuple[Item, ...] = ()
    symbol: Class | Function | External | Module | None = None
    why: str = ""


class _SetAt(NamedTuple):
    """Where an attribute is set: by the methods of its classes, or in their bodies (True), and by others, at (path, line)."""

    bound: tuple[tuple[Function, Binding, bool], ...]
    outside: tuple[tuple[str, int], ...]


class Flow:
    """One step back from a name; `Objects` and `Values` decide what the expressions there mean."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[tuple[Class, str, bool, bool], _SetAt] = {}

    def origins(self, path: str, spot: Spot) -> Iterator[Origin]:
        """Every way `path`, a name or a dotted path bound as such in this function, may have got its
        value.
        """
        inner = comprehension_bindings(spot.function).get(spot.position, ())
        if matching := [binding for binding in inner if binding.name == path]:
            for binding in matching:
                yield from self._bound(spot, binding)
            return
        found, certain = reaching(spot.function, path, spot.position)
        for binding in found:
            block = spot.function.events[binding.position].block
            runs = self.runs(block, spot) if block.branches else None
            if runs is not False:
                yield from self._bound(spot, binding)
            if runs and binding.kind not in ("append", "extend", "augment"):
                return
        if not certain and "." not in path:
            yield from self._outside(path, spot, bool(found))

    def _bound(self, spot: Spot, binding: Binding) -> Iterator[Origin]:
        at = _new(Spot, (spot.function, binding.position, spot.frame, spot.reach))
        if binding.kind == "define":
            symbol = self.index.names.defined(spot.function, binding)
            known = symbol if isinstance(symbol, Class | Function) else None
            yield Origin("symbol" if known else "unknown", None, at, (), known, f"{binding.name} is defined twice")
        elif binding.value is None and binding.kind != "assign":
            yield Origin("unknown", None, at, (), None, f"{binding.name} at line {at.line}")
        elif binding.value is not None:  # a bare annotation gives no value
            yield _new(Origin, (binding.kind, binding.value, at, binding.items, None, ""))

    def _outside(self, name: str, spot: Spot, is_bound: bool) -> Iterator[Origin]:
        """What the name has when nothing in the function itself has bound it yet."""
        function = spot.function
        if function.parameter(name) is not None:
            yield from self.arguments(name, spot)
            return
        if name in own_names(function) and function.name != MODULE_BODY:
            if not is_bound:
                yield Origin("unknown", None, spot, (), None, f"{name} is not set before line {spot.line}")
            return
        outer = self.index.files[function.path].functions.get(function.outer) if function.outer else None
        if outer is not None and not function.outer.endswith(MODULE_BODY):
            frame = spot.frame.caller.frame if spot.frame and spot.frame.caller else None
            inside = frame if frame is not None and frame.function is outer else None
            yield from self._closure(name, Spot(outer, len(outer.events), inside, spot.reach))
            return
        if function.name != MODULE_BODY or not is_bound:
            yield from self._global(name, spot)

    def _closure(self, name: str, spot: Spot) -> Iterator[Origin]:
        found = [b for b in bindings(spot.function).get(name, ()) if b.kind != "delete"]
        for binding in found:
            yield from self._bound(spot, binding)
        if not found:
            yield from self._outside(name, spot, False)

    def _global(self, name: str, spot: Spot) -> Iterator[Origin]:
        symbol = self.index.names.global_name(spot.function.path, name)
        if isinstance(symbol, Variable):
            scope = symbol.scope
            for binding in bindings(scope).get(symbol.name, ()):
                yield from self._bound(Spot(scope, binding.position, None, spot.reach), binding)
            for function, binding in self.index.global_bindings(scope.path, symbol.name):
                yield from self._bound(Spot(function, binding.position, None, spot.reach), binding)
        elif symbol is not None:
            yield Origin("symbol", None, spot, (), symbol)
        else:
            yield Origin("unknown", None, spot, (), None, f"{name} is not known in {spot.function.path}")

    def arguments(self, name: str, spot: Spot) -> Iterator[Origin]:
        """What parameter `name` is given: in the frame's call, or else at every call that surely calls it."""
        function, frame = spot.function, spot.frame
        if frame is not None and frame.function is function and frame.call is not None and frame.caller is not None:
            yield self._argument(name, frame)
            return
        callers = self.index.calling.of(function, spot.reach - 1) if spot.reach else ()
        for caller in callers:
            yield self._argument(name, self.index.frames.frame(function, caller.call, caller.spot, caller.owner))
        if not callers:
            parameter = function.parameter(name)
            default = parameter.default if parameter is not None and spot.reach else None
            if default is not None and default.text != "None":
                yield Origin("default", default, self._default_spot(function, spot.reach))
                return
            yield Origin("unknown", None, spot, (), None, f"no call of {function.name} was found that sets {name}")

    def _argument(self, name: str, frame: Frame) -> Origin:
        function, call, caller = frame.function, frame.call, frame.caller
        assert call is not None and caller is not None
        given = self.given(function, call, name, frame.owner is not None)
        if given is not None:
            return Origin("argument", given, caller)
        parameter = function.parameter(name)
        spread = any(part.kind in ("star", "doublestar") for part in call.parts[1:])
        if parameter is None or parameter.default is None or spread or parameter.kind:
            return Origin(
                "unknown",
                None,
                caller,
                (),
                None,
                f"{name} is not written out in the call at line {call.line}",
            )
        return Origin("default", parameter.default, self._default_spot(function, caller.reach))

    @staticmethod
    def given(function: Function, call: Expr, name: str, is_bound: bool) -> Expr | None:
        """The argument expression that `call` gives to parameter `name`."""
        plain = [p.name for p in function.parameters if not p.kind and not p.keyword_only]
        if is_bound and function.self_name and plain:
            plain = plain[1:]
        return call.argument(plain.index(name), name) if name in plain else call.keyword(name)

    def _default_spot(self, function: Function, reach: int) -> Spot:
        """Defaults are evaluated where the function is defined."""
        file = self.index.files[function.path]
        scope = file.functions.get(function.outer) or file.body
        return Spot(scope, len(scope.events), None, reach)

    def attributes(self, owner: Instance, name: str, inside: Spot) -> Iterator[Origin]:
        """Every assignment to attribute `name` of `owner`, a project object, in its own classes' code."""
        if not isinstance(owner.kind, Class):
            return
        # of self of a class that may be a base of what really runs, those below it count too
        found = self._set_at(owner.kind, name, owner.call is None, inside.function.name != "__init__")
        for function, binding, is_body in found.bound:
            if is_body:
                spot = Spot(function, binding.position, None, inside.reach)
                yield Origin("assign", binding.value, spot, binding.items)
                continue
            spot = Spot(function, binding.position, self.index.frames.constructor_frame(owner, function), inside.reach)
            if not self.is_dead(function.events[binding.position].block, spot):
                yield from self._bound(spot, binding)
        for path, line in found.outside:
            yield Origin("unknown", None, inside, (), None, f"{name} is also set at {path}:{line}")

    def _set_at(self, cls: Class, name: str, below: bool, is_made: bool) -> _SetAt:
        """`is_made`: the constructors have ended, so what one of them sets hides what those above it have set."""
        key = (cls, name, below, is_made)
        if key not in self._known:
            lineage = self.index.lineage(cls)
            classes = (*lineage, *self.index.subclasses(cls)) if below else lineage
            bound = [*self._bound_above(lineage, name, is_made)]
            bound += [one for own in classes[len(lineage) :] for one in self._bound_in(own, name)]
            others = self._set_by_others(cls, name, {own.qualname for own in classes})
            self._known[key] = _SetAt(tuple(bound), tuple(others))
        return self._known[key]

    def _bound_above(
        self, lineage: tuple[Class, ...], name: str, is_made: bool
    ) -> Iterator[tuple[Function, Binding, bool]]:
        hidden: set[Class] = set()
        for own in lineage:
            for function, binding, is_body in self._bound_in(own, name):
                if own not in hidden or not (is_body or function.name == "__init__"):
                    yield function, binding, is_body
            if is_made and self._surely_sets(own, name):
                hidden.update(self.index.lineage(own)[1:])

    def _surely_sets(self, cls: Class, name: str) -> bool:
        """Its constructor does, after those of its bases."""
        for function, binding in self.index.hierarchy.attribute_bindings(cls, name):
            if function.name == "__init__" and binding.kind == "assign":
                block, later = function.events[binding.position].block, function.events[binding.position + 1 :]
                if not block.branches and not block.loops:
                    return all(call.last != "__init__" for event in later for call in event.calls)
        return False

    def _bound_in(self, cls: Class, name: str) -> Iterator[tuple[Function, Binding, bool]]:
        for method, binding in self.index.hierarchy.attribute_bindings(cls, name):
            yield method, binding, False
        for binding in bindings(cls.body).get(name, ()):
            if binding.kind == "assign" and binding.value is not None:
                yield cls.body, binding, True

    def _set_by_others(self, cls: Class, name: str, own: set[str]) -> Iterator[tuple[str, int]]:
        part = self.index.part(cls.path)
        for function, line in self.index.set_from_outside(name):
            if self.index.part(function.path) == part and function.owner not in own:
                yield function.path, line

    def is_dead(self, block: Block, spot: Spot) -> bool:
        """`block` cannot run on the way to `spot`; see `runs`."""
        return self.runs(block, spot) is False

    def runs(self, block: Block, spot: Spot) -> bool | None:
        """Does `block` run before `spot` is reached? True or False where tests that this call fixes decide
        it.

        None where nothing does, and where no condition stands between the two places.
        """
        if not block.branches:
            return None
        here = spot.function.events[spot.position].block if spot.position < len(spot.function.events) else Block()
        between = [branch for branch in block.branches if branch not in here.branches]
        if not between or is_sibling(block, here):
            return None  # whether it hides what came before is decided by `reaching`
        taken: list[bool | None] = []
        for branch in between:
            taken.append(self._is_taken(branch, spot))
            if taken[-1] is False:
                return False
        return True if None not in taken and block.loops == here.loops[: len(block.loops)] else None

    def is_passed_over(self, spot: Spot) -> bool:
        """The call of the spot's frame keeps its statement from running: if teacher is not None, of a call without one."""
        block = spot.function.events[spot.position].block
        return spot.frame is not None and any(self._is_taken(branch, spot) is False for branch in block.branches)

    def _is_taken(self, branch: Branch, spot: Spot) -> bool | None:
        if branch.kind != "if":
            return None
        is_sure = True
        for arm, test in enumerate(branch.tests):
            truth = self.truth(test, spot)
            if truth is (arm < branch.arm):
                return False
            is_sure = is_sure and truth is not None
        return True if is_sure else None

    def truth(self, test: Expr, spot: Spot) -> bool | None:
        """Value of a condition when it is fixed: constants given to parameters or set on self. None: not
        fixed.
        """
        if test.kind == "unary" and test.text == "not":
            inner = self.truth(test.parts[0], spot)
            return None if inner is None else not inner
        if test.kind == "boolean":
            parts = [self.truth(part, spot) for part in test.parts]
            decisive = test.text == "or"
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        if test.kind == "compare" and test.text in ("is", "is not") and test.parts[-1].text == "None":
            nothing = self._is_nothing(test.parts[0], spot)
            return None if nothing is None else nothing is (test.text == "is")
        if _asks_for_texts(test):
            is_among = self._is_among(test.parts, spot)
            return None if is_among is None else is_among is _AMONG[test.text]
        if test.kind == "constant":
            return test.text == "True" if test.text in ("True", "False", "None") else None
        if test.kind != "path" or test.text.endswith(".training") or spot.frame is None:
            return None
        things = self.index.objects.of(test, spot)
        found = {_truth(thing.expr) if isinstance(thing, Literal) else None for thing in things}
        return found.pop() if len(found) == 1 else None

    def _is_nothing(self, expr: Expr, spot: Spot) -> bool | None:
        """Whether a name is None for the call of the spot's frame."""
        if expr.kind != "path" or spot.frame is None:
            return None
        things = self.index.objects.of(expr, spot)
        found = {thing.expr.text == "None" if isinstance(thing, Literal) else None for thing in things}
        return found.pop() if len(found) == 1 else None

    def _is_among(self, parts: tuple[Expr, ...], spot: Spot) -> bool | None:
        """Whether a name is one of the texts that it is compared with, for the call of the spot's frame."""
        name, given = sorted(parts, key=lambda part: part.kind != "path")
        wanted = _texts(given.parts if given.kind in ("list", "tuple", "set") else (given,))
        if name.kind != "path" or spot.frame is None or not wanted:
            return None
        if any(one.kind == "augment" for one in bindings(spot.function).get(name.text, ())):
            return None
        things = self.index.objects.of(name, spot)
        found = _texts(thing.expr if isinstance(thing, Literal) else name for thing in things)
        if not found or (found & wanted and found - wanted):
            return None
        return found <= wanted


_AMONG = {"==": True, "in": True, "!=": False, "not in": False}


def _asks_for_texts(test: Expr) -> bool:
    """mode == "train", or mode in ("train", "val"): `in` a text asks for a part of it."""
    if test.kind != "compare" or test.text not in _AMONG or len(test.parts) != 2:
        return False
    is_listed = test.parts[1].kind in ("list", "tuple", "set")
    return is_listed is ("in" in test.text.split())


def _texts(exprs: Iterable[Expr]) -> frozenset[str]:
    """None of them where one is anything else."""
    every = list(exprs)
    return frozenset(one.text for one in every) if all(one.kind == "string" for one in every) else frozenset()


def _truth(expr: Expr) -> bool | None:
    if expr.kind == "constant":
        return {"True": True, "False": False, "None": False}.get(expr.text)
    if expr.kind == "number":
        return None
    return None
