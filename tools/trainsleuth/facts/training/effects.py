"""What a function does, at any depth, to optimizers, losses, gradients and modes; receivers in the
caller's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..naming.sites import call_sites, is_test
from ..reading.scopes import reaching
from ..reading.scoping import Name, last_of
from ..records import Event, Expr, Function
from ..tracing.callers import Caller, Target
from ..tracing.things import Spot
from .modes import is_eval
from .roles import stepped

if TYPE_CHECKING:
    from ..index import Index

_CLEARING = re.compile(r"zero_?grad|(clear|reset|zero|nullify|purge)\w*_?grad", re.IGNORECASE)
NAMED = {
    "backward": "backward",
    "manual_backward": "backward",
    "step": "step",
    "eval": "eval",
    "train": "train",
    "unscale_": "unscale",
    "clip_grad_norm_": "clip",
    "clip_grad_value_": "clip",
    "set_epoch": "set-epoch",
}
_ACTING = frozenset([*NAMED, "zero_", "fill_", "_foreach_zero_"])
_ABOUT_GRADIENTS = re.compile(rb"grad"), re.compile(rb"Grad"), re.compile(rb"unscale_")
MAX_DEPTH = 6
_SETTING = ("assign", "augment", "delete")
_SETS_GRAD = re.compile(rb"\.grad\b\s*(?:[-+*/]?=(?!=)|,|\))")
_GRAD = re.compile(rb"\.grad\b")


class Effect(NamedTuple):
    """One effect of a function's event `position`, directly or through the calls in `trail`.

    kind: clear, backward, step, eval, train, unscale, update, clip, set-epoch. `receiver`: what it is done
    to, as a dotted path in the words of the asked function; "" when that has no name there. `spot` and
    `expr`: where it happens. `position` is the event of the asked function; `trail` the calls from there
    inwards.
    """

    kind: str
    receiver: str
    position: int
    spot: Spot
    expr: Expr
    trail: tuple[Spot, ...] = ()

    @property
    def line(self) -> int:
        return self.spot.line


_new = tuple.__new__  # a third of the time of Effect()


class Effects:
    """Narrow: only calls that are resolved are followed; see `may_clear` for the wide side."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[Function, tuple[Effect, ...]] = {}
        self._partial: dict[Function, tuple[Effect, ...]] = {}  # inside a recursion, of one question
        self._active: list[Function] = []
        self._circles = 0

    def of(self, function: Function) -> tuple[Effect, ...]:
        """All effects of one run of `function`, in the order of its events. () inside itself: recursion
        adds none.
        """
        for answers in (self._known, self._partial):
            if function in answers:
                return answers[function]
        if function in self._active or len(self._active) >= MAX_DEPTH:
            self._circles += 1
            return ()
        before = self._circles
        self._active.append(function)
        try:
            found = tuple(self._of(function))
        finally:
            self._active.pop()
        complete = not self._active or self._circles == before
        (self._known if complete else self._partial)[function] = found
        if not self._active:
            self._partial.clear()
        return found

    def _of(self, function: Function) -> Iterator[Effect]:
        seen: set[tuple[str, str, int, Expr]] = set()
        acts = not _ACTING.isdisjoint(function.called) or any(map(function.source.holds, _ABOUT_GRADIENTS))
        for position, event in enumerate(function.events):
            if not event.calls and event.kind not in _SETTING:
                continue
            spot = Spot(function, position)
            inner = (self._through(call, spot) for call in event.calls)
            for effect in chain(self._direct(spot, event) if acts else (), chain.from_iterable(inner)):
                key = (effect.kind, effect.receiver, position, effect.expr)
                if key not in seen:
                    seen.add(key)
                    yield effect

    def _direct(self, spot: Spot, event: Event) -> Iterator[Effect]:
        for call in event.calls:
            name = call.last
            kind = "clear" if _is_clear(call, name) else "eval" if is_eval(call) else NAMED.get(name)
            done_to = stepped(self.index, call, spot) if kind == "step" else call.receiver
            if kind is not None and (done_to is not None or kind == "clip" or name == "setattr"):
                receiver = done_to.text if done_to is not None and done_to.kind == "path" else ""
                yield Effect(kind, self._own_name(receiver, spot), spot.position, spot, call)
            for part in call.parts[1:]:  # optimizer.zero_grad handed over without a call
                inner = part.parts[0] if part.kind == "keyword" else part
                if inner.kind == "path" and _ends_clearing(inner.text):
                    yield Effect("clear", "", spot.position, spot, inner)
                elif inner.kind == "path" and inner.last == "unscale_":
                    yield Effect("unscale", "", spot.position, spot, inner)
        for target in event.targets if event.kind in ("assign", "augment") else ():
            if target.last == "grad" and target.receiver is not None:
                yield Effect("clear", "", spot.position, spot, target)
        if event.kind == "delete" and event.value is not None and event.value.last == "grad":
            yield Effect("clear", "", spot.position, spot, event.value)

    def _own_name(self, path: str, spot: Spot) -> str:
        """`opt` is `self.optimizer` after `opt = self.optimizer`."""
        for _ in range(4):
            head, dot, rest = path.partition(".")
            found, certain = reaching(spot.function, head, spot.position)
            value = found[0].value if len(found) == 1 and certain and not found[0].items else None
            if value is None or value.kind != "path" or found[0].kind != "assign" or value.text == path:
                break
            path, spot = f"{value.text}{dot}{rest}", spot._replace(position=found[0].position)
        return path

    def _through(self, call: Expr, spot: Spot) -> Iterator[Effect]:
        for target, given in self._run(call, spot):
            names: dict[str, str] = {}  # many effects have one receiver
            for kind, inner, _, at, expr, trail in self.of(target.function):
                if inner not in names:
                    names[inner] = self._renamed(inner, target, given, spot)
                yield _new(Effect, (kind, names[inner], spot.position, at, expr, (spot, *trail)))

    def _run(self, call: Expr, spot: Spot) -> Iterator[tuple[Target, Expr | None]]:
        """Functions that a call runs: what it calls, and functions handed to it (closures, callbacks)."""
        if self.index.scoping.callee(call, spot.function) in self._leading[0]:
            for target in dict.fromkeys(self.index.calling.run_by(call, spot)):
                yield target, call
        for part in call.parts[1:]:
            inner = part.parts[0] if part.kind == "keyword" else part
            if inner.kind != "path" or inner.last not in self._leading[1]:
                continue
            symbol = self.index.names.resolve_at(spot.function, inner.text, spot.position)
            if isinstance(symbol, Function):
                yield Target(symbol, None), None

    def _renamed(self, receiver: str, target: Target, call: Expr | None, spot: Spot) -> str:
        """`receiver`, a path inside the called function, in the words of the caller; "" when it has none
        there.
        """
        function = target.function
        head, dot, rest = receiver.partition(".")
        if not head:
            return ""
        if head == function.self_name:
            owner = call.receiver if call is not None else None
            if function.name == "__init__" or owner is None or owner.kind != "path":
                owner = call.parts[0] if call is not None and function.name in ("forward", "__call__") else None
            outer = owner.text if owner is not None and owner.kind == "path" else ""
            return self._own_name(f"{outer}{dot}{rest}", spot) if outer else ""
        if function.parameter(head) is not None:
            given = self.index.flow.given(function, call, head, target.owner is not None) if call is not None else None
            outer = given.text if given is not None and given.kind == "path" else ""
            return self._own_name(f"{outer}{dot}{rest}", spot) if outer else ""
        is_local = bool(reaching(function, head, len(function.events))[0])
        return "" if is_local else receiver  # a closure's or module's variable keeps its name

    def renamed(self, receiver: str, function: Function, caller: Caller) -> str:
        """`receiver`, a path inside `function`, in the words of one of its callers."""
        return self._renamed(receiver, Target(function, caller.owner), caller.call, caller.spot)

    @cached_property
    def _leading(self) -> tuple[frozenset[Name], frozenset[str]]:
        """By names alone: the names of calls that may lead to an effect, and those of the functions that may.
        "", of what is called without a name, may: TASKS[task]().
        """
        called = self.index.functions_calling
        waiting = {"", *(name for name in called if (last := last_of(name)) in NAMED or _is_clearing(last))}
        setting = list(self.index.functions_holding(_SETS_GRAD))
        found, reached = set[Name](), set[Function](setting)
        waiting.update(name for function in setting for name in self.index.names_that_run(function))
        while waiting:
            found.add(name := waiting.pop())
            callers = [function for function in called.get(name, ()) if function not in reached]
            reached.update(callers)
            waiting.update(
                one for function in callers for one in self.index.names_that_run(function) if one not in found
            )
        return frozenset(found), frozenset(function.name for function in reached)

    def is_interesting(self, call: Expr, function: Function) -> bool:
        """A call in `function`, or a function that it is handed, may lead to an effect, by name alone."""
        names, functions = self._leading
        parts = (part.parts[0] if part.kind == "keyword" else part for part in call.parts[1:])
        return self.index.scoping.callee(call, function) in names or any(
            part.kind == "path" and part.last in functions for part in parts
        )

    @cached_property
    def _clearing_names(self) -> frozenset[tuple[str, str]]:
        """(part of the project, name) of every function that clears gradients, by names alone, at any
        depth.
        """
        waiting: list[tuple[str, str]] = []
        clearing: set[tuple[str, str]] = set()
        called = frozenset().union(*(file.names for file in self.index.files.values()))
        clear = {name for name in called if name == "zero_" or _is_clearing(name)}
        near = [
            f for file in self.index.files.values() if not clear.isdisjoint(file.names) for f in file.functions.values()
        ]
        near = [function for function in near if not clear.isdisjoint(function.called)]
        for function in dict.fromkeys((*near, *self.index.functions_holding(_GRAD))):
            if not is_test(function.path) and _clears(function):
                waiting.append((self.index.part(function.path), function.name))
        while waiting:
            key = part, name = waiting.pop()
            if key not in clearing:
                clearing.add(key)
                callers = (one for one in self.index.sites.may_call(name) if self.index.part(one.path) == part)
                waiting += [(part, one.name) for one in callers if call_sites(one).get(name) and not is_test(one.path)]
        return frozenset(clearing)

    def may_clear(self, call: Expr, caller: Function) -> bool:
        """Wide: some function of the called name outside of tests, in files that the caller's is connected to,
        clears gradients.
        """
        return (self.index.part(caller.path), call.last) in self._clearing_names or _is_clear(call, call.last)


@lru_cache(maxsize=20_000)
def _is_clearing(name: str) -> bool:
    return _CLEARING.search(name) is not None


@lru_cache(maxsize=20_000)
def _ends_clearing(path: str) -> bool:
    return _is_clearing(path.rpartition(".")[2])


def _is_clear(call: Expr, name: str) -> bool:
    if _is_clearing(name):
        return True
    if name == "_foreach_zero_":
        return True
    if name == "setattr" and len(call.parts) == 4:
        return call.parts[2].kind == "string" and call.parts[2].text == "grad"
    receiver = call.receiver if name in ("zero_", "fill_") else None
    if receiver is not None:
        return receiver.last == "grad" or (receiver.last == "data" and ".grad." in f".{receiver.text}.")
    return False


def _clears(function: Function) -> bool:
    for event in function.events:
        if any(_is_clear(call, call.last) for call in event.calls):
            return True
        if any(target.last == "grad" for target in event.targets):
            return True
    return False
