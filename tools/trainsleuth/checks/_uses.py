"""What becomes of a thing under the names that it goes by: wide, a use that is not understood counts as one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Event, Expr, External, Function, Index, Site, Spot, Target
from trainsleuth.facts.reading.scopes import own_names

from ._imports import imported

CALL = "()"
MAX_NAMES = 12  # that one thing is followed through
_SETTINGS = re.compile(r"args?|opts?|cfg|conf|configs?|hparams?|hps|params|flags|options|settings", re.I)
_BY_NAME = ("getattr", "attrgetter", "hasattr", "setattr", "delattr", "methodcaller")
_ALL_NAMES = frozenset(["locals", "globals", "vars", "exec", "eval"])
_PLAIN = frozenset([
    "abc.ABC", "builtins.object", "object", "torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module",
])  # fmt: skip
_COMPARING = ("is", "is not", "==", "!=")


class Holder(NamedTuple):
    """A name that holds the thing: a variable of `function`, or where that is None an attribute of any object."""

    function: Function | None
    name: str


class Mention(NamedTuple):
    """A holder stands in an expression. `around`: what it is a direct part of, if anything."""

    holder: Holder
    spot: Spot
    expr: Expr
    around: Expr | None

    @property
    def event(self) -> Event:
        return self.spot.function.events[self.spot.position]


def times_named(function: Function, name: str) -> int:
    """How often a name stands in the text of a function, its parameters among it, and not behind a dot."""
    return len(function.source.found(re.compile(rb"(?<![\w.])%s\b" % re.escape(name.encode()))))


def is_named(function: Function, name: str) -> bool:
    """It stands in an expression of the body, by itself or before a dot; comments and documentation do not count."""
    return any(mentions(event, name) for event in function.events)


def mentions(event: Event, name: str, reading: bool = False) -> bool:
    """A statement names it. `reading`: otherwise than to give it another value."""
    targets = (one for one in event.targets if not reading or event.kind == "augment" or one.text != name)
    return any(
        part.kind == "path" and part.text.partition(".")[0] == name
        for root in (*targets, event.value)
        if root is not None
        for part in root.walk()
    )


def holder_of(site: Site) -> Holder | None:
    """What the thing that a call makes is assigned to, as it is: a variable, or an attribute of self."""
    event = site.event
    if event.kind != "assign" or event.value is not site.call or len(event.targets) != 1:
        return None
    target = event.targets[0]
    owner, _, last = target.text.rpartition(".")
    if target.kind != "path" or (owner and owner != site.function.self_name):
        return None
    return Holder(None if owner else site.function, last)


def library_above(index: Index, function: Function) -> str:
    """The class of a library that the class of a method is made of, which may use what its objects keep; else ""."""
    cls = index.class_of(function)
    return min(set(index.external_bases(cls)) - _PLAIN, default="") if cls is not None else ""


def first_use(index: Index, start: Holder, quiet: Collection[str]) -> Mention | None:
    """The first mention that may do anything with the thing; None where it is only kept, handed on to functions that
    ignore it, or asked for what is in `quiet`: its methods and attributes, and functions that it is given to; CALL where
    calling it does nothing to it.
    """
    known, waiting = {start}, [start]
    while waiting:
        for mention in mentions_of(index, waiting.pop()):
            if _is_quiet(mention, quiet):
                continue
            handed = _handed_to(index, mention)
            if not handed or len(known) > MAX_NAMES:
                return mention
            waiting += [one for one in handed if one not in known]
            known.update(handed)
    return None


def mentions_of(index: Index, holder: Holder) -> Iterator[Mention]:
    for function in _functions(index, holder):
        for position, event in enumerate(function.events):
            for root in (*_written_to(event.targets, holder), event.value):
                for part, around in _within(root) if root is not None else ():
                    if _names(part, holder) and not _is_of_library(index, function, part):
                        yield Mention(holder, Spot(function, position), part, around)


def _within(expr: Expr) -> Iterator[tuple[Expr, Expr | None]]:
    """All in an expression with what it is a part of, outer before inner."""
    waiting: list[tuple[Expr, Expr | None]] = [(expr, None)]
    while waiting:
        one, around = waiting.pop()
        yield one, around
        waiting += [(part, one) for part in reversed(one.parts)]


def _functions(index: Index, holder: Holder) -> Iterator[Function]:
    """Those in which the name may mean the holder."""
    word = re.compile(rb"\b%s\b" % re.escape(holder.name.encode()))
    scope = holder.function
    if scope is None:
        yield from index.functions_holding(word)
        return
    yield scope
    for function in index.files[scope.path].functions.values():
        if function.source.holds(word) and _is_inside(index, function, scope, holder.name):
            yield function
    if scope.name == MODULE_BODY:
        others = (one for one in index.functions_holding(word) if one.path != scope.path)
        yield from (one for one in others if scope.path in imported(index, one.path))


def _is_inside(index: Index, function: Function, scope: Function, name: str) -> bool:
    """It is written inside of the scope, and no function between them has a variable of that name."""
    inner: Function | None = function
    while inner is not None and inner is not scope:
        if name in own_names(inner):
            return False
        inner = index.files[inner.path].functions.get(inner.outer) if inner.outer else None
    return function is not scope and (inner is scope or scope.name == MODULE_BODY)


def _written_to(targets: tuple[Expr, ...], holder: Holder) -> Iterator[Expr]:
    """All but the holder itself, which is only given another value."""
    for target in targets:
        if target.kind in ("tuple", "list", "star"):
            yield from _written_to(target.parts, holder)
        elif not is_whole(target, holder):
            yield target


def is_whole(expr: Expr, holder: Holder) -> bool:
    """The holder and nothing of it: scheduler, or self.scheduler."""
    owner, _, last = expr.text.rpartition(".")
    return expr.kind == "path" and last == holder.name and bool(owner) is (holder.function is None)


def _names(part: Expr, holder: Holder) -> bool:
    if holder.function is not None:
        return part.kind == "path" and part.text.partition(".")[0] == holder.name
    if part.kind == "path":
        names = part.text.split(".")
        return holder.name in names[1:] and not _SETTINGS.fullmatch(names[names.index(holder.name, 1) - 1])
    if part.kind == "call" and part.last in _BY_NAME:
        return any(one.kind == "string" and one.text == holder.name for one in part.arguments)
    return part.kind == "attr" and part.text == holder.name


def _is_of_library(index: Index, function: Function, part: Expr) -> bool:
    """torch.optim.lr_scheduler is no attribute of an object."""
    return part.kind == "path" and isinstance(index.resolve(function, part.text), External)


def _is_quiet(mention: Mention, quiet: Collection[str]) -> bool:
    """scheduler.get_last_lr(), print(scheduler), scheduler is not None, `if scheduler:`."""
    part, around, event = mention.expr, mention.around, mention.event
    if part.kind == "path" and not is_whole(part, mention.holder):
        names = part.text.split(".")
        start = 0 if mention.holder.function is not None else 1
        return set(names[names.index(mention.holder.name, start) + 1 :]) <= set(quiet)
    if around is None:
        return event.kind in ("if", "while", "assert", "delete")
    if around.kind == "call":
        return (CALL if around.parts[0] is part else around.last) in quiet
    return around.kind == "compare" and around.text in _COMPARING


def _handed_to(index: Index, mention: Mention) -> list[Holder]:
    """The names that get the thing, where nothing else is done with it here; [] where that is not known."""
    part, around, event = mention.expr, mention.around, mention.event
    if not is_whole(part, mention.holder) or not _ALL_NAMES.isdisjoint(mention.spot.function.called):
        return []
    if around is None and event.kind == "assign" and all(one.kind == "path" for one in event.targets):
        return [_holder(mention.spot.function, one.text) for one in event.targets]
    for call in event.calls:
        if any(one is part or (one is around and one.kind == "keyword") for one in call.parts[1:]):
            return list(_parameters(index, call, part, mention.spot))
    return []


def _holder(function: Function, path: str) -> Holder:
    _, dot, last = path.rpartition(".")
    return Holder(None if dot else function, last)


def _parameters(index: Index, call: Expr, given: Expr, spot: Spot) -> list[Holder]:
    """Of every function that the call runs the parameter that it is given to; [] where one is not the project's."""
    found: list[Holder] = []
    for target in index.calling.targets(call, spot):
        if not isinstance(target, Target) or not _ALL_NAMES.isdisjoint(target.function.called):
            return []
        function, is_bound = target.function, target.owner is not None
        names = [one.name for one in function.parameters]
        taking = [name for name in names if index.flow.given(function, call, name, is_bound) is given]
        if not taking:
            return []
        found += [Holder(function, name) for name in taking]
    return found
